package join_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/project"
	"parley/internal/room"
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
var guestRoutes = []string{"/preview", "/check", "/seats", "/move", "/hand/raise", "/hand/lower", "/react",
	"/waiting/stop"}

func TestContract(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	id, link := p.create(room.Spec{BreakoutRooms: 2})
	start := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	early, earlyLink := p.create(room.Spec{StartAt: start})

	// Joining.
	if status, a := p.send(id, "/preview", m{"link": link}); status != 200 || a.You.Role != "host" ||
		a.You.Link != "ok" || a.OpensAt != nil || a.Features["camera"] != true {
		t.Fatalf("preview with a host link: got %d %+v, want 200 and a host", status, a)
	}
	status, host := p.send(id, "/seats", m{"name": "Ada", "seat_key": hostKey, "link": link, "role": "host"})
	if status != 200 || host.Role != "host" || host.MaxBreakouts != 2 || host.Features["camera"] != true ||
		host.Breakout != nil {
		t.Fatalf("seat with a host link: got %d %+v, want 200 and a host", status, host)
	}
	status, guest := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey})
	if status != 200 || guest.Role != "guest" {
		t.Fatalf("seat without a link: got %d %+v, want 200 and a guest", status, guest)
	}
	p.host = host.Identity
	p.assertError(id, "/seats", m{"name": "Chen", "seat_key": otherKey, "link": link, "role": "host"}, 409,
		"link_taken")
	// Before the start.
	for in, want := range map[string]time.Time{"": start, earlyLink: start.Add(-10 * time.Minute)} {
		if status, a := p.send(early, "/preview", m{"link": in}); status != 200 || a.OpensAt == nil ||
			!a.OpensAt.Equal(want) {
			t.Errorf("preview by the link %q: got %d, opens at %v, want 200, %s", in, status, a.OpensAt, want)
		}
	}
	p.assertError(early, "/seats", m{"name": "Ada", "seat_key": hostKey, "link": earlyLink}, 409, "room_not_open")

	// Actions of participants.
	status, opened := p.send(id, "/breakouts", withSeatKey(hostKey,
		m{"names": []string{"One", "Two"}, "assign": m{guest.Identity: 1}}))
	if status != 200 || len(opened.Breakouts) != 2 || opened.Breakouts[1]["number"] != 2. ||
		opened.Breakouts[1]["name"] != "Two" {
		t.Errorf("open breakouts: got %d %+v, want 200, One and Two", status, opened)
	}
	if status, a := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey}); status != 200 ||
		a.Breakout["name"] != "Two" || a.SessionID == guest.SessionID {
		t.Errorf("seat of an assigned guest: got %d %+v, want 200 in Two", status, a)
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
	if diff := cmp.Diff(want, list.People); status != 200 || diff != "" {
		t.Errorf("/people: got %d, want 200; people (-want +got):\n%s", status, diff)
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
		t.Errorf("after the breakouts: got %d %+v, want 200 and %s in the main room", status, a, guest.Identity)
	}
	if n := p.guesses.failed.Load(); n > 0 {
		t.Errorf("guesses after errors of participants: got %d, want 0", n)
	}

	p.testLogo(id)
	p.testErrors(id, early)
	p.testConnectionCheck(id, early)
	key := p.testCheckOfOperator()
	p.assertNoContent(id, "/end", withSeatKey(hostKey, nil))
	for path, in := range roomRoutes {
		if a := p.assertError(id, path, withSeatKey(hostKey, in), 410, "room_ended"); a.Error.Reason != "host" {
			t.Errorf("%s: got reason %q, want host", path, a.Error.Reason)
		}
	}
	p.assertError(id, "/seats", m{"name": "Ada", "seat_key": hostKey}, 410, "room_ended")
	p.assertError(id, "/preview", m{}, 410, "room_ended")
	p.assertError(id, "/check", m{}, 410, "room_ended")
	if a := p.assertError(id, "/preview", m{}, 410, "room_ended"); a.Error.Title != "Title" {
		t.Errorf("ended: got title %q, want that of the room", a.Error.Title)
	}
	p.testFeedback(id, early)

	_ = p.db.Close()
	if res := p.getLogo("GET", strings.Repeat("0", 64)); res.StatusCode != 503 {
		t.Errorf("logo without a database: got %d, want 503", res.StatusCode)
	}
	afterwards := maps.Clone(roomRoutes)
	afterwards["/waiting/stop"] = m{}
	for path, in := range afterwards {
		p.assertError(id, path, withSeatKey(hostKey, in), 503, "unavailable")
	}
	p.assertError(id, "/feedback", withSeatKey(hostKey, m{"rating": "good"}), 503, "unavailable")
	p.assertError(id, "/preview", m{}, 503, "unavailable")
	p.assertError(id, "/seats", m{"name": "Ada", "seat_key": hostKey}, 503, "unavailable")
	for path, in := range map[string]m{"": {"code": "c"}, "/token": {"key": key},
		"/report": {"key": key, "paths": m{"udp": m{"offered": true, "works": true}}}} {
		p.assertCheckError(path, in, 503, "unavailable")
	}
	p.checker.AssertCovered()
}

