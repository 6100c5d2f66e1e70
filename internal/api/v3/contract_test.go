package v3

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
)

const (
	quickAudio    = "/api/v3/rooms/create_quick_audio_room"
	quickVideo    = "/api/v3/rooms/create_quick_video_room"
	scheduleVideo = "/api/v3/rooms/create_schedule_video_room"
	scheduleAudio = "/api/v3/rooms/create_schedule_audio_room"
)

var creationRoutes = []string{quickAudio, quickVideo, scheduleVideo, scheduleAudio}

func setup(t testing.TB, options Options) (*Fixture, http.Handler) {
	t.Helper()
	b := NewFixture(t)
	return b, WithMiddleware(NewHandler(b.Rooms, b.Keys, time.Now, options))
}

// validFields is a body that is right for a route, to be changed by each case.
func validFields(b *Fixture, route string) map[string]any {
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

// errorCases are those of one route.
func errorCases(route string) []ErrorCase {
	list := append(CreateCases(), IntegerCases()...)
	if isQuick(route) {
		long := strings.Repeat("é", 256)
		return append(list,
			ErrorCase{Name: "project_id is no UUID", Change: SetField("project_id", "mine"), Status: 401,
				Message: "invalid signature"},
			FieldCase("name missing", RemoveField("name"), "name is required"),
			FieldCase("name empty", SetField("name", ""), "name must have 1 to 255 characters and not be blank"),
			FieldCase("name blank", SetField("name", " \t "), "name must have 1 to 255 characters and not be blank"),
			FieldCase("name too long", SetField("name", long), "name must have at most 255 characters, not 256"),
			FieldCase("name a list", SetField("name", []int{}), "name must be a string"),
			FieldCase("name with a line break", SetField("name", "a\nb"),
				"name must not contain control characters such as U+000A"),
		)
	}
	const form = "start_at must be an ISO 8601 date and time such as 2027-01-31T09:30:00Z or 2027-01-31T10:30:00+01:00, not "
	return append(append(list, ScheduleCases()...),
		FieldCase("start_at without a time", SetField("start_at", "2027-01-31"), form+`"2027-01-31"`),
		FieldCase("start_at at 24:00", SetField("start_at", "2027-01-31T24:00"),
			"start_at must name a day of the calendar, hours from 00 to 23, and minutes and seconds from 00 to 59, "+
				`not "2027-01-31T24:00"`),
		FieldCase("start_at in the past", SetField("start_at", "2020-01-31T09:30:00+01:00"),
			"start_at must be in the future, and 2020-01-31T08:30:00Z is past"),
		FieldCase("start_at too far ahead", SetField("start_at", "9999-01-31T09:30:00Z"),
			"start_at must be at most 366 days ahead, and 9999-01-31T09:30:00Z is later"),
		FieldCase("the zero time", SetField("start_at", "0001-01-01T00:00:00Z"),
			"start_at must be in the future, and 0001-01-01T00:00:00Z is past"),
	)
}

func TestCreateRoutes(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	c := apitest.New(t, Description(t), handler)
	for _, route := range creationRoutes {
		t.Run(route, func(t *testing.T) {
			post := func(t testing.TB, header http.Header, body []byte) *http.Response {
				t.Helper()
				return c.Do(t, http.MethodPost, route, header, body)
			}
			for _, tc := range errorCases(route) {
				t.Run(tc.Name, func(t *testing.T) {
					AssertError(t, tc.Send(t, c, b, http.MethodPost, route, validFields(b, route)), tc.Status, tc.Message)
				})
			}
			t.Run("fields of version 4 are named", func(t *testing.T) {
				f := validFields(b, route)
				f["webhook_url"], f["external_user_id"], f["name"] = "https://example.org", "7", "Amina"
				SetField("metadata.room_features.room_duration", 7)(f)
				body := EncodeJSON(t, f)
				answer := post(t, SignedHeaders(b.Issued.APIKey, body), body)
				want := "name, external_user_id, webhook_url, metadata.room_features"
				if isQuick(route) {
					want = strings.TrimPrefix(want, "name, ")
				}
				if got := answer.Header.Get("X-Ignored-Fields"); answer.StatusCode != 200 || got != want {
					t.Errorf("got status %d, X-Ignored-Fields %q, want 200, %q", answer.StatusCode, got, want)
				}
			})
			t.Run("client_room_id is taken once", func(t *testing.T) {
				f := validFields(b, route)
				f["client_room_id"] = "mine" + route
				body := EncodeJSON(t, f)
				if answer := post(t, SignedHeaders(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
					t.Fatalf("first request with a client_room_id: got status %d, want 200", answer.StatusCode)
				}
				AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 409,
					"client_room_id is already taken by another room of this project")
			})
			t.Run("Idempotency-Key", func(t *testing.T) { CheckIdempotencyKey(t, c, b, route, validFields(b, route)) })
			t.Run("another method", func(t *testing.T) {
				answer := c.Do(t, http.MethodGet, route, nil, nil)
				AssertError(t, answer, 405, "this path takes POST, not GET")
			})
			t.Run("projects that admit nobody", func(t *testing.T) {
				body := EncodeJSON(t, validFields(b, route))
				Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
				AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 403, "the project is inactive")
				Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active))
				Must(t, b.Projects.Suspend(t.Context(), b.Project.ID))
				AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 403, "the project is suspended")
				// only who can sign learns of it
				AssertError(t, post(t, SignedHeaders("wrong", body), body), 401, "invalid signature")
				Must(t, b.Projects.Resume(t.Context(), b.Project.ID))
				if answer := post(t, SignedHeaders(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
					t.Errorf("resumed project: got status %d, want 200", answer.StatusCode)
				}
			})
			t.Run("project secrets only", func(t *testing.T) {
				body := EncodeJSON(t, validFields(b, route))
				Must(t, b.Projects.Configure(t.Context(), b.Project.ID, project.Settings{RequireSecretSignatures: true}))
				AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 401, "invalid signature")
				if answer := post(t, SignedHeaders(b.Issued.ProjectSecret, body), body); answer.StatusCode != 200 {
					t.Errorf("signed with a project secret: got status %d, want 200", answer.StatusCode)
				}
				Must(t, b.Projects.Configure(t.Context(), b.Project.ID, project.Settings{}))
			})
			t.Run("limits", func(t *testing.T) {
				body := EncodeJSON(t, validFields(b, route))
				c.WithHandler(WithMiddleware(NewHandler(b.Rooms, b.Keys, time.Now,
					Options{Options: roomapi.Options{Limits: roomapi.Limits{Writes: ExhaustedLimiter{}}}})), func() {
					answer := post(t, SignedHeaders(b.Issued.APIKey, body), body)
					AssertError(t, answer, 429, "too many calls with this key, try again later")
					if answer.Header.Get("Retry-After") != "2" {
						t.Errorf("Retry-After: got %q, want 2", answer.Header.Get("Retry-After"))
					}
					AssertError(t, post(t, SignedHeaders("wrong", body), body), 401, "invalid signature")
				})
				c.WithHandler(WithMiddleware(NewHandler(b.Rooms, b.Keys, time.Now,
					Options{Options: roomapi.Options{Limits: roomapi.Limits{Failures: ExhaustedLimiter{}}}})), func() {
					AssertError(t, post(t, SignedHeaders("wrong", body), body), 429,
						"too many failed authentications from your address, try again later")
					if answer := post(t, SignedHeaders(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
						t.Errorf("valid call after too many failures: got status %d, want 200", answer.StatusCode)
					}
				})
			})
			t.Run("the version has ended", func(t *testing.T) {
				body := EncodeJSON(t, validFields(b, route))
				ended := Deprecation{Sunset: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}
				c.WithHandler(WithMiddleware(NewHandler(b.Rooms, b.Keys, time.Now, Options{Deprecation: ended})), func() {
					AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 410,
						"version 3 ended on 2026-01-31, use version 4")
				})
			})
			t.Run("our failures", func(t *testing.T) {
				body := EncodeJSON(t, validFields(b, route))
				c.WithHandler(WithMiddleware(NewHandler(FailingService{Err: errors.New("secret cause")}, b.Keys, time.Now,
					Options{})), func() {
					AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 500, "internal error")
				})
				c.WithHandler(WithMiddleware(NewHandler(FailingService{Err: ErrDatabaseDown}, b.Keys, time.Now, Options{})),
					func() {
						AssertError(t, post(t, SignedHeaders(b.Issued.APIKey, body), body), 503, ErrDatabaseDown.Message)
					})
			})
		})
	}
	t.Run("another path", func(t *testing.T) {
		for _, path := range []string{"/api/v3/rooms", "/api/v3/", quickAudio + "/",
			"/api/v3//rooms/create_quick_audio_room"} {
			AssertError(t, c.Do(t, http.MethodPost, path, nil, nil), 404, "there is no such path in this version of the API")
		}
	})
	t.Run("the description", func(t *testing.T) { CheckDescription(t, c, "/api/v3/openapi.yaml") })
	t.Run("companion routes", newMeetingFixture(t, b).ErrorTests(c))
	c.AssertCovered()
	c.AssertGolden("testdata/refusals.golden")
}

