package join_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/api/join"
	"parley/internal/fault"
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

func (e *engine) Open(context.Context, room.MediaSession) error { return e.err() }
func (e *engine) Close(context.Context, string) error           { return e.err() }
func (e *engine) Remove(context.Context, string, string) error  { return e.err() }
func (e *engine) Admit(string)                                  {}
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

func (l *stubLimiter) Exhausted(netip.Addr) (bool, time.Duration) {
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
	host                 string // identity of the host of the room under test
	guesses              stubLimiter
	checkLimit, newSeats stubLimiter
	checker              *apitest.Checker
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	description, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.SQLite(t)
	p := &fixture{t: t, db: db, project: storetest.Project(t, db), engine: &engine{}}
	p.Service = room.NewService(db, p.engine, func() string { return "https://meet.example.org" }, time.Now,
		storetest.NewID, slog.New(slog.DiscardHandler), room.Options{JoinLimiter: &p.newSeats})
	p.checker = apitest.New(t, description, join.NewHandler(p.Service,
		join.Limits{Guesses: &p.guesses, Checks: &p.checkLimit},
		refusal.NewRecorder(nil, slog.New(slog.DiscardHandler), time.Now), time.Now))
	return p
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
	OpensAt        *time.Time `json:"opens_at"`
	You            struct {
		Role, Link string
		Waits      bool
		MaySend    m `json:"may_send"`
	}
	Error struct{ Code, Message, Reason string }
}

