package join_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/api/join"
	"parley/internal/conncheck"
	"parley/internal/project"
	"parley/internal/refusal"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// engine is a media engine without participants.
type engine struct {
	room.Media
	unavailable bool
	checkErr    error // of PreflightToken
}

func (e *engine) Open(context.Context, room.MediaSession) error   { return e.err() }
func (e *engine) Close(context.Context, string) error             { return e.err() }
func (e *engine) Remove(context.Context, string, string) error    { return e.err() }
func (*engine) CloseConnection(string, string, string)            {}
func (*engine) Connection(string, string) string                  { return "" }
func (*engine) Quality(string, string) room.ConnectionQuality     { return room.QualityUnknown }
func (*engine) ConnectionType(string, string) room.ConnectionType { return room.ConnectionUDP }
func (e *engine) Admit(string)                                    {}
func (e *engine) Participants(context.Context, string) ([]room.Participant, error) {
	return nil, e.err()
}
func (e *engine) AccessToken(room.AccessTokenSpec) (string, error) { return "media token", e.err() }
func (e *engine) PreflightToken(context.Context, string) (string, error) {
	return "a moment", errors.Join(e.checkErr, e.err())
}
func (e *engine) UpdateMetadata(context.Context, string, room.Metadata) error { return e.err() }
func (e *engine) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return e.err()
}
func (e *engine) Mute(_ context.Context, _ string, identities []string) ([]string, error) {
	return identities, e.err()
}
func (e *engine) SendMessage(context.Context, string, []string, room.Message) error { return e.err() }

func (e *engine) err() error {
	if e.unavailable {
		return errors.New("away")
	}
	return nil
}

// stubLimiter is a limiter that is exhausted while over is set.
type stubLimiter struct {
	over   atomic.Bool
	failed atomic.Int32
}

func (l *stubLimiter) RecordAttempt(netip.Addr) (bool, time.Duration) {
	l.failed.Add(1)
	return l.over.Load(), 2 * time.Second
}

type m = map[string]any

// fixture is the join API with its own database.
type fixture struct {
	*room.Service
	t                    *testing.T
	db                   *store.DB
	project              project.Project
	engine               *engine
	host                 string       // identity of the host of the room under test
	offset               atomic.Int64 // of the clock of the API from the real time
	guesses, calls       stubLimiter
	checkLimit, newSeats stubLimiter
	checker              *apitest.Checker
	checks               *conncheck.Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	description, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.SQLite(t)
	p := &fixture{t: t, db: db, project: storetest.Project(t, db), engine: &engine{}}
	now := func() time.Time { return time.Now().Add(time.Duration(p.offset.Load())) }
	p.Service = room.NewService(db, p.engine, func() string { return "https://meet.example.org" }, now,
		storetest.NewID, slog.New(slog.DiscardHandler), room.Options{JoinLimiter: &p.newSeats})
	logos := project.NewService(db, now, storetest.NewID, func(string) {})
	p.checks = conncheck.NewService(db, p.Joining, now, storetest.NewID)
	p.checker = apitest.New(t, description, join.NewHandler(p.Joining, p.Moderation, p.checks, logos,
		join.Limits{Guesses: &p.guesses, Checks: &p.checkLimit, Calls: &p.calls},
		refusal.NewRecorder(nil, slog.New(slog.DiscardHandler), now), now))
	return p
}

// configure changes the settings of the project.
func (p *fixture) configure(settings project.Settings) {
	p.t.Helper()
	projects := project.NewService(p.db, time.Now, storetest.NewID, func(string) {})
	if err := projects.Configure(p.t.Context(), p.project.ID, settings); err != nil {
		p.t.Fatal(err)
	}
	p.project.Settings = settings
}

// create creates a room and returns its id and the token of the creator's link.
func (p *fixture) create(q room.Spec) (id, link string) {
	p.t.Helper()
	q.Type, q.CreatorName, q.Title, q.MaxParticipants = room.Video, "Ada", "Title", 10
	createRoom := p.CreateQuick
	if !q.StartAt.IsZero() {
		createRoom = p.Schedule
	}
	created, err := createRoom(p.t.Context(), p.project, q, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	_, link, _ = strings.Cut(created.FinalLink, "#t=")
	return created.ID, link
}

// response holds the fields of all responses that the tests read.
type response struct {
	Role, Identity string
	Key            string
	MediaToken     string `json:"media_token"`
	SessionID      string `json:"session_id"`
	MaxBreakouts   int    `json:"max_breakouts"`
	Features       m
	Breakout       m
	Breakouts      []m
	People         []m
	Removed        []m
	Waiting        []m
	Link           string
	AskAgainIn     int        `json:"ask_again_in"`
	HostPresent    bool       `json:"host_present"`
	Taken          int        `json:"participants"`
	OpensAt        *time.Time `json:"opens_at"`
	BrandLogo      m          `json:"brand_logo"`
	You            struct {
		Role, Link string
		Waits      bool
		MaySend    m `json:"may_send"`
	}
	Error struct {
		Code, Message, Reason, Title string
		MaxParticipants              *int `json:"max_participants"`
	}
}

func (p *fixture) send(id, path string, in any) (int, response) {
	p.t.Helper()
	return p.post("/api/join/rooms/"+id+path, in)
}

func (p *fixture) post(path string, in any) (int, response) {
	p.t.Helper()
	body, _ := json.Marshal(in)
	if text, ok := in.(string); ok {
		body = []byte(text)
	}
	res := p.checker.Do(p.t, http.MethodPost, path,
		http.Header{"Content-Type": {"application/json"}}, body)
	var out response
	if res.StatusCode != http.StatusNoContent {
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			p.t.Fatal(err)
		}
	}
	return res.StatusCode, out
}

// assertError sends a request and fails the test unless the response is the
// given error.
func (p *fixture) assertError(id, path string, in any, status int, code string) response {
	p.t.Helper()
	got, a := p.send(id, path, in)
	if got != status || a.Error.Code != code || a.Error.Message == "" {
		p.t.Errorf("%s %v: got %d %+v, want %d %s", path, in, got, a.Error, status, code)
	}
	return a
}

func (p *fixture) assertNoContent(id, path string, in m) {
	p.t.Helper()
	if status, a := p.send(id, path, in); status != http.StatusNoContent {
		p.t.Errorf("%s %v: got %d %+v, want 204", path, in, status, a.Error)
	}
}

var (
	hostKey  = strings.Repeat("h", 43)
	guestKey = strings.Repeat("g", 43)
	otherKey = strings.Repeat("o", 43)
)

// seatKey returns the key of the nth of many participants.
func seatKey(n int) string { return fmt.Sprintf("%043d", n) }

func withSeatKey(key string, in m) m {
	out := m{"seat_key": key}
	for name, value := range in {
		out[name] = value
	}
	return out
}