func TestCreateQuickAudioRoom_StoresRoom(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	c := apitest.New(t, Description(t), handler)
	for name, k := range map[string]seal.Secret{"signed with the API key": b.Issued.APIKey,
		"signed with the project secret": b.Issued.ProjectSecret} {
		t.Run(name, func(t *testing.T) {
			body := EncodeJSON(t, validFields(b, quickAudio))
			answer := c.Do(t, http.MethodPost, quickAudio, SignedHeaders(k, body), body)
			out := DecodeFields(t, answer)
			id, _ := out["room_id"].(string)
			link, _ := out["final_link"].(string)
			if answer.StatusCode != 200 || out["status"] != true || len(out) != 3 ||
				!strings.HasPrefix(link, "https://meet.example.org/r/"+id+"#t=") {
				t.Errorf("got %d %v, want 200 and a link to %s", answer.StatusCode, out, id)
			}
			r, err := b.Rooms.Get(t.Context(), id)
			Must(t, err)
			if r.Type != room.Audio || r.State != room.Open || r.MaxParticipants != 10 || r.EmptyTimeout != 300*time.Second ||
				!r.StartAt.IsZero() ||
				r.Title != "Standup" || r.WelcomeMessage != "Good\nmorning" || r.CreatorName != "Amina" ||
				r.ProjectID != b.Project.ID {
				t.Errorf("stored room: got %+v, want an open audio room without a start, 10 participants, empty timeout 5m0s, "+
					"title Standup, welcome message \"Good\\nmorning\", creator Amina, project %s", r, b.Project.ID)
			}
			events, err := storetest.Events(t.Context(), b.DB, id)
			Must(t, err)
			if len(events) != 1 || events[0].Type != "room.opened" || events[0].Sequence != 1 {
				t.Errorf("events: got %+v, want one room.opened with sequence 1", events)
			}
		})
	}
}

