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
	"parley/internal/audit"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/conncheck"
	"parley/internal/counter"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/overview"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
	"parley/internal/webhook"
)

// fixture is the management API with a real database.
type fixture struct {
	t        *testing.T
	database storetest.Database
	db       *store.DB
	projects *project.Service
	keys     *key.Service
	rooms    *room.Service
	tokens   *operator.Service
	hooks    *webhook.Service
	cleanup  *retention.Service
	audit    *audit.Service
	backups  *fakeBackups
	checks   *conncheck.Service
	usage    *usage.Service

	overviews *overview.Service
	findings  []overview.Finding
	ticks     int
	calls     *requestlog.Recorder
	token     string
	cookie    string // of a session; sent without the token unless it is empty
	contract  *apitest.Checker
	secrets   []string // that responses contained
	requestID string   // of the last request
}

// noopMedia is a media engine that does nothing and issues access tokens.
type noopMedia struct{ room.Media }

func (noopMedia) SetDraining(bool) {}

func (noopMedia) Open(context.Context, room.MediaSession) error { return nil }

func (noopMedia) UpdateMetadata(context.Context, string, room.Metadata) error { return nil }

func (noopMedia) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}

func (noopMedia) Quality(string, string) room.ConnectionQuality     { return room.QualityUnknown }
func (noopMedia) ConnectionType(string, string) room.ConnectionType { return room.ConnectionUDP }

func (noopMedia) Remove(context.Context, string, string) error { return nil }
func (noopMedia) CloseConnection(string, string, string)       {}
func (noopMedia) Connection(string, string) string             { return "" }

func (noopMedia) Admit(string) {}

func (noopMedia) Participants(context.Context, string) ([]room.Participant, error) { return nil, nil }

func (noopMedia) AccessToken(room.AccessTokenSpec) (string, error) { return "token", nil }

// fakeBackups makes archives of a text, after create has returned nil.
type fakeBackups struct {
	t      *testing.T
	create func(ctx context.Context) error
	closed int // number of archives that were closed
}

func (f *fakeBackups) Create(ctx context.Context) (*backup.Archive, error) {
	if f.create != nil {
		if err := f.create(ctx); err != nil {
			return nil, err
		}
	}
	database, err := os.CreateTemp(f.t.TempDir(), "")
	must(f.t, err)
	_, err = database.WriteString("database")
	must(f.t, err)
	m := backup.Manifest{Engine: backup.SQLite, DatabaseID: "id"}
	return backup.NewArchive(context.Background(), m, database, func() { f.closed++ })
}

// fakePlans are the names of the configured plans.
type fakePlans []string

func (p fakePlans) Names() []string { return p }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func setup(t *testing.T) *fixture {
	t.Helper()
	database := storetest.Database{Dir: t.TempDir()}
	db, err := store.Open(t.Context(), "", database.Dir)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db.Unlock(t.Context(), seal.NewBox(seal.NewKey())))
	b := &fixture{t: t, database: database, db: db, backups: &fakeBackups{t: t}}
	b.projects = project.NewService(db, time.Now, newID, func(id string) { b.keys.Invalidate(id) })
	b.keys = key.NewService(db, b.projects, time.Now, newID)
	b.hooks = webhook.NewService(db, time.Now, newID)
	b.rooms = room.NewService(db, noopMedia{}, func() string { return "https://meet.example.org" }, time.Now, newID,
		slog.New(slog.DiscardHandler), room.Options{Webhooks: b.hooks})
	b.cleanup = retention.NewService(db, retention.Periods{}, b.rooms, b.keys.Invalidate, time.Now,
		slog.New(slog.DiscardHandler))
	b.tokens = operator.NewService(db, time.Now, newID)
	b.audit = audit.NewService(db, time.Now)
	b.checks = conncheck.NewService(db, b.rooms.Joining, time.Now, newID)
	b.calls = requestlog.NewRecorder(db, time.Now)
	b.usage = usage.NewService(db, usage.NoProvider{}, time.Now)
	b.overviews = overview.NewService(overview.Sources{
		Rooms:    b.rooms,
		Webhooks: b.hooks,
		Calls:    b.calls,
		Usage:    b.usage,
		Keys:     b.keys,
		NodeID:   b.rooms.NodeID(),
		Health:   func(context.Context) []overview.Finding { return b.findings },
	}, b.tick)
	_, token, err := b.tokens.Create(t.Context(), operator.NewToken{Name: "test"})
	must(t, err)
	b.token = token.Reveal()
	b.contract = apitest.New(t, description(t),
		b.handler(b.tokens, fakePlans{"default", "gold"}, nil))
	return b
}