func (p *fixture) send(id, path string, in any) (int, response) {
	p.t.Helper()
	body, _ := json.Marshal(in)
	if text, ok := in.(string); ok {
		body = []byte(text)
	}
	res := p.checker.Do(p.t, http.MethodPost, "/api/join/rooms/"+id+path,
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

// roomRoutes are the routes for participants, each with a valid body.
var roomRoutes = map[string]m{"/end": {}, "/breakouts": {"names": []string{"One"}}, "/breakouts/close": {},
	"/move": {"to": 0}, "/broadcast": {"text": "Hello"}, "/people": {},
	"/mute": {}, "/unmute": {"identity": "somebody"}, "/remove": {"identity": "somebody"},
	"/readmit": {"identity": "somebody"}, "/locks": {"locks": m{"camera": true}},
	"/role":       {"identity": "somebody", "role": "cohost"},
	"/hand/raise": {}, "/hand/lower": {}, "/hands/lower": {}, "/react": {"reaction": "heart"},
	"/waiting/admit": {}, "/waiting/turn-away": {"identity": "somebody"}, "/invitations": {"role": "guest"}}

// guestRoutes are the routes that guests may call.
var guestRoutes = []string{"/preview", "/seats", "/move", "/hand/raise", "/hand/lower", "/react"}

func withSeatKey(key string, in m) m {
	out := m{"seat_key": key}
	for name, value := range in {
		out[name] = value
	}
	return out
}

func TestContract(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	id, link := p.create(room.Spec{BreakoutRooms: 2})
	start := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	early, earlyLink := p.create(room.Spec{StartAt: start})

	// Joining.
	if status, a := p.send(id, "/preview", m{"link": link}); status != 200 || a.You.Role != "host" ||
		a.You.Link != "ok" || a.OpensAt != nil || a.Features["camera"] != true {
		t.Fatalf("%d %+v", status, a)
	}
	status, host := p.send(id, "/seats", m{"name": "Ada", "seat_key": hostKey, "link": link, "role": "host"})
	if status != 200 || host.Role != "host" || host.MaxBreakouts != 2 || host.Features["camera"] != true ||
		host.Breakout != nil {
		t.Fatalf("%d %+v", status, host)
	}
	status, guest := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey})
	if status != 200 || guest.Role != "guest" {
		t.Fatalf("%d %+v", status, guest)
	}
	p.host = host.Identity
	p.assertError(id, "/seats", m{"name": "Chen", "seat_key": otherKey, "link": link, "role": "host"}, 409,
		"link_taken")
	// Before the start.
	for in, want := range map[string]time.Time{"": start, earlyLink: start.Add(-10 * time.Minute)} {
		if status, a := p.send(early, "/preview", m{"link": in}); status != 200 || a.OpensAt == nil ||
			!a.OpensAt.Equal(want) {
			t.Errorf("%d opens at %v, want %s", status, a.OpensAt, want)
		}
	}
	p.assertError(early, "/seats", m{"name": "Ada", "seat_key": hostKey, "link": earlyLink}, 409, "room_not_open")

	// Actions of participants.
	status, opened := p.send(id, "/breakouts", withSeatKey(hostKey,
		m{"names": []string{"One", "Two"}, "assign": m{guest.Identity: 1}}))
	if status != 200 || len(opened.Breakouts) != 2 || opened.Breakouts[1]["number"] != 2. ||
		opened.Breakouts[1]["name"] != "Two" {
		t.Errorf("%d %+v", status, opened)
	}
	if status, a := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey}); status != 200 ||
		a.Breakout["name"] != "Two" || a.SessionID == guest.SessionID {
		t.Errorf("%d %+v", status, a)
	}
	p.assertError(id, "/breakouts", withSeatKey(hostKey, roomRoutes["/breakouts"]), 409, "too_many_breakouts")
	p.assertNoContent(id, "/move", withSeatKey(guestKey, m{"to": 1}))
	p.assertNoContent(id, "/move", withSeatKey(hostKey, m{"identity": guest.Identity, "to": 2}))
	p.assertError(id, "/move", withSeatKey(guestKey, m{"to": 3}), 404, "breakout_not_found")
	p.assertError(id, "/move", withSeatKey(hostKey, m{"identity": "nobody", "to": 1}), 404, "seat_not_found")
	p.assertError(id, "/move", withSeatKey(guestKey, m{"identity": host.Identity, "to": 1}), 403, "not_host")
	status, list := p.send(id, "/people", withSeatKey(hostKey, nil))
	want := []m{{"identity": host.Identity, "name": "Ada", "role": "host", "breakout": 0.},
		{"identity": guest.Identity, "name": "Ben", "role": "guest", "breakout": 2.}}
	if status != 200 || !reflect.DeepEqual(list.People, want) {
		t.Errorf("%d %v, want %v", status, list.People, want)
	}
	p.assertNoContent(id, "/broadcast", withSeatKey(hostKey, roomRoutes["/broadcast"]))
	p.testReactions(id, host.Identity, guest.Identity)
	p.ParticipantJoined(guest.SessionID, guest.Identity, "PA_ben", time.Now())
	for _, path := range []string{"/mute", "/unmute", "/locks", "/role", "/remove", "/readmit"} {
		p.assertNoContent(id, path, withSeatKey(hostKey, m{"identity": guest.Identity, "role": "guest", "locks": m{}}))
	}
	p.testWaitingRoom(id)
	p.assertNoContent(id, "/breakouts/close", withSeatKey(hostKey, nil))
	if status, a := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey}); status != 200 || a.Breakout != nil ||
		a.Identity != guest.Identity {
		t.Errorf("%d %+v", status, a)
	}
	if n := p.guesses.failed.Load(); n > 0 {
		t.Errorf("%d errors of participants counted as guesses, want 0", n)
	}

	p.testErrors(id, early)
	p.testConnectionCheck(id, early)
	p.assertNoContent(id, "/end", withSeatKey(hostKey, nil))
	for path, in := range roomRoutes {
		if a := p.assertError(id, path, withSeatKey(hostKey, in), 410, "room_ended"); a.Error.Reason != "host" {
			t.Errorf("%s: reason %q", path, a.Error.Reason)
		}
	}
	p.assertError(id, "/seats", m{"name": "Ada", "seat_key": hostKey}, 410, "room_ended")
	p.assertError(id, "/preview", m{}, 410, "room_ended")
	p.assertError(id, "/check", m{}, 410, "room_ended")

	_ = p.db.Close()
	for path, in := range roomRoutes {
		p.assertError(id, path, withSeatKey(hostKey, in), 503, "unavailable")
	}
	p.assertError(id, "/preview", m{}, 503, "unavailable")
	p.assertError(id, "/seats", m{"name": "Ada", "seat_key": hostKey}, 503, "unavailable")
	p.checker.AssertCovered()
}