func TestCreateScheduledRooms_StartTimeFormats(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Kolkata")
	Must(t, err)
	b, handler := setup(t, Options{Options: roomapi.Options{Zone: zone}})
	c := apitest.New(t, Description(t), handler)
	at := time.Now().Add(48 * time.Hour).Truncate(time.Second)
	local := at.In(zone)
	for route, kind := range map[string]room.Type{scheduleVideo: room.Video, scheduleAudio: room.Audio} {
		for _, startAt := range []string{at.UTC().Format("2006-01-02T15:04:05Z"), at.UTC().Format("20060102T150405Z"),
			local.Format("2006-01-02T15:04:05"), local.Format(time.RFC3339), local.Format("2006-01-02T15:04:05.000")} {
			f := validFields(b, route)
			f["start_at"] = startAt
			body := EncodeJSON(t, f)
			answer := c.Do(t, http.MethodPost, route, SignedHeaders(b.Issued.APIKey, body), body)
			out := DecodeFields(t, answer)
			id, _ := out["room_id"].(string)
			want := map[string]any{"status": true, "message": "the room is scheduled", "room_type": string(kind),
				"start_time": local.Format(time.RFC3339), "room_id": id}
			if answer.StatusCode != 200 || !maps.Equal(out, want) {
				t.Errorf("%s: got %d %v, want %v", startAt, answer.StatusCode, out, want)
				continue
			}
			r, err := b.Rooms.Get(t.Context(), id)
			Must(t, err)
			if r.Type != kind || r.State != room.Scheduled || !r.StartAt.Equal(at) || !r.DueAt.Equal(at) ||
				!r.OpenedAt.IsZero() {
				t.Errorf("stored room: got %+v, want type %s, state %s, StartAt and DueAt %s, no OpenedAt", r, kind,
					room.Scheduled, at)
			}
			events, err := storetest.Events(t.Context(), b.DB, id)
			Must(t, err)
			if len(events) != 1 || events[0].Type != "room.scheduled" || events[0].Sequence != 1 ||
				!events[0].Data.StartAt.Equal(at) {
				t.Errorf("events: got %+v, want one room.scheduled with sequence 1 and StartAt %s", events, at)
			}
		}
	}
}

