package room_test

import (
	"cmp"
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

// fixture is a service on a real database with a clock and a media engine that the
// test controls.
type fixture struct {
	*room.Service
	db      *store.DB
	project project.Project
	clock   *clock
	engine  *fakeMedia
	plan    room.Entitlements // zero means MaxEntitlements
	options room.Options      // of the next restart; Plans is always the fixture
}

func (f *fixture) Entitlements(context.Context, project.Project) (room.Entitlements, error) {
	return cmp.Or(f.plan, room.MaxEntitlements), nil
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db := storetest.SQLite(t)
	f := &fixture{db: db, project: storetest.Project(t, db), clock: &clock{now: time.UnixMilli(1_780_000_000_000).UTC()}}
	f.restart()
	if err := f.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	return f
}

// restart replaces the service by a new process on the same database, with an empty
// media engine.
func (f *fixture) restart() {
	f.engine = &fakeMedia{
		sessions:    map[string]map[string]room.Participant{},
		qualities:   map[string]room.ConnectionQuality{},
		metadata:    map[string]room.Metadata{},
		permissions: map[string]grantedPermissions{},
		reporting:   map[string]bool{},
	}
	f.options.Plans = f
	f.Service = room.NewService(f.db, f.engine, func() string { return "https://meet.example.org" }, f.clock.Now,
		storetest.NewID, discardLogger, f.options)
}

// create creates a room, a quick one unless the request has a start, and returns its
// id and the token of the creator's link.
func (f *fixture) create(t testing.TB, q room.Spec) (id, link string) {
	t.Helper()
	q.Type, q.CreatorName, q.Title = room.Video, "Ada", "Title"
	make := f.CreateQuick
	if !q.StartAt.IsZero() {
		make = f.Schedule
	}
	created, err := make(context.Background(), f.project, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	guest, link, ok := strings.Cut(created.FinalLink, "#t=")
	if !ok || guest != created.GuestLink || guest != "https://meet.example.org/r/"+created.ID {
		t.Fatalf("links: got host link %q, guest link %q, want both to be https://meet.example.org/r/%s, "+
			"the host link with #t= and a token at the end", created.FinalLink, created.GuestLink, created.ID)
	}
	return created.ID, link
}

// startRoom creates a room, which its host enters with browser 1.
func (f *fixture) startRoom(t testing.TB, q room.Spec) (id string, a room.Admission) {
	t.Helper()
	id, link := f.create(t, q)
	return id, f.enter(t, id, host(1, link), "PA_1")
}

// enterInvited enters with a browser and a new link.
func (f *fixture) enterInvited(t testing.TB, roomID string, browser int, q room.Invitation) (
	room.JoinRequest, room.Admission,
) {
	t.Helper()
	v := guest(browser)
	v.LinkToken = f.invite(t, roomID, q)
	return v, f.enter(t, roomID, v, fmt.Sprint("PA_", browser))
}

// enter reserves a seat and connects.
func (f *fixture) enter(t testing.TB, roomID string, v room.JoinRequest, connection string) room.Admission {
	t.Helper()
	a, err := f.ReserveSeat(context.Background(), roomID, v)
	if err != nil {
		t.Fatal(err)
	}
	f.engine.connect(a.SessionID, a.Seat.ID, connection, f.clock.Now())
	f.ParticipantJoined(a.SessionID, a.Seat.ID, connection, f.clock.Now())
	return a
}

func (f *fixture) leave(a room.Admission, connection string, reason room.LeaveReason) {
	f.engine.disconnect(a.SessionID, a.Seat.ID)
	f.ParticipantLeft(a.SessionID, a.Seat.ID, connection, f.clock.Now(), reason)
}

func (f *fixture) room(t testing.TB, id string) *room.Room {
	t.Helper()
	r, err := f.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventTypes returns the types of a room's events, in order.
func (f *fixture) eventTypes(t testing.TB, id string) []event.Type {
	t.Helper()
	events, err := storetest.Events(context.Background(), f.db, id)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []event.Type
	for _, e := range events {
		kinds = append(kinds, e.Type)
	}
	return kinds
}

// discardLogger discards all log messages.
var discardLogger = slog.New(slog.DiscardHandler)

// guest returns a visitor with the browser of that number.
func guest(n int) room.JoinRequest {
	return room.JoinRequest{SeatKey: fmt.Sprintf("seat-key-of-browser-%06d", n), Name: fmt.Sprint("Guest ", n)}
}

type clock struct {
	follow bool // use time.Now, the time of the synctest bubble
	mu     sync.Mutex
	now    time.Time
	ahead  time.Duration // of time.Now
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.follow {
		return time.Now().Add(c.ahead)
	}
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.ahead = c.now.Add(d), c.ahead+d
}

// fakeMedia is a media engine whose participants the test controls.
type fakeMedia struct {
	mu          sync.Mutex
	sessions    map[string]map[string]room.Participant // by name, then by identity
	qualities   map[string]room.ConnectionQuality      // by session and identity
	metadata    map[string]room.Metadata               // by name: what the pages read
	messages    []logged
	permissions map[string]grantedPermissions // by session and identity
	muted       []string
	tokenSpecs  []room.AccessTokenSpec
	admitted    []string
	removed     []string
	reporting   map[string]bool // connections whose reports are not delivered yet
	err         error           // of every call
}

// grantedPermissions are the last permissions set for a participant.
type grantedPermissions struct {
	role   room.Role
	grants room.Grants
}

// logged is a message that was sent to pages.
type logged struct {
	session    string
	identities []string
	message    room.Message
}

func (e *fakeMedia) Open(_ context.Context, s room.MediaSession) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil && e.sessions[s.Name] == nil {
		e.sessions[s.Name] = map[string]room.Participant{}
		e.metadata[s.Name] = s.Metadata
	}
	return e.err
}

func (e *fakeMedia) IsLocal(session string) bool { return e.isOpen(session) }

func (e *fakeMedia) LocalSessions() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.sessions))
}