// tick is a clock on which each overview is later than the one before, so that none is
// returned again.
func (b *fixture) tick() time.Time {
	b.ticks++
	return time.Now().Add(time.Duration(b.ticks) * time.Second)
}

// handler returns the management API with other tokens, plans and limits.
func (b *fixture) handler(tokens Tokens, plans Plans, failures FailureLimiter) http.Handler {
	services := b.services(tokens, plans, failures)
	services.Calls, services.APIs = b.calls, []string{"v3", "v4", "v5", APIName}
	return withMiddleware(NewHandler(services))
}

// services returns the services of the management API without the request log.
func (b *fixture) services(tokens Tokens, plans Plans, failures FailureLimiter) Services {
	return Services{
		Projects:  b.projects,
		Keys:      b.keys,
		KeyUses:   counter.New(b.db, time.Now),
		Rooms:     b.rooms,
		Tokens:    tokens,
		Console:   b.tokens,
		BaseURL:   func() string { return "https://meet.example.org" },
		Plans:     plans,
		Webhooks:  b.hooks,
		Retention: b.cleanup,
		Audit:     b.audit,
		Usage:     b.usage,
		Backups:   b.backups,

		ConnectionChecks: b.checks,

		Failures:  failures,
		Overviews: b.overviews,
		Settings: []config.Value{{Name: "listen", Flag: "--listen", Environment: "PARLEY_LISTEN", Text: "127.0.0.1:8080",
			Source: config.FromDefault, Help: "Address to listen on."}},
		Signatures: map[string]SignatureChecker{"v3": fakeCheck},
	}
}

func withMiddleware(h http.Handler) http.Handler {
	return httpx.Middleware(h, httpx.Options{Log: slog.New(slog.DiscardHandler),
		Fail: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }})
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
	if b.cookie != "" {
		header = http.Header{"Cookie": {sessionCookie + "=" + b.cookie}}
	}
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
		b.t.Errorf("%s %s: got headers %v, want Cache-Control no-store and X-Request-ID", method, path, resp.Header)
	}
	b.requestID = resp.Header.Get("X-Request-ID")
	raw, err := io.ReadAll(resp.Body)
	must(b.t, err)
	var out m
	if err := json.Unmarshal(raw, &out); err != nil {
		b.t.Fatalf("%s %s: got %d %s, want JSON", method, path, resp.StatusCode, raw)
	}
	b.keepSecrets(out)
	return resp.StatusCode, out
}

// keepSecrets remembers the secrets of a response.
func (b *fixture) keepSecrets(response m) {
	for _, name := range []string{"project_secret", "api_key", "gateway_secret", "token"} {
		if secret, ok := response[name].(string); ok {
			b.secrets = append(b.secrets, secret)
		}
	}
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

// assertError is call for a request that must fail with the given error. The message has requestID for the ID of the
// request.
func (b *fixture) assertError(method, path string, body any, status int, code, message string) {
	b.t.Helper()
	got, out := b.call(method, path, body)
	gotError, _ := out["error"].(m)
	message = strings.ReplaceAll(message, requestID, b.requestID)
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

// join adds a participant to a room and returns the ID of the seat.
func (b *fixture) join(id, name string) string {
	b.t.Helper()
	a, err := b.rooms.ReserveSeat(b.t.Context(), id,
		room.JoinRequest{Name: name, SeatKey: strings.Repeat(name, 30)[:30]})
	must(b.t, err)
	b.rooms.ParticipantJoined(a.SessionID, a.Seat.ID, "connection of "+name, time.Now())
	return a.Seat.ID
}

// setPoor makes the connection of a person who joined poor, for a time until now.
func (b *fixture) setPoor(id, name string, duration time.Duration) {
	b.t.Helper()
	must(b.t, b.db.Write(b.t.Context(), func(ctx context.Context) error {
		found, err := b.db.AttendanceOfConnections(ctx, id, []string{"connection of " + name})
		if err != nil {
			return err
		}
		for _, a := range found {
			a.Quality, a.PoorFor = room.QualityPoor, duration
			if err := b.db.UpdateQuality(ctx, a); err != nil {
				return err
			}
		}
		return nil
	}))
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
