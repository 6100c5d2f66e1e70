package room_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// house is a service on a real database, with a clock that the test moves and
// a media engine that does what the test says.
type house struct {
	*room.Service
	db      *store.DB
	project project.Project
	clock   *clock
	engine  *engine
}

func newHouse(t testing.TB) *house {
	t.Helper()
	db := storetest.SQLite(t)
	h := &house{db: db, project: storetest.Project(t, db), clock: &clock{now: time.UnixMilli(1_780_000_000_000).UTC()}}
	h.restart()
	if err := h.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	return h
}

// restart is a new process on the same database: its engine has nobody in it.
func (h *house) restart() {
	h.engine = &engine{sessions: map[string]map[string]room.Present{}, infos: map[string]room.Info{}, allowed: map[string]may{}}
	h.Service = room.NewService(h.db, h.engine, func() string { return "https://meet.example.org" }, h.clock.Now, storetest.NewID, quietly)
}

// create makes a room, a quick one unless the request has a start, and returns
// its id and the token of the creator's link.
func (h *house) create(t testing.TB, q room.Request) (id, link string) {
	t.Helper()
	q.Type, q.Name, q.Title = room.Video, "Ada", "Title"
	make := h.CreateQuick
	if !q.StartAt.IsZero() {
		make = h.Schedule
	}
	created, err := make(context.Background(), h.project, q)
	if err != nil {
		t.Fatal(err)
	}
	guest, link, ok := strings.Cut(created.FinalLink, "#t=")
	if !ok || guest != created.GuestLink || guest != "https://meet.example.org/r/"+created.ID {
		t.Fatalf("links %q and %q", created.FinalLink, created.GuestLink)
	}
	return created.ID, link
}

// enter takes a seat and connects.
func (h *house) enter(t testing.TB, roomID string, v room.Visit, connection string) room.Admission {
	t.Helper()
	a, err := h.TakeSeat(context.Background(), roomID, v)
	if err != nil {
		t.Fatal(err)
	}
	h.engine.put(a.SessionID, a.Seat.ID, connection, h.clock.Now())
	h.ParticipantJoined(a.SessionID, a.Seat.ID, connection, h.clock.Now())
	return a
}

func (h *house) leave(a room.Admission, connection string, reason room.LeaveReason) {
	h.engine.drop(a.SessionID, a.Seat.ID)
	h.ParticipantLeft(a.SessionID, a.Seat.ID, connection, h.clock.Now(), reason)
}

func (h *house) room(t testing.TB, id string) *room.Room {
	t.Helper()
	r, err := h.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kinds returns what happened in a room, in order.
func (h *house) kinds(t testing.TB, id string) []event.Type {
	t.Helper()
	events, err := h.db.Events(context.Background(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []event.Type
	for _, e := range events {
		kinds = append(kinds, e.Type)
	}
	return kinds
}

// quietly is a log that nobody reads.
var quietly = slog.New(slog.DiscardHandler)

// guest is a visitor with a browser of that number.
func guest(n int) room.Visit {
	return room.Visit{SeatKey: fmt.Sprintf("seat-key-of-browser-%06d", n), Name: fmt.Sprint("Guest ", n)}
}

type clock struct {
	follow bool // in a bubble: its own time
	mu     sync.Mutex
	now    time.Time
}

func (c *clock) Now() time.Time {
	if c.follow {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// engine is a media engine whose participants the test moves.
type engine struct {
	mu       sync.Mutex
	sessions map[string]map[string]room.Present // by name, then by identity
	infos    map[string]room.Info               // by name: what the pages read
	told     []told
	allowed  map[string]may // by session and identity
	muted    []string
	passes   []room.MediaPass
	admitted []string
	removed  []string
	fail     error // of every call
}

// may is what somebody was allowed last.
type may struct {
	role   room.Role
	grants room.Grants
}

// told is what pages were told.
type told struct {
	session    string
	identities []string
	message    room.Message
}

func (e *engine) Open(_ context.Context, s room.MediaSession) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil && e.sessions[s.Name] == nil {
		e.sessions[s.Name] = map[string]room.Present{}
		e.infos[s.Name] = s.Info
	}
	return e.fail
}

func (e *engine) Hosts(session string) bool { return e.open(session) }

func (e *engine) HangUp(string, time.Time) {}

func (e *engine) Announce(_ context.Context, session string, info room.Info) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil && e.sessions[session] != nil {
		e.infos[session] = info
	}
	return e.fail
}

func (e *engine) Tell(_ context.Context, session string, identities []string, message room.Message) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil {
		e.told = append(e.told, told{session, identities, message})
	}
	return e.fail
}

func (e *engine) Allow(_ context.Context, session, identity string, role room.Role, grants room.Grants) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil {
		e.allowed[session+" "+identity] = may{role, grants}
	}
	return e.fail
}

func (e *engine) Mute(_ context.Context, session string, identities []string) (muted []string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil {
		e.muted = append(e.muted, identities...)
	}
	return identities, e.fail
}

func (e *engine) Close(_ context.Context, session string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil {
		delete(e.sessions, session)
	}
	return e.fail
}

func (e *engine) Participants(_ context.Context, session string) ([]room.Present, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	there := e.sessions[session]
	var list []room.Present
	for _, identity := range slices.Sorted(maps.Keys(there)) {
		list = append(list, there[identity])
	}
	return list, e.fail
}

func (e *engine) Remove(_ context.Context, session, identity string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions[session], identity)
	e.removed = append(e.removed, identity)
	return e.fail
}

func (e *engine) Admit(connection string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.admitted = append(e.admitted, connection)
}

func (e *engine) Pass(p room.MediaPass) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.passes = append(e.passes, p)
	return fmt.Sprint("pass for ", p.Identity, " to ", p.Session), e.fail
}

func (e *engine) CheckPass(context.Context, string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return "pass for a check", e.fail
}

func (e *engine) put(session, identity, connection string, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions[session] != nil {
		e.sessions[session][identity] = room.Present{Identity: identity, SID: connection, JoinedAt: at, Active: true}
	}
}

func (e *engine) drop(session, identity string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions[session], identity)
}

// breakDown has every call fail from now on; nil ends it.
func (e *engine) breakDown(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail = err
}

func (e *engine) open(session string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[session] != nil
}

// tookOut returns whom the service has removed since the last call.
func (e *engine) tookOut() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.removed = nil }()
	return e.removed
}

// invite makes a link and returns its token.
func (h *house) invite(t testing.TB, roomID string, q room.Invitation) string {
	t.Helper()
	link, err := h.Invite(context.Background(), h.project, roomID, q)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#t=")
	return token
}