// testReactions checks that guests control only their own hand, and hosts all
// hands.
func (p *fixture) testReactions(id, host, guest string) {
	p.t.Helper()
	p.assertNoContent(id, "/hand/raise", withSeatKey(guestKey, nil))
	p.assertNoContent(id, "/hand/raise", withSeatKey(hostKey, nil))
	p.assertError(id, "/hand/lower", withSeatKey(guestKey, m{"identity": host}), 403, "not_host")
	p.assertNoContent(id, "/hand/lower", withSeatKey(hostKey, m{"identity": guest}))
	p.assertNoContent(id, "/hand/lower", withSeatKey(guestKey, nil))
	p.assertError(id, "/hand/lower", withSeatKey(hostKey, m{"identity": "nobody"}), 404, "seat_not_found")
	p.assertNoContent(id, "/hands/lower", withSeatKey(hostKey, nil))
	for _, reaction := range []string{"thumbs_up", "heart", "laughing", "clapping"} {
		p.assertNoContent(id, "/react", withSeatKey(guestKey, m{"reaction": reaction}))
	}
	for _, path := range []string{"/react", "/hand/raise"} {
		p.assertError(id, path, withSeatKey(guestKey, roomRoutes[path]), 429, "too_often")
	}
}

// testWaitingRoom checks that hosts can admit and deny people in the waiting
// room.
func (p *fixture) testWaitingRoom(id string) {
	p.t.Helper()
	keys := []string{strings.Repeat("1", 43), strings.Repeat("2", 43), strings.Repeat("3", 43)}
	p.assertNoContent(id, "/locks", withSeatKey(hostKey, m{"locks": m{"waiting_room": true}}))
	for i, name := range []string{"Dora", "Emil", "Fay"} {
		if status, a := p.send(id, "/preview", m{"seat_key": keys[i]}); status != 200 || !a.You.Waits {
			p.t.Errorf("%d %+v", status, a.You)
		}
		if status, a := p.send(id, "/seats", m{"name": name, "seat_key": keys[i]}); status != 202 || a.AskAgainIn != 2 {
			p.t.Errorf("%s: %d %+v", name, status, a)
		}
	}
	status, list := p.send(id, "/people", withSeatKey(hostKey, nil))
	if status != 200 || len(list.Waiting) != 3 || list.Waiting[0]["name"] != "Dora" {
		p.t.Fatalf("%d %+v", status, list.Waiting)
	}
	p.assertNoContent(id, "/waiting/turn-away", withSeatKey(hostKey, m{"identity": list.Waiting[0]["identity"]}))
	p.assertError(id, "/preview", m{"seat_key": keys[0]}, 403, "turned_away")
	p.assertError(id, "/seats", m{"name": "Dora", "seat_key": keys[0]}, 403, "turned_away")
	p.assertError(id, "/waiting/admit", withSeatKey(hostKey, m{"identity": list.Waiting[0]["identity"]}), 404,
		"seat_not_found")
	p.assertNoContent(id, "/waiting/admit", withSeatKey(hostKey, m{"identity": list.Waiting[1]["identity"]}))
	p.assertNoContent(id, "/waiting/admit", withSeatKey(hostKey, nil))
	for i, name := range []string{"Emil", "Fay"} {
		if status, a := p.send(id, "/seats", m{"name": name, "seat_key": keys[i+1]}); status != 200 ||
			a.Identity != list.Waiting[i+1]["identity"] {
			p.t.Errorf("%s: %d %+v", name, status, a)
		}
	}
	for n := range 50 {
		p.send(id, "/seats", m{"name": "Crowd", "seat_key": strings.Repeat("x", 40) + fmt.Sprint(n)})
	}
	p.assertError(id, "/seats", m{"name": "Gus", "seat_key": strings.Repeat("y", 43)}, 409, "waiting_room_full")
	p.assertNoContent(id, "/locks", withSeatKey(hostKey, m{"locks": m{"waiting_room": false}}))
	if status, a := p.send(id, "/invitations", withSeatKey(hostKey, m{"role": "guest"})); status != 200 ||
		!strings.HasPrefix(a.Link, "https://meet.example.org/r/"+id+"#t=") {
		p.t.Errorf("%d %q", status, a.Link)
	}
}

