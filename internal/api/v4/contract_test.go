package v4

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
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

const (
	updateStatusPath = "/api/v4/projects/update_project_status"
	scheduleVideo    = "/api/v4/rooms/create_schedule_video_room"
	scheduleAudio    = "/api/v4/rooms/create_schedule_audio_room"
	quickVideo       = "/api/v4/rooms/create_quick_video_room"
	quickAudio       = "/api/v4/rooms/create_quick_audio_room"
	joinEventPath    = "/api/v4/webhook/get_room_events/"
)

func setup(t testing.TB, options roomapi.Options) (*Fixture, http.Handler) {
	t.Helper()
	b := NewFixture(t)
	options.Skew = DefaultOptions.Skew // with 0, the next second would refuse a signed call
	return b, WithMiddleware(NewHandler(b.Rooms, b.Projects, b.Keys, newWebhooks(b), time.Now, options))
}

// newWebhooks are webhooks that go nowhere.
func newWebhooks(b *Fixture) *webhook.Service {
	return webhook.NewService(b.DB, time.Now, storetest.NewID)
}

// route is one operation with a request that is right.
type route struct {
	name, method, target string
	fields               func() map[string]any
	errorCases           []ErrorCase
	inactiveMessage      string // what an inactive project is told; "" when it is served
}

// signedRoutes are the routes that carry a signature, on one room.
func signedRoutes(t testing.TB, b *Fixture) []route {
	t.Helper()
	id := scheduleRoom(t, b)
	return []route{
		{"update_project_status", http.MethodPut, updateStatusPath + "?project_id=" + b.Project.ID,
			func() map[string]any { return map[string]any{"status": "active"} }, statusCases(), ""},
		{"create_schedule_video_room", http.MethodPost, scheduleVideo,
			func() map[string]any { return validFields(b) }, append(roomCases(), startAtCases()...), "the project is inactive"},
		{"create_schedule_audio_room", http.MethodPost, scheduleAudio,
			func() map[string]any { return validFields(b) }, append(roomCases(), startAtCases()...), "the project is inactive"},
		{"create_quick_video_room", http.MethodPost, quickVideo,
			func() map[string]any { return validQuickFields(b) }, append(roomCases(), quickCases()...),
			"the project is inactive"},
		{"create_quick_audio_room", http.MethodPost, quickAudio,
			func() map[string]any { return validQuickFields(b) }, append(roomCases(), quickCases()...),
			"the project is inactive"},
		{"get_room_events", http.MethodPost, joinEventPath + id,
			func() map[string]any {
				return map[string]any{"room_id": id, "user_info": map[string]any{"name": "Amina"}}
			}, joinEventCases(), ""},
	}
}