func TestLegacyKeyHeader_WithoutSignature(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		b, handler := setup(t, Options{Options: roomapi.Options{KeyHeaderOnly: allowed}})
		body := EncodeJSON(t, validFields(b, quickAudio))
		for _, name := range []string{"Key", "Api-Key"} {
			for _, tc := range []struct {
				key  string
				good bool
			}{{b.Issued.APIKey.Reveal(), allowed}, {"pk_wrong", false}, {b.Issued.ProjectSecret.Reveal(), false}} {
				answer := apitest.New(t, Description(t), handler).Do(t, http.MethodPost, quickAudio,
					http.Header{"Content-Type": {"application/json"}, name: {tc.key}}, body)
				if (answer.StatusCode == 200) != tc.good || !tc.good && answer.StatusCode != 401 {
					t.Errorf("%s: %s, allowed %v: got status %d, want 200: %v, otherwise 401", name, tc.key, allowed,
						answer.StatusCode, tc.good)
				}
			}
		}
		// A project that wants its secret does not do with a key that is only shown.
		Must(t, b.Projects.Configure(t.Context(), b.Project.ID, project.Settings{RequireSecretSignatures: true}))
		AssertError(t, apitest.New(t, Description(t), handler).Do(t, http.MethodPost, quickAudio,
			http.Header{"Content-Type": {"application/json"}, "Key": {b.Issued.APIKey.Reveal()}}, body), 401,
			"invalid signature")
	}
}

func TestCreateRoutes_ConcurrentRequestsCreateOneRoom(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, Options{})
	for _, route := range creationRoutes {
		f := validFields(b, route)
		f["client_room_id"] = "mine" + route
		statuses, made := SendConcurrently(t, handler, b.Issued.APIKey, route, "", EncodeJSON(t, f))
		if statuses[200] != 1 || statuses[409] != 31 || len(made) != 1 {
			t.Errorf("%s, one client_room_id: got statuses %v, %d rooms, want 200 once, 409 31 times, one room", route, statuses,
				len(made))
		}
		delete(f, "client_room_id")
		statuses, made = SendConcurrently(t, handler, b.Issued.APIKey, route, "once", EncodeJSON(t, f))
		if statuses[200] < 1 || statuses[200]+statuses[409] != 32 || len(made) != 1 {
			t.Errorf("%s, one Idempotency-Key: got statuses %v, %d rooms, want 200 at least once, otherwise 409, one room",
				route, statuses, len(made))
		}
	}
}