// TestReserveSeat_ExpiredLink checks that an expired link grants no role, and that
// the response reports it as expired.
func TestReserveSeat_ExpiredLink(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	id, _ := p.create(room.Spec{})
	link, err := p.Invite(t.Context(), p.project, id, room.Invitation{Role: room.CoHost, ExpiresIn: 60})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#t=")
	if status, a := p.send(id, "/preview", m{"link": token}); status != 200 || a.You.Link != "ok" ||
		a.You.Role != "cohost" {
		t.Errorf("before the link expires: got %d %+v, want 200 and a co-host", status, a.You)
	}
	p.offset.Store(int64(time.Minute))
	if status, a := p.send(id, "/preview", m{"link": token}); status != 200 || a.You.Link != "expired" ||
		a.You.Role != "guest" {
		t.Errorf("after the link has expired: got %d %+v, want 200 and a guest", status, a.You)
	}
	if a := p.assertError(id, "/seats", m{"name": "Ben", "seat_key": guestKey, "link": token, "role": "cohost"}, 409,
		"link_taken"); a.Error.Message != "this link has expired" {
		t.Errorf("got %+v, want that this link has expired", a.Error)
	}
}

// TestReserveSeat_FullRoom checks that the response for a full room has the number of
// seats, and that the response for too many hidden participants does not.
func TestReserveSeat_FullRoom(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.configure(project.Settings{HiddenParticipants: true})
	id, _ := p.create(room.Spec{})
	for i := range 10 {
		if status, a := p.send(id, "/seats", m{"name": "Ben", "seat_key": seatKey(i)}); status != 200 {
			t.Fatalf("seat %d of 10: got %d %+v, want 200", i+1, status, a.Error)
		}
	}
	a := p.assertError(id, "/seats", m{"name": "Chen", "seat_key": otherKey}, 409, "room_full")
	if got := a.Error.MaxParticipants; got == nil || *got != 10 {
		t.Errorf("full room: got max_participants %v, want 10", got)
	}

	link, err := p.Invite(t.Context(), p.project, id, room.Invitation{Role: room.Guest, Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "#t=")
	hidden := func(i int) m { return m{"name": "Dora", "seat_key": seatKey(100 + i), "link": token} }
	for i := range 16 {
		if status, a := p.send(id, "/seats", hidden(i)); status != 200 {
			t.Fatalf("hidden seat %d of 16: got %d %+v, want 200", i+1, status, a.Error)
		}
	}
	a = p.assertError(id, "/seats", hidden(16), 409, "room_full")
	if a.Error.MaxParticipants != nil {
		t.Errorf("a hidden participant too many: got max_participants %d, want none", *a.Error.MaxParticipants)
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
		status, a := p.send(id, "/preview", m{"link": in})
		if diff := cmp.Diff(want, a.You.MaySend); status != 200 || diff != "" {
			t.Errorf("preview by the link %q: got %d, want 200; may_send (-want +got):\n%s", in, status, diff)
		}
		if diff := cmp.Diff(wantFeatures, a.Features); diff != "" {
			t.Errorf("preview by the link %q: features (-want +got):\n%s", in, diff)
		}
	}
}