// testConnectionCheck checks that visitors who may see the preview may test the
// connection, within the limits.
func (p *fixture) testConnectionCheck(id, early string) {
	p.t.Helper()
	for _, room := range []string{id, early} {
		before := p.checkLimit.failed.Load()
		if status, a := p.send(room, "/check", m{}); status != 200 || a.MediaToken != "a moment" {
			p.t.Errorf("%d %+v", status, a)
		}
		if n := p.checkLimit.failed.Load() - before; n != 1 {
			p.t.Errorf("a check counts as %d attempts, want 1", n)
		}
	}
	p.checkLimit.over.Store(true)
	p.assertError(id, "/check", m{}, 429, "check_busy")
	p.checkLimit.over.Store(false)
	p.engine.checkErr = &fault.Error{Kind: fault.Unavailable, Code: "check_busy", Message: "too many",
		RetryAfter: time.Second}
	p.assertError(id, "/check", m{}, 503, "check_busy")
	p.engine.checkErr = nil
	p.newSeats.over.Store(true)
	p.assertError(id, "/seats", m{"name": "Zoe", "seat_key": strings.Repeat("z", 43)}, 429, "too_many_joins")
	p.newSeats.over.Store(false)
	p.engine.unavailable = true
	p.assertError(id, "/check", m{}, 503, "unavailable")
	p.engine.unavailable = false
	p.assertError(storetest.NewID(), "/check", m{}, 404, "room_not_found")
	p.assertError(id, "/check", "[]", 400, "invalid_request")
	p.assertError(id, "/check", `{"text":"`+strings.Repeat("x", 65<<10)+`"}`, 413, "body_too_large")
	res := p.checker.Do(p.t, http.MethodPost, "/api/join/rooms/"+id+"/check",
		http.Header{"Content-Type": {"text/plain"}}, []byte(`{}`))
	if res.StatusCode != http.StatusUnsupportedMediaType {
		p.t.Errorf("text/plain: %d", res.StatusCode)
	}
	projects := project.NewService(p.db, time.Now, storetest.NewID, func(string) {})
	if err := projects.SetStatus(p.t.Context(), p.project.ID, project.Inactive); err != nil {
		p.t.Fatal(err)
	}
	p.assertError(id, "/check", m{}, 403, "project_inactive")
	if err := projects.SetStatus(p.t.Context(), p.project.ID, project.Active); err != nil {
		p.t.Fatal(err)
	}
}