// TestOperations meets every documented answer of every operation.
func TestOperations(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, roomapi.Options{})
	c := apitest.New(t, Description(t), handler)
	for _, op := range signedRoutes(t, b) {
		t.Run(op.name, func(t *testing.T) {
			// The project secret signs every operation.
			post := func(t testing.TB) *http.Response {
				t.Helper()
				body := EncodeJSON(t, op.fields())
				return c.Do(t, op.method, op.target, SignedHeaders(b.Issued.ProjectSecret, body), body)
			}
			unsigned := func(t testing.TB) *http.Response {
				t.Helper()
				body := EncodeJSON(t, op.fields())
				return c.Do(t, op.method, op.target, SignedHeaders("wrong", body), body)
			}
			with := func(service Rooms, projects Projects, options roomapi.Options, work func()) {
				c.WithHandler(WithMiddleware(NewHandler(service, projects, b.Keys, newWebhooks(b), time.Now, options)), work)
			}
			for _, tc := range op.errorCases {
				t.Run(tc.Name, func(t *testing.T) {
					body := tc.BuildBody(t, b, op.fields())
					header := SignedHeaders(b.Issued.ProjectSecret, body)
					if tc.Header != nil {
						tc.Header(b, header, body)
					}
					AssertError(t, c.Do(t, op.method, op.target, header, body), tc.Status, tc.Message)
				})
			}
			t.Run("another method", func(t *testing.T) {
				AssertError(t, c.Do(t, http.MethodDelete, op.target, nil, nil), 405, "this path takes "+op.method+", not DELETE")
			})
			t.Run("an inactive project", func(t *testing.T) {
				Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Inactive))
				if answer := post(t); op.inactiveMessage != "" {
					AssertError(t, answer, 403, op.inactiveMessage)
				} else if answer.StatusCode != 200 {
					t.Errorf("inactive project: got %d %s, want 200", answer.StatusCode, ErrorMessage(t, answer))
				}
				Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active))
			})
			t.Run("a suspended project", func(t *testing.T) {
				Must(t, b.Projects.Suspend(t.Context(), b.Project.ID))
				AssertError(t, post(t), 403, "the project is suspended")
				AssertError(t, unsigned(t), 401, "invalid signature")
				Must(t, b.Projects.Resume(t.Context(), b.Project.ID))
				if answer := post(t); answer.StatusCode != 200 {
					t.Errorf("resumed project: got status %d, want 200", answer.StatusCode)
				}
			})
			t.Run("limits", func(t *testing.T) {
				with(b.Rooms, b.Projects, roomapi.Options{Limits: roomapi.Limits{Writes: ExhaustedLimiter{}}}, func() {
					AssertError(t, post(t), 429, "too many calls with this key, try again later")
				})
				with(b.Rooms, b.Projects, roomapi.Options{Limits: roomapi.Limits{Failures: ExhaustedLimiter{}}}, func() {
					AssertError(t, unsigned(t), 429, "too many failed authentications from your address, try again later")
				})
			})
			t.Run("our failures", func(t *testing.T) {
				broken, gone := FailingService{Err: errors.New("secret cause")}, FailingService{Err: ErrDatabaseDown}
				with(broken, broken, roomapi.Options{}, func() { AssertError(t, post(t), 500, "internal error") })
				with(gone, gone, roomapi.Options{}, func() { AssertError(t, post(t), 503, ErrDatabaseDown.Message) })
			})
		})
	}
	t.Run("a room of another project", func(t *testing.T) {
		body := EncodeJSON(t, map[string]any{"room_id": "01890000-0000-7000-8000-000000000000",
			"user_info": map[string]any{"name": "A"}})
		for _, id := range []string{"01890000-0000-7000-8000-000000000000", "mine", "%25zz", "%00"} {
			AssertError(t, c.Do(t, http.MethodPost, joinEventPath+id, SignedHeaders("wrong", body), body), 404,
				"there is no such room")
		}
	})
	t.Run("queries of nobody", func(t *testing.T) { checkInvalidProjectIDs(t, c, b) })
	t.Run("a room that is over", func(t *testing.T) { checkEndedRoom(t, c, b) })
	for route, fields := range map[string]map[string]any{scheduleVideo: validFields(b), scheduleAudio: validFields(b),
		quickVideo: validQuickFields(b), quickAudio: validQuickFields(b)} {
		t.Run("client_room_id is taken once on "+route, func(t *testing.T) {
			f := maps.Clone(fields)
			f["client_room_id"] = "mine" + route
			body := EncodeJSON(t, f)
			if answer := c.Do(t, http.MethodPost, route, SignedHeaders(b.Issued.APIKey, body), body); answer.StatusCode != 200 {
				t.Fatalf("first request with a client_room_id: got status %d, want 200", answer.StatusCode)
			}
			AssertError(t, c.Do(t, http.MethodPost, route, SignedHeaders(b.Issued.APIKey, body), body), 409,
				"client_room_id is already taken by another room of this project")
		})
		t.Run("Idempotency-Key on "+route, func(t *testing.T) { CheckIdempotencyKey(t, c, b, route, fields) })
	}
	t.Run("another path", func(t *testing.T) {
		for _, path := range []string{"/api/v4/", "/api/v4/rooms", scheduleVideo + "/", "/api/v4/webhook/get_room_events",
			joinEventPath + "a/b"} {
			AssertError(t, c.Do(t, http.MethodPost, path, nil, nil), 404, "there is no such path in this version of the API")
		}
	})
	t.Run("the description", func(t *testing.T) { CheckDescription(t, c, "/api/v4/openapi.yaml") })
	t.Run("companion routes", newMeetingFixture(t, b).ErrorTests(c))
	c.AssertCovered()
	c.AssertGolden("testdata/refusals.golden")
}

// TestDescription_DeclaresAuthentication is the guard: every operation is signed but the
// description itself.
func TestDescription_DeclaresAuthentication(t *testing.T) {
	t.Parallel()
	text := string(Description(t))
	if strings.Count(text, "security: []") != 1 || !strings.Contains(text, "\nsecurity:\n  - signature: []\n") {
		t.Errorf("description: got %d operations without a signature, want 1, getDescription, and a signature as the default",
			strings.Count(text, "security: []"))
	}
}
