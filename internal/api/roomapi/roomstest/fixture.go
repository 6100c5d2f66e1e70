// Package roomstest contains the tests that versions 3 and 4 share: creations with
// their signatures and idempotency keys, and the companion routes with every error that
// they can return.
package roomstest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley.example/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

// Fixture is the services with a real database and one project, a test project.
type Fixture struct {
	DB       *store.DB
	Projects *project.Service
	Keys     *key.Service
	Rooms    *room.Service
	Project  project.Project
	Issued   key.IssuedCredentials
	Plan     room.Entitlements // of every project; zero means room.MaxEntitlements
	// LoseOutcome makes the next write of Rooms return Unavailable after its commit.
	LoseOutcome atomic.Bool
}

// roomStore is the store of Rooms.
type roomStore struct {
	*store.DB
	loseOutcome *atomic.Bool
}

func (s roomStore) Write(ctx context.Context, work func(ctx context.Context) error) error {
	err := s.DB.Write(ctx, work)
	if err == nil && s.loseOutcome.CompareAndSwap(true, false) {
		err = fault.New(fault.Unavailable, "unavailable", "the database does not answer, try again in a moment")
	}
	return err
}

// Entitlements implements room.Plans for Rooms.
func (b *Fixture) Entitlements(context.Context, project.Project) (room.Entitlements, error) {
	return cmp.Or(b.Plan, room.MaxEntitlements), nil
}

// NewFixture returns a Fixture with a new database.
func NewFixture(t testing.TB) *Fixture {
	t.Helper()
	db, err := store.Open(t.Context(), "", t.TempDir())
	Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	Must(t, db.Unlock(t.Context(), seal.NewBox(seal.NewKey())))
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	b := &Fixture{DB: db}
	b.Projects = project.NewService(db, time.Now, newID, func(id string) { b.Keys.Invalidate(id) })
	b.Keys = key.NewService(db, b.Projects, time.Now, newID)
	publicURL := func() string { return "https://meet.example.org" }
	b.Rooms = room.NewService(roomStore{db, &b.LoseOutcome}, nil, publicURL, time.Now, newID,
		slog.New(slog.DiscardHandler), room.Options{Plans: b})
	o, err := b.Projects.CreateOrganization(t.Context(), "Org", project.Plan)
	Must(t, err)
	b.Project, b.Issued, err = b.Keys.CreateProject(t.Context(),
		project.Draft{OrganizationID: o.ID, Name: "Project", Test: true})
	Must(t, err)
	return b
}

// CreateProject creates another project of the same organization, which is no test project.
func (b *Fixture) CreateProject(t testing.TB) (project.Project, key.IssuedCredentials) {
	t.Helper()
	p, issued, err := b.Keys.CreateProject(t.Context(),
		project.Draft{OrganizationID: b.Project.OrganizationID, Name: "Another"})
	Must(t, err)
	return p, issued
}

// WithMiddleware wraps a handler in the middleware that all APIs share.
func WithMiddleware(h http.Handler) http.Handler {
	return httpx.Middleware(h, httpx.Options{Log: slog.New(slog.DiscardHandler),
		Fail: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }})
}

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// EncodeJSON returns the JSON of a value.
func EncodeJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	Must(t, err)
	return raw
}

// SignedHeaders returns the headers of a request whose body is signed with a
// credential.
func SignedHeaders(credential seal.Secret, body []byte) http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Hash-Signature": {sign.Legacy(credential.Reveal(), body)}}
}

// Description reads the description of the package under test.
func Description(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	Must(t, err)
	return raw
}

// DecodeFields decodes the JSON object of a response.
func DecodeFields(t testing.TB, resp *http.Response) map[string]any {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	Must(t, err)
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return fields
}

// ErrorMessage returns the message of an error response. The body must contain
// only the field error, and optionally the same text in message.
func ErrorMessage(t testing.TB, resp *http.Response) string {
	t.Helper()
	fields := DecodeFields(t, resp)
	text, ok := fields["error"].(string)
	if fields["message"] == fields["error"] {
		delete(fields, "message")
	}
	if !ok || len(fields) != 1 {
		t.Fatalf("got body %v, want only an error", fields)
	}
	return text
}

