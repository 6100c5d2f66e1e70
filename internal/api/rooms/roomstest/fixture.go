// Package roomstest tests what versions 3 and 4 have in common, on either of
// them: creations with their signatures and idempotency keys, and the routes that
// run a meeting with every error they can answer.
package roomstest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/client/sign"
	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

// Fixture is the service on a real database, with one project.
type Fixture struct {
	DB       *store.DB
	Projects *project.Service
	Keys     *key.Service
	Rooms    *room.Service
	Project  project.Project
	Issued   key.IssuedCredentials
}

// NewFixture returns a fresh Bundle.
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
	b.Rooms = room.NewService(db, nil, func() string { return "https://meet.example.org" }, time.Now, newID, slog.New(slog.DiscardHandler))
	o, err := b.Projects.CreateOrganization(t.Context(), "Org", project.Plan)
	Must(t, err)
	b.Project, b.Issued, err = b.Keys.CreateProject(t.Context(), o.ID, "Project")
	Must(t, err)
	return b
}

// CreateProject makes another project of the same organization.
func (b *Fixture) CreateProject(t testing.TB) (project.Project, key.IssuedCredentials) {
	t.Helper()
	p, issued, err := b.Keys.CreateProject(t.Context(), b.Project.OrganizationID, "Another")
	Must(t, err)
	return p, issued
}

// WithMiddleware puts a handler behind the transport that all APIs share.
func WithMiddleware(h http.Handler) http.Handler {
	return httpx.Middleware(h, nil, slog.New(slog.DiscardHandler), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
}

// Must ends the test on an error.
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

// SignedHeaders returns the headers of a body that is signed with a credential.
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

// DecodeFields reads the JSON object of an answer.
func DecodeFields(t testing.TB, answer *http.Response) map[string]any {
	t.Helper()
	raw, err := io.ReadAll(answer.Body)
	Must(t, err)
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return fields
}

// ErrorMessage reads {"error": …}, and nothing else, from an answer. Where the
// description has it, the sentence stands in message too.
func ErrorMessage(t testing.TB, answer *http.Response) string {
	t.Helper()
	fields := DecodeFields(t, answer)
	text, ok := fields["error"].(string)
	if fields["message"] == fields["error"] {
		delete(fields, "message")
	}
	if !ok || len(fields) != 1 {
		t.Fatalf("the body of a refusal is %v", fields)
	}
	return text
}

// AssertError holds an answer to a status and the exact words of a refusal.
func AssertError(t testing.TB, answer *http.Response, status int, words string) {
	t.Helper()
	if got := ErrorMessage(t, answer); answer.StatusCode != status || got != words {
		t.Errorf("got %d %q\nwant %d %q", answer.StatusCode, got, status, words)
	}
	if answer.Header.Get("X-Request-ID") == "" {
		t.Error("no X-Request-ID")
	}
	if got := answer.Header.Get("WWW-Authenticate"); (status == 401) != (got != "") {
		t.Errorf("WWW-Authenticate: %q", got)
	}
	if got := answer.Header.Get("Retry-After"); got == "" && (status == 429 || status == 503) {
		t.Error("no Retry-After")
	}
}

// FailingService is rooms whose database is gone, or that a mistake of ours befell.
type FailingService struct{ Err error }

// CreateQuick implements legacy.Rooms.
func (f FailingService) CreateQuick(context.Context, project.Project, room.CreateRequest) (room.Created, error) {
	return room.Created{}, f.Err
}

// Schedule implements legacy.Rooms.
func (f FailingService) Schedule(context.Context, project.Project, room.CreateRequest) (room.Created, error) {
	return room.Created{}, f.Err
}

// BeginIdempotent implements legacy.Rooms.
func (f FailingService) BeginIdempotent(context.Context, *room.IdempotencyKey) (func(), error) {
	return nil, f.Err
}

// Get finds no room.
func (f FailingService) Get(context.Context, string) (*room.Room, error) { return nil, f.Err }

// MarkAttendance marks nothing.
func (f FailingService) MarkAttendance(context.Context, string, string, []byte, bool) error {
	return f.Err
}

// GetInProject finds no room.
func (f FailingService) GetInProject(context.Context, project.Project, string) (*room.Room, error) {
	return nil, f.Err
}

// OpenEarly opens nothing.
func (f FailingService) OpenEarly(context.Context, project.Project, string, room.OpenEarlyRequest) (string, error) {
	return "", f.Err
}

// Invite invites nobody.
func (f FailingService) Invite(context.Context, project.Project, string, room.Invitation) (string, error) {
	return "", f.Err
}

// Reschedule changes nothing.
func (f FailingService) Reschedule(context.Context, project.Project, string, room.RescheduleRequest) (room.Created, error) {
	return room.Created{}, f.Err
}

// EndByAPI ends nothing.
func (f FailingService) EndByAPI(context.Context, project.Project, string) error { return f.Err }

// RunningRoom finds no room.
func (f FailingService) RunningRoom(context.Context, project.Project, string) (room.RunningRoom, error) {
	return room.RunningRoom{}, f.Err
}

// RunningRooms finds no rooms.
func (f FailingService) RunningRooms(context.Context, project.Project) ([]room.RunningRoom, error) {
	return nil, f.Err
}

// PastRooms finds no rooms.
func (f FailingService) PastRooms(context.Context, project.Project, room.PastQuery) ([]room.PastRoom, int, error) {
	return nil, 0, f.Err
}

// List finds no rooms.
func (f FailingService) List(context.Context, room.ListQuery) ([]room.Summary, bool, error) {
	return nil, false, f.Err
}

// Analytics finds no room.
func (f FailingService) Analytics(context.Context, project.Project, string) (room.Analytics, error) {
	return room.Analytics{}, f.Err
}

// SetStatus sets nothing.
func (f FailingService) SetStatus(context.Context, string, project.Status) error { return f.Err }

// ErrDatabaseDown is what a database that does not answer is told as.
var ErrDatabaseDown = &fault.Error{Kind: fault.Unavailable, Message: "the database does not answer, try again in a moment"}

// ExhaustedLimiter is limits that are reached.
type ExhaustedLimiter struct{}

// Allow implements legacy.Rate.
func (ExhaustedLimiter) Allow(string) (bool, time.Duration) { return false, 1500 * time.Millisecond }

// RecordAttempt implements legacy.Failures.
func (ExhaustedLimiter) RecordAttempt(netip.Addr) (bool, time.Duration) {
	return true, 1500 * time.Millisecond
}

// CallCounts counts in a plain map, by key and slot.
type CallCounts map[string]int64

// Add implements legacy.Uses.
func (u CallCounts) Add(keyID, slot string) { u[keyID+" "+slot]++ }
