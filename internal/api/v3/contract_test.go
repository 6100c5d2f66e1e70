package v3

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/api/contract"
	"parley/internal/api/legacy"
	. "parley/internal/api/legacy/legacytest"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
)

const (
	quickAudio    = "/api/v3/rooms/create_quick_audio_room"
	quickVideo    = "/api/v3/rooms/create_quick_video_room"
	scheduleVideo = "/api/v3/rooms/create_schedule_video_room"
	scheduleAudio = "/api/v3/rooms/create_schedule_audio_room"
)

var routes = []string{quickAudio, quickVideo, scheduleVideo, scheduleAudio}

func setup(t testing.TB, options Options) (*Bundle, http.Handler) {
	t.Helper()
	b := New(t)
	return b, Wrap(NewHandler(b.Rooms, b.Keys, time.Now, options))
}

// fields is a body that is right for a route, to be changed by each case.
func fields(b *Bundle, route string) map[string]any {
	f := map[string]any{"project_id": b.Project.ID, "max_participants": 10, "empty_timeout": 300,
		"metadata": map[string]any{"room_title": "Standup", "welcome_message": "Good\nmorning"}}
	if isQuick(route) {
		f["name"] = "Amina"
	} else {
		f["start_at"] = time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05Z")
	}
	return f
}

func isQuick(route string) bool { return route == quickAudio || route == quickVideo }

// refusals are those of one route.
func refusals(route string) []Refusal {
	list := append(Creations(), Integers()...)
	if isQuick(route) {
		long := strings.Repeat("é", 256)
		return append(list,
			Refusal{Name: "project_id is no UUID", Change: Set("project_id", "mine"), Status: 401, Sentence: "invalid signature"},
			Field("name missing", Drop("name"), "name is required"),
			Field("name empty", Set("name", ""), "name must have 1 to 255 characters and not be blank"),
			Field("name blank", Set("name", " \t "), "name must have 1 to 255 characters and not be blank"),
			Field("name too long", Set("name", long), "name must have at most 255 characters, not 256"),
			Field("name a list", Set("name", []int{}), "name must be a string"),
			Field("name with a line break", Set("name", "a\nb"), "name must not contain control characters such as U+000A"),
		)
	}
	const form = "start_at must be an ISO 8601 date and time such as 2027-01-31T09:30:00Z, not "
	return append(append(list, Scheduled()...),
		Field("start_at without a time", Set("start_at", "2027-01-31"), form+`"2027-01-31"`),
		Field("start_at at 24:00", Set("start_at", "2027-01-31T24:00"), form+`"2027-01-31T24:00"`),
		Field("start_at in the past", Set("start_at", "2020-01-31T09:30:00+01:00"), "start_at must be in the future, and 2020-01-31T08:30:00Z is past"),
		Field("start_at too far ahead", Set("start_at", "9999-01-31T09:30:00Z"), "start_at must be at most 366 days ahead, and 9999-01-31T09:30:00Z is later"),
		Field("the zero time", Set("start_at", "0001-01-01T00:00:00Z"), "start_at must be in the future, and 0001-01-01T00:00:00Z is past"),
	)
}