// AssertError fails the test unless the response has the status and the exact
// error message, and the headers of an error.
func AssertError(t testing.TB, resp *http.Response, status int, message string) {
	t.Helper()
	if got := ErrorMessage(t, resp); resp.StatusCode != status || got != message {
		t.Errorf("got %d %q\nwant %d %q", resp.StatusCode, got, status, message)
	}
	if resp.Header.Get("X-Request-ID") == "" {
		t.Errorf("X-Request-ID with %d %q: got none, want one", status, message)
	}
	if got := resp.Header.Get("WWW-Authenticate"); (status == 401) != (got != "") {
		t.Errorf("WWW-Authenticate with %d: got %q, want it with 401 only", status, got)
	}
	if got := resp.Header.Get("Retry-After"); got == "" && (status == 429 || status == 503) {
		t.Errorf("Retry-After with %d: got none, want one", status)
	}
}

// FailingService is a room service whose every method fails with Err.
type FailingService struct{ Err error }

// CreateQuick returns Err.
func (f FailingService) CreateQuick(context.Context, project.Project, room.Spec, *room.IdempotencyKey) (
	room.Created, error,
) {
	return room.Created{}, f.Err
}

// Schedule returns Err.
func (f FailingService) Schedule(context.Context, project.Project, room.Spec, *room.IdempotencyKey) (
	room.Created, error,
) {
	return room.Created{}, f.Err
}

// BeginIdempotent returns Err.
func (f FailingService) BeginIdempotent(context.Context, *room.IdempotencyKey) (func(), error) {
	return nil, f.Err
}

// Get returns Err.
func (f FailingService) Get(context.Context, string) (*room.Room, error) { return nil, f.Err }

// MarkAttendance returns Err.
func (f FailingService) MarkAttendance(context.Context, project.Project, string, string, []byte, bool) error {
	return f.Err
}

// GetInProject returns Err.
func (f FailingService) GetInProject(context.Context, project.Project, string) (*room.Room, error) {
	return nil, f.Err
}

// OpenEarly returns Err.
func (f FailingService) OpenEarly(context.Context, project.Project, string, room.OpenEarlyRequest) (string, error) {
	return "", f.Err
}

// Invite returns Err.
func (f FailingService) Invite(context.Context, project.Project, string, room.Invitation) (string, error) {
	return "", f.Err
}

// Reschedule returns Err.
func (f FailingService) Reschedule(context.Context, project.Project, string, room.SpecChange, *room.IdempotencyKey) (
	room.Created, error,
) {
	return room.Created{}, f.Err
}

// Simulate returns Err.
func (f FailingService) Simulate(context.Context, project.Project, string, room.Simulation) (room.Simulation, error) {
	return room.Simulation{}, f.Err
}

// EndByAPI returns Err.
func (f FailingService) EndByAPI(context.Context, project.Project, string) error { return f.Err }

// RunningRoom returns Err.
func (f FailingService) RunningRoom(context.Context, project.Project, string) (room.RunningRoom, error) {
	return room.RunningRoom{}, f.Err
}

// RunningRooms returns Err.
func (f FailingService) RunningRooms(context.Context, project.Project) ([]room.RunningRoom, error) {
	return nil, f.Err
}

// PastRooms returns Err.
func (f FailingService) PastRooms(context.Context, project.Project, room.PastQuery) ([]room.PastRoom, int, error) {
	return nil, 0, f.Err
}

// List returns Err.
func (f FailingService) List(context.Context, room.ListQuery) ([]room.Summary, bool, error) {
	return nil, false, f.Err
}

// Analytics returns Err.
func (f FailingService) Analytics(context.Context, project.Project, string) (room.Analytics, error) {
	return room.Analytics{}, f.Err
}

// SetStatus returns Err.
func (f FailingService) SetStatus(context.Context, string, project.Status) error { return f.Err }

// ErrDatabaseDown is the error of a database that does not respond.
var ErrDatabaseDown = &fault.Error{Kind: fault.Unavailable,
	Message: "the database does not answer, try again in a moment"}

// ExhaustedLimiter is a limiter that is always exhausted.
type ExhaustedLimiter struct{}

// Allow implements rooms.RateLimiter.
func (ExhaustedLimiter) Allow(string) (bool, time.Duration) { return false, 1500 * time.Millisecond }

// RecordAttempt reports that the limit is exceeded.
func (ExhaustedLimiter) RecordAttempt(netip.Addr) (bool, time.Duration) {
	return true, 1500 * time.Millisecond
}

// CallCounts counts in a plain map, by key and slot.
type CallCounts map[string]int64

// Add counts one call.
func (u CallCounts) Add(keyID, slot string) { u[keyID+" "+slot]++ }
