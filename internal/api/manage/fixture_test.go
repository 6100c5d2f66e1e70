package manage

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/apitest"
	"parley/internal/api/httpx"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/webhook"
)

// fixture is the management API with a real database.
type fixture struct {
	t        *testing.T
	db       *store.DB
	projects *project.Service
	keys     *key.Service
	rooms    *room.Service
	tokens   *operator.Service
	hooks    *webhook.Service
	token    string
	contract *apitest.Checker
}

// noopMedia is a media engine that does nothing and issues access tokens.
type noopMedia struct{ room.Media }

func (noopMedia) Open(context.Context, room.MediaSession) error { return nil }

func (noopMedia) UpdateMetadata(context.Context, string, room.Metadata) error { return nil }

func (noopMedia) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}

func (noopMedia) Admit(string) {}

func (noopMedia) Participants(context.Context, string) ([]room.Participant, error) { return nil, nil }

func (noopMedia) AccessToken(room.AccessTokenSpec) (string, error) { return "token", nil }

// fakePlans are the names of the configured plans.
type fakePlans []string

func (p fakePlans) Names() []string { return p }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func setup(t *testing.T) *fixture {
	t.Helper()
	db, err := store.Open(t.Context(), "", t.TempDir())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db.Unlock(t.Context(), seal.NewBox(seal.NewKey())))
	b := &fixture{t: t, db: db}
	b.projects = project.NewService(db, time.Now, newID, func(id string) { b.keys.Invalidate(id) })
	b.keys = key.NewService(db, b.projects, time.Now, newID)
	b.hooks = webhook.NewService(db, time.Now, newID)
	b.rooms = room.NewService(db, noopMedia{}, func() string { return "https://meet.example.org" }, time.Now, newID,
		slog.New(slog.DiscardHandler), room.Options{Webhooks: b.hooks})
	b.tokens = operator.NewService(db, time.Now, newID)
	_, token, err := b.tokens.Create(t.Context(), "test")
	must(t, err)
	b.token = token.Reveal()
	b.contract = apitest.New(t, description(t),
		withMiddleware(NewHandler(b.projects, b.keys, b.rooms, b.tokens, fakePlans{"default", "gold"}, b.hooks, nil)))
	return b
}

func withMiddleware(h http.Handler) http.Handler {
	return httpx.Middleware(h, nil, slog.New(slog.DiscardHandler),
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
}

func description(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	must(t, err)
	return raw
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type m = map[string]any

// call sends one request with the token. It sends a string as the body
// unchanged, another value as JSON, and no body for nil.
func (b *fixture) call(method, path string, body any) (int, m) {
	b.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + b.token}}
	var raw []byte
	if body != nil {
		header.Set("Content-Type", "application/json")
		if text, ok := body.(string); ok {
			raw = []byte(text)
		} else {
			var err error
			raw, err = json.Marshal(body)
			must(b.t, err)
		}
	}
	return b.send(method, path, header, raw)
}

func (b *fixture) send(method, path string, header http.Header, body []byte) (int, m) {
	b.t.Helper()
	resp := b.contract.Do(b.t, method, "/api/manage"+path, header, body)
	if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("X-Request-ID") == "" {
		b.t.Errorf("%s %s: headers %v", method, path, resp.Header)
	}
	raw, err := io.ReadAll(resp.Body)
	must(b.t, err)
	var out m
	if err := json.Unmarshal(raw, &out); err != nil {
		b.t.Fatalf("%s %s: got %d %s, want JSON", method, path, resp.StatusCode, raw)
	}
	return resp.StatusCode, out
}

// mustPut sends a body that is not JSON and must succeed with 200.
func (b *fixture) mustPut(path, body string) m {
	b.t.Helper()
	status, out := b.send("PUT", path, http.Header{"Authorization": {"Bearer " + b.token},
		"Content-Type": {"application/octet-stream"}}, []byte(body))
	if status != http.StatusOK {
		b.t.Fatalf("PUT %s: got %d %v, want 200", path, status, out)
	}
	return out
}

// mustCall is call for a request that must succeed with 200.
func (b *fixture) mustCall(method, path string, body any) m {
	b.t.Helper()
	status, out := b.call(method, path, body)
	if status != http.StatusOK {
		b.t.Fatalf("%s %s %v: got %d %v, want 200", method, path, body, status, out)
	}
	return out
}

// assertError is call for a request that must fail with the given error.
func (b *fixture) assertError(method, path string, body any, status int, code, message string) {
	b.t.Helper()
	got, out := b.call(method, path, body)
	gotError, _ := out["error"].(m)
	if got != status || gotError["code"] != code || gotError["message"] != message {
		b.t.Errorf("%s %s %v:\n got %d %v\nwant %d %s %q", method, path, body, got, gotError, status, code, message)
	}
}

// createRoom creates a quick room in a project and returns its id.
func (b *fixture) createRoom(projectID string) string {
	b.t.Helper()
	p, err := b.projects.Get(b.t.Context(), projectID)
	must(b.t, err)
	created, err := b.rooms.CreateQuick(b.t.Context(), p,
		room.Spec{Type: room.Audio, CreatorName: "Amina", MaxParticipants: 5, Title: "Standup"}, nil)
	must(b.t, err)
	return created.ID
}

// join adds a participant to a room.
func (b *fixture) join(id, name string) {
	b.t.Helper()
	a, err := b.rooms.ReserveSeat(b.t.Context(), id,
		room.JoinRequest{Name: name, SeatKey: strings.Repeat(name, 30)[:30]})
	must(b.t, err)
	b.rooms.ParticipantJoined(a.SessionID, a.Seat.ID, "connection of "+name, time.Now())
}

// createScheduled creates a room that opens in an hour and returns its id.
func (b *fixture) createScheduled(projectID string) string {
	b.t.Helper()
	p, err := b.projects.Get(b.t.Context(), projectID)
	must(b.t, err)
	created, err := b.rooms.Schedule(b.t.Context(), p,
		room.Spec{Type: room.Video, MaxParticipants: 5, Title: "Lesson", StartAt: time.Now().Add(time.Hour)}, nil)
	must(b.t, err)
	return created.ID
}

// setState sets the state of a room directly, without waiting or joining.
func (b *fixture) setState(id string, state room.State) {
	b.t.Helper()
	must(b.t, b.db.Write(b.t.Context(), func(ctx context.Context) error {
		r, err := b.db.LockRoom(ctx, id)
		if err != nil {
			return err
		}
		if r.State = state; state == room.Active {
			r.StartedAt = r.CreatedAt
		}
		return b.db.UpdateRoom(ctx, r)
	}))
}
