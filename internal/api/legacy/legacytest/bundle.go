// Package legacytest tests what versions 3 and 4 have in common, on either of
// them: one table of refusals, and a version on a real database. It is
// imported by tests only.
package legacytest

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
	"parley/internal/api/web"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
)

// Bundle is the service on a real database, with one project.
type Bundle struct {
	DB       *store.DB
	Projects *project.Service
	Keys     *key.Service
	Rooms    *room.Service
	Project  project.Project
	Issued   key.Issued
}

// New returns a fresh Bundle.
func New(t testing.TB) *Bundle {
	t.Helper()
	db, err := store.Open(t.Context(), "", t.TempDir())
	Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	Must(t, db.Unlock(t.Context(), seal.NewBox(seal.NewKey())))
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	b := &Bundle{DB: db}
	b.Projects = project.NewService(db, time.Now, newID, func(id string) { b.Keys.Forget(id) })
	b.Keys = key.NewService(db, b.Projects, time.Now, newID)
	b.Rooms = room.NewService(db, nil, func() string { return "https://meet.example.org" }, time.Now, newID, slog.New(slog.DiscardHandler))
	o, err := b.Projects.CreateOrganization(t.Context(), "Org", project.Plan)
	Must(t, err)
	b.Project, b.Issued, err = b.Keys.CreateProject(t.Context(), o.ID, "Project")
	Must(t, err)
	return b
}

// Another makes another project of the same organization.
func (b *Bundle) Another(t testing.TB) (project.Project, key.Issued) {
	t.Helper()
	p, issued, err := b.Keys.CreateProject(t.Context(), b.Project.OrganizationID, "Another")
	Must(t, err)
	return p, issued
}

// Wrap puts a handler behind the transport that all APIs share.
func Wrap(h http.Handler) http.Handler {
	return web.Wrap(h, nil, slog.New(slog.DiscardHandler), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
}

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Encode returns the JSON of a value.
func Encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	Must(t, err)
	return raw
}

// Signed returns the headers of a body that is signed with a credential.
func Signed(credential seal.Secret, body []byte) http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Hash-Signature": {sign.Legacy(credential.Reveal(), body)}}
}

// Description reads the description of the package under test.
func Description(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	Must(t, err)
	return raw
}

// Fields reads the JSON object of an answer.
func Fields(t testing.TB, answer *http.Response) map[string]any {
	t.Helper()
	raw, err := io.ReadAll(answer.Body)
	Must(t, err)
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return fields
}

// Sentence reads {"error": …}, and nothing else, from an answer. Where the
// description has it, the sentence stands in message too.
func Sentence(t testing.TB, answer *http.Response) string {
	t.Helper()
	fields := Fields(t, answer)
	text, ok := fields["error"].(string)
	if fields["message"] == fields["error"] {
		delete(fields, "message")
	}
	if !ok || len(fields) != 1 {
		t.Fatalf("the body of a refusal is %v", fields)
	}
	return text
}

// Says holds an answer to a status and the exact words of a refusal.
func Says(t testing.TB, answer *http.Response, status int, words string) {
	t.Helper()
	if got := Sentence(t, answer); answer.StatusCode != status || got != words {
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

// Failing is rooms whose database is gone, or that a mistake of ours befell.
type Failing struct{ Err error }

// CreateQuick implements legacy.Rooms.
func (f Failing) CreateQuick(context.Context, project.Project, room.Request) (room.Created, error) {
	return room.Created{}, f.Err
}

// Schedule implements legacy.Rooms.
func (f Failing) Schedule(context.Context, project.Project, room.Request) (room.Created, error) {
	return room.Created{}, f.Err
}

// Begin implements legacy.Rooms.
func (f Failing) Begin(context.Context, *room.Once) ([]byte, func(), error) { return nil, nil, f.Err }

// Get finds no room.
func (f Failing) Get(context.Context, string) (*room.Room, error) { return nil, f.Err }

// MarkAttendance marks nothing.
func (f Failing) MarkAttendance(context.Context, string, string, []byte, bool) error { return f.Err }

// Of finds no room.
func (f Failing) Of(context.Context, project.Project, string) (*room.Room, error) { return nil, f.Err }

// OpenEarly opens nothing.
func (f Failing) OpenEarly(context.Context, project.Project, string, room.Early) (string, error) {
	return "", f.Err
}

// Invite invites nobody.
func (f Failing) Invite(context.Context, project.Project, string, room.Invitation) (string, error) {
	return "", f.Err
}

// Reschedule changes nothing.
func (f Failing) Reschedule(context.Context, project.Project, string, room.Change) (room.Created, error) {
	return room.Created{}, f.Err
}

// EndOf ends nothing.
func (f Failing) EndOf(context.Context, project.Project, string) error { return f.Err }

// RunningOne finds no room.
func (f Failing) RunningOne(context.Context, project.Project, string) (room.Running, error) {
	return room.Running{}, f.Err
}

// RunningAll finds no rooms.
func (f Failing) RunningAll(context.Context, project.Project) ([]room.Running, error) {
	return nil, f.Err
}

// PastRooms finds no rooms.
func (f Failing) PastRooms(context.Context, project.Project, room.PastQuery) ([]room.Past, int, error) {
	return nil, 0, f.Err
}

// List finds no rooms.
func (f Failing) List(context.Context, room.Query) ([]room.Listed, bool, error) {
	return nil, false, f.Err
}

// Analytics finds no room.
func (f Failing) Analytics(context.Context, project.Project, string) (room.Analytics, error) {
	return room.Analytics{}, f.Err
}

// SetStatus sets nothing.
func (f Failing) SetStatus(context.Context, string, project.Status) error { return f.Err }

// Gone is what a database that does not answer is told as.
var Gone = &fault.Error{Kind: fault.Unavailable, Message: "the database does not answer, try again in a moment"}

// Spent is limits that are reached.
type Spent struct{}

// Allow implements legacy.Rate.
func (Spent) Allow(string) (bool, time.Duration) { return false, 1500 * time.Millisecond }

// Failed implements legacy.Failures.
func (Spent) Failed(netip.Addr) (bool, time.Duration) { return true, 1500 * time.Millisecond }

// Uses counts in a plain map, by key and slot.
type Uses map[string]int64

// Add implements legacy.Uses.
func (u Uses) Add(keyID, slot string) { u[keyID+" "+slot]++ }