// testErrors checks the errors of every route while the room is open.
func (p *fixture) testErrors(id, early string) {
	p.t.Helper()
	big := `{"text":"` + strings.Repeat("x", 65<<10) + `"}`
	all := map[string]m{"/preview": {}, "/seats": {"name": "Chen"}}
	maps.Copy(all, roomRoutes)
	for path, in := range all {
		p.assertError(id, path, withSeatKey("short", in), 400, "invalid_request")
		p.assertError(id, path, big, 413, "body_too_large")
		res := p.checker.Do(p.t, http.MethodPost, "/api/join/rooms/"+id+path,
			http.Header{"Content-Type": {"text/plain"}}, []byte(`{}`))
		if res.StatusCode != http.StatusUnsupportedMediaType {
			p.t.Errorf("text/plain: %d", res.StatusCode)
		}
		p.assertError(storetest.NewID(), path, withSeatKey(otherKey, in), 404, "room_not_found")
		p.guesses.over.Store(true)
		p.assertError(storetest.NewID(), path, withSeatKey(otherKey, in), 429, "too_many_attempts")
		p.guesses.over.Store(false)
		if path != "/preview" && path != "/seats" {
			p.assertError(id, path, in, 400, "invalid_request")
			p.assertError(id, path, withSeatKey(otherKey, in), 403, "not_in_room")
			p.assertError(early, path, withSeatKey(hostKey, in), 409, "room_not_open")
		}
		if !slices.Contains(guestRoutes, path) {
			p.assertError(id, path, withSeatKey(guestKey, in), 403, "not_host")
		}
	}
	for _, c := range []struct {
		path string
		in   m
	}{
		{"/breakouts", m{"names": []string{}}}, {"/breakouts", m{"names": []string{""}}}, {"/breakouts", m{"names": []string{strings.Repeat("x", 61)}}},
		{"/breakouts", m{"names": make([]string, 17)}}, {"/breakouts", m{"names": []string{"One"}, "assign": m{"somebody": 1}}}, {"/breakouts", m{"names": "One"}},
		{"/mute", m{"identity": 1}}, {"/unmute", m{}}, {"/remove", m{}}, {"/readmit", m{}}, {"/locks", m{}}, {"/locks", m{"locks": m{"camera": "yes"}}},
		{"/role", m{"role": "cohost"}}, {"/role", m{"identity": "somebody", "role": "host"}}, {"/remove", m{"identity": p.host}}, {"/role", m{"identity": p.host, "role": "guest"}},
		{"/move", m{}}, {"/move", m{"to": "1"}}, {"/broadcast", m{}}, {"/broadcast", m{"text": strings.Repeat("x", 501)}},
		{"/waiting/admit", m{"identity": 7}}, {"/waiting/turn-away", m{}}, {"/invitations", m{}}, {"/invitations", m{"role": "host"}}, {"/locks", m{"locks": m{"waiting_room": 1}}},
		{"/react", m{}}, {"/react", m{"reaction": "fireworks"}}, {"/hand/lower", m{"identity": 7}},
	} {
		p.assertError(id, c.path, withSeatKey(hostKey, c.in), 400, "invalid_request")
	}
	p.engine.unavailable = true
	p.assertError(id, "/broadcast", withSeatKey(hostKey, roomRoutes["/broadcast"]), 503, "unavailable")
	p.assertError(id, "/react", withSeatKey(hostKey, roomRoutes["/react"]), 503, "unavailable")
	p.engine.unavailable = false
	for _, path := range []string{"/mute", "/unmute", "/remove", "/readmit", "/role", "/waiting/admit",
		"/waiting/turn-away"} {
		p.assertError(id, path, withSeatKey(hostKey, m{"identity": "nobody", "role": "cohost"}), 404, "seat_not_found")
	}

	// Errors of a project that requires invitations.
	projects := project.NewService(p.db, time.Now, storetest.NewID, func(string) {})
	if err := projects.Configure(p.t.Context(), p.project.ID, project.Settings{InvitationsRequired: true}); err != nil {
		p.t.Fatal(err)
	}
	p.assertError(id, "/preview", m{"seat_key": otherKey}, 403, "invitation_required")
	p.assertError(id, "/seats", m{"name": "Chen", "seat_key": otherKey}, 403, "invitation_required")
	if status, a := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey}); status != 200 {
		p.t.Errorf("a participant who returns: got %d %+v, want 200", status, a)
	}
	if err := projects.Configure(p.t.Context(), p.project.ID, project.Settings{}); err != nil {
		p.t.Fatal(err)
	}
}

// TestTakeSeat_ExpiredLink checks that an expired link grants no role, and that
// the response reports it as expired.
func TestTakeSeat_ExpiredLink(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	id, _ := p.create(room.Spec{})
	q := room.Invitation{Role: room.CoHost}
	q.ExpiresIn = 1
	link, err := p.Invite(t.Context(), p.project, id, q)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#t=")
	deadline := time.Now().Add(5 * time.Second)
	status, a := p.send(id, "/preview", m{"link": token})
	for a.You.Link != "expired" && time.Now().Before(deadline) {
		status, a = p.send(id, "/preview", m{"link": token})
	}
	if status != 200 || a.You.Link != "expired" || a.You.Role != "guest" {
		t.Errorf("%d %+v", status, a.You)
	}
	if a := p.assertError(id, "/seats", m{"name": "Ben", "seat_key": guestKey, "link": token, "role": "cohost"}, 409,
		"link_taken"); a.Error.Message != "this link has expired" {
		t.Errorf("%+v", a.Error)
	}
}

// TestPreview_MaySendByRole checks that the preview reports what the visitor may
// send in the role that the link grants.
func TestPreview_MaySendByRole(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.project.Settings.Features.NoScreenShare, p.project.Settings.Locks = true,
		project.Locks{Microphone: true, Camera: true, Chat: true}
	id, link := p.create(room.Spec{})
	wantFeatures := m{"camera": true, "screen_share": false, "chat": true}
	for in, want := range map[string]m{
		"":   {"microphone": false, "camera": false, "screen_share": false, "chat": false},
		link: {"microphone": true, "camera": true, "screen_share": false, "chat": true},
	} {
		if status, a := p.send(id, "/preview", m{"link": in}); status != 200 ||
			!reflect.DeepEqual(a.You.MaySend, want) || !reflect.DeepEqual(a.Features, wantFeatures) {
			t.Errorf("%d %s: %v, may send %v, want %v", status, a.You.Role, a.Features, a.You.MaySend, want)
		}
	}
}