func TestCreations(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	c := contract.New(t, Description(t), handler)
	for _, route := range routes {
		t.Run(route, func(t *testing.T) {
			post := func(t testing.TB, header http.Header, body []byte) *http.Response {
				t.Helper()
				return c.Do(t, http.MethodPost, route, header, body)
			}
			for _, tc := range refusals(route) {
				t.Run(tc.Name, func(t *testing.T) {
					Says(t, tc.Send(t, c, b, http.MethodPost, route, fields(b, route)), tc.Status, tc.Sentence)
				})
			}
			t.Run("fields of version 4 are named", func(t *testing.T) {
				f := fields(b, route)
				f["webhook_url"], f["external_user_id"], f["name"] = "https://example.org", "7", "Amina"
				Set("metadata.room_features.room_duration", 7)(f)
				body := Encode(t, f)
				answer := post(t, Signed(b.Issued.APIKey, body), body)
				want := "name, external_user_id, webhook_url, metadata.room_features"
				if isQuick(route) {
					want = strings.TrimPrefix(want, "name, ")
				}
				if got := answer.Header.Get("X-Ignored-Fields"); answer.StatusCode != 200 || got != want {
					t.Errorf("%d X-Ignored-Fields: %q", answer.StatusCode, got)
				}
			})
			t.Run("client_room_id is taken once", func(t *testing.T) {
				f := fields(b, route)
				f["client_room_id"] = "mine" + route
				body := Encode(t, f)
				if answer := post(t, Signed(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
					t.Fatalf("first: %d", answer.StatusCode)
				}
				Says(t, post(t, Signed(b.Issued.APIKey, body), body), 409, "client_room_id is already taken by another room of this project")
			})
			t.Run("Idempotency-Key", func(t *testing.T) { OnceEach(t, c, b, route, fields(b, route)) })
			t.Run("another method", func(t *testing.T) {
				answer := c.Do(t, http.MethodGet, route, nil, nil)
				Says(t, answer, 405, "this path takes POST, not GET")
			})
			t.Run("projects that admit nobody", func(t *testing.T) {
				body := Encode(t, fields(b, route))
				Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
				Says(t, post(t, Signed(b.Issued.APIKey, body), body), 403, "the project is inactive")
				Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active))
				Must(t, b.Projects.Suspend(t.Context(), b.Project.ID))
				Says(t, post(t, Signed(b.Issued.APIKey, body), body), 403, "the project is suspended")
				Says(t, post(t, Signed("wrong", body), body), 401, "invalid signature") // only who can sign learns of it
				Must(t, b.Projects.Resume(t.Context(), b.Project.ID))
				if answer := post(t, Signed(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
					t.Errorf("resumed: %d", answer.StatusCode)
				}
			})
			t.Run("project secrets only", func(t *testing.T) {
				body := Encode(t, fields(b, route))
				Must(t, b.Projects.Configure(t.Context(), b.Project.ID, project.Settings{RequireSecretSignatures: true}))
				Says(t, post(t, Signed(b.Issued.APIKey, body), body), 401, "invalid signature")
				if answer := post(t, Signed(b.Issued.ProjectSecret, body), body); answer.StatusCode != 200 {
					t.Errorf("project secret: %d", answer.StatusCode)
				}
				Must(t, b.Projects.Configure(t.Context(), b.Project.ID, project.Settings{}))
			})
			t.Run("limits", func(t *testing.T) {
				body := Encode(t, fields(b, route))
				c.With(Wrap(NewHandler(b.Rooms, b.Keys, time.Now, Options{Limits: legacy.Limits{Rate: Spent{}}})), func() {
					answer := post(t, Signed(b.Issued.APIKey, body), body)
					if Says(t, answer, 429, "too many calls with this key, try again later"); answer.Header.Get("Retry-After") != "2" {
						t.Errorf("Retry-After: %q", answer.Header.Get("Retry-After"))
					}
					Says(t, post(t, Signed("wrong", body), body), 401, "invalid signature")
				})
				c.With(Wrap(NewHandler(b.Rooms, b.Keys, time.Now, Options{Limits: legacy.Limits{Failures: Spent{}}})), func() {
					Says(t, post(t, Signed("wrong", body), body), 429, "too many failed authentications from your address, try again later")
					if answer := post(t, Signed(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
						t.Errorf("a valid call: %d", answer.StatusCode)
					}
				})
			})
			t.Run("the version has ended", func(t *testing.T) {
				body := Encode(t, fields(b, route))
				ended := Retirement{Sunset: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}
				c.With(Wrap(NewHandler(b.Rooms, b.Keys, time.Now, Options{Retirement: ended})), func() {
					Says(t, post(t, Signed(b.Issued.APIKey, body), body), 410, "version 3 ended on 2026-01-31, use version 4")
				})
			})
			t.Run("our failures", func(t *testing.T) {
				body := Encode(t, fields(b, route))
				c.With(Wrap(NewHandler(Failing{Err: errors.New("secret cause")}, b.Keys, time.Now, Options{})), func() {
					Says(t, post(t, Signed(b.Issued.APIKey, body), body), 500, "internal error")
				})
				c.With(Wrap(NewHandler(Failing{Err: Gone}, b.Keys, time.Now, Options{})), func() {
					Says(t, post(t, Signed(b.Issued.APIKey, body), body), 503, Gone.Message)
				})
			})
		})
	}
	t.Run("another path", func(t *testing.T) {
		for _, path := range []string{"/api/v3/rooms", "/api/v3/", quickAudio + "/", "/api/v3//rooms/create_quick_audio_room"} {
			Says(t, c.Do(t, http.MethodPost, path, nil, nil), 404, "there is no such path in this version of the API")
		}
	})
	t.Run("the description", func(t *testing.T) {
		answer := c.Do(t, http.MethodGet, "/api/v3/openapi.yaml", nil, nil)
		served, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != 200 || string(served) != string(Description(t)) {
			t.Errorf("%d, not as it is written: %v", answer.StatusCode, err)
		}
		Says(t, c.Do(t, http.MethodPost, "/api/v3/openapi.yaml", nil, nil), 405, "this path takes GET, HEAD, not POST")
	})
	t.Run("companions", house(t, b).Met(c))
	c.Covered()
	c.Golden("testdata/refusals.golden")
}

func TestQuickAudioRoom(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	c := contract.New(t, Description(t), handler)
	for name, k := range map[string]seal.Secret{"signed with the API key": b.Issued.APIKey, "signed with the project secret": b.Issued.ProjectSecret} {
		t.Run(name, func(t *testing.T) {
			body := Encode(t, fields(b, quickAudio))
			answer := c.Do(t, http.MethodPost, quickAudio, Signed(k, body), body)
			out := Fields(t, answer)
			id, _ := out["room_id"].(string)
			link, _ := out["final_link"].(string)
			if answer.StatusCode != 200 || out["status"] != true || len(out) != 3 || !strings.HasPrefix(link, "https://meet.example.org/r/"+id+"#t=") {
				t.Errorf("%d %v", answer.StatusCode, out)
			}
			r, err := b.Rooms.Get(t.Context(), id)
			Must(t, err)
			if r.Type != room.Audio || r.State != room.Open || r.MaxParticipants != 10 || r.EmptyTimeout != 300*time.Second || !r.StartAt.IsZero() ||
				r.Title != "Standup" || r.WelcomeMessage != "Good\nmorning" || r.CreatorName != "Amina" || r.ProjectID != b.Project.ID {
				t.Errorf("stored: %+v", r)
			}
			events, err := b.DB.Events(t.Context(), id, 0)
			Must(t, err)
			if len(events) != 1 || events[0].Type != "room.opened" || events[0].Sequence != 1 {
				t.Errorf("events: %+v", events)
			}
		})
	}
}

func TestScheduledRooms(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Kolkata")
	Must(t, err)
	b, handler := setup(t, Options{Zone: zone})
	c := contract.New(t, Description(t), handler)
	at := time.Now().Add(48 * time.Hour).Truncate(time.Second)
	local := at.In(zone)
	for route, kind := range map[string]room.Type{scheduleVideo: room.Video, scheduleAudio: room.Audio} {
		for _, startAt := range []string{at.UTC().Format("2006-01-02T15:04:05Z"), at.UTC().Format("20060102T150405Z"),
			local.Format("2006-01-02T15:04:05"), local.Format(time.RFC3339), local.Format("2006-01-02T15:04:05.000")} {
			f := fields(b, route)
			f["start_at"] = startAt
			body := Encode(t, f)
			answer := c.Do(t, http.MethodPost, route, Signed(b.Issued.APIKey, body), body)
			out := Fields(t, answer)
			id, _ := out["room_id"].(string)
			want := map[string]any{"status": true, "message": "the room is scheduled", "room_type": string(kind),
				"start_time": local.Format(time.RFC3339), "room_id": id}
			if answer.StatusCode != 200 || !maps.Equal(out, want) {
				t.Errorf("%s: %d %v, want %v", startAt, answer.StatusCode, out, want)
				continue
			}
			r, err := b.Rooms.Get(t.Context(), id)
			Must(t, err)
			if r.Type != kind || r.State != room.Scheduled || !r.StartAt.Equal(at) || !r.DueAt.Equal(at) || !r.OpenedAt.IsZero() {
				t.Errorf("stored: %+v", r)
			}
			events, err := b.DB.Events(t.Context(), id, 0)
			Must(t, err)
			if len(events) != 1 || events[0].Type != "room.scheduled" || events[0].Sequence != 1 || !events[0].Data.StartAt.Equal(at) {
				t.Errorf("events: %+v", events)
			}
		}
	}
}

func TestLegacyKeyHeader(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		b, handler := setup(t, Options{LegacyKeyHeader: allowed})
		body := Encode(t, fields(b, quickAudio))
		for _, name := range []string{"Key", "Api-Key"} {
			for _, tc := range []struct {
				key  string
				good bool
			}{{b.Issued.APIKey.Reveal(), allowed}, {"pk_wrong", false}, {b.Issued.ProjectSecret.Reveal(), false}} {
				answer := contract.New(t, Description(t), handler).Do(t, http.MethodPost, quickAudio,
					http.Header{"Content-Type": {"application/json"}, name: {tc.key}}, body)
				if (answer.StatusCode == 200) != tc.good || !tc.good && answer.StatusCode != 401 {
					t.Errorf("allowed %v, %s: %d", allowed, name, answer.StatusCode)
				}
			}
		}
		// A project that wants its secret does not do with a key that is only shown.
		Must(t, b.Projects.Configure(t.Context(), b.Project.ID, project.Settings{RequireSecretSignatures: true}))
		Says(t, contract.New(t, Description(t), handler).Do(t, http.MethodPost, quickAudio,
			http.Header{"Content-Type": {"application/json"}, "Key": {b.Issued.APIKey.Reveal()}}, body), 401, "invalid signature")
	}
}

func TestOneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	for _, route := range routes {
		f := fields(b, route)
		f["client_room_id"] = "mine" + route
		statuses, made := AtOnce(t, handler, b.Issued.APIKey, route, "", Encode(t, f))
		if statuses[200] != 1 || statuses[409] != 31 || len(made) != 1 {
			t.Errorf("%s, client_room_id: %v", route, statuses)
		}
		delete(f, "client_room_id")
		statuses, made = AtOnce(t, handler, b.Issued.APIKey, route, "once", Encode(t, f))
		if statuses[200] < 1 || statuses[200]+statuses[409] != 32 || len(made) != 1 {
			t.Errorf("%s, Idempotency-Key: %v, %d rooms", route, statuses, len(made))
		}
	}
}