func (e *fakeMedia) SetDraining(bool) {}

func (e *fakeMedia) HandOver(context.Context, string) error { return nil }

func (e *fakeMedia) RelayedPeople(time.Time) int { return 0 }

func (e *fakeMedia) EndRelays(int, time.Time) {}

func (e *fakeMedia) DropRelayedConnections(string, time.Time) {}

func (e *fakeMedia) UpdateMetadata(_ context.Context, session string, info room.Metadata) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil && e.sessions[session] != nil {
		e.metadata[session] = info
	}
	return e.err
}

func (e *fakeMedia) SendMessage(_ context.Context, session string, identities []string, message room.Message) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.messages = append(e.messages, logged{session, identities, message})
	}
	return e.err
}

func (e *fakeMedia) UpdatePermissions(_ context.Context, session, identity string, role room.Role,
	grants room.Grants) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.permissions[session+" "+identity] = grantedPermissions{role, grants}
	}
	return e.err
}

func (e *fakeMedia) Mute(_ context.Context, session string, identities []string) (muted []string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return nil, e.err
	}
	e.muted = append(e.muted, identities...)
	return identities, nil
}

func (e *fakeMedia) Close(_ context.Context, session string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		delete(e.sessions, session)
	}
	return e.err
}

func (e *fakeMedia) Participants(_ context.Context, session string) ([]room.Participant, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	there := e.sessions[session]
	var list []room.Participant
	for _, identity := range slices.Sorted(maps.Keys(there)) {
		list = append(list, there[identity])
	}
	return list, e.err
}

func (e *fakeMedia) Remove(_ context.Context, session, identity string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions[session], identity)
	e.removed = append(e.removed, identity)
	return e.err
}

func (e *fakeMedia) CloseConnection(session, identity, connection string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions[session][identity].SID == connection {
		delete(e.sessions[session], identity)
	}
}

func (e *fakeMedia) Connection(session, identity string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[session][identity].SID
}

func (e *fakeMedia) IsReporting(connection string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reporting[connection]
}

// setReporting says whether reports about a connection are not delivered yet.
func (e *fakeMedia) setReporting(connection string, reporting bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reporting[connection] = reporting
}

func (*fakeMedia) ConnectionType(string, string) room.ConnectionType { return room.ConnectionUDP }

func (e *fakeMedia) Admit(connection string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.admitted = append(e.admitted, connection)
}

func (e *fakeMedia) AccessToken(p room.AccessTokenSpec) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tokenSpecs = append(e.tokenSpecs, p)
	return fmt.Sprint("token for ", p.Identity, " to ", p.Session), e.err
}

func (e *fakeMedia) PreflightToken(context.Context, string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return "preflight token", e.err
}

func (e *fakeMedia) connect(session, identity, connection string, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions[session] != nil {
		e.sessions[session][identity] = room.Participant{Identity: identity, SID: connection, JoinedAt: at, Active: true}
	}
}

// setQuality changes the quality of a participant's connection.
func (e *fakeMedia) setQuality(session, identity string, q room.ConnectionQuality) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.qualities[session+" "+identity] = q
}

func (e *fakeMedia) Quality(session, identity string) room.ConnectionQuality {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.qualities[session+" "+identity]
}

func (e *fakeMedia) disconnect(session, identity string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions[session], identity)
}

// setError makes every call fail from now on, or succeed again if err is nil.
func (e *fakeMedia) setError(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

func (e *fakeMedia) isOpen(session string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[session] != nil
}

// drainRemoved returns the identities that the service removed since the last call.
func (e *fakeMedia) drainRemoved() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.removed = nil }()
	return e.removed
}

// invite creates a link and returns its token.
func (f *fixture) invite(t testing.TB, roomID string, q room.Invitation) string {
	t.Helper()
	link, err := f.Invite(context.Background(), f.project, roomID, q)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#t=")
	return token
}
