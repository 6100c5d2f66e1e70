package room_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// assertKnocks asks for a seat and fails unless the visitor has to wait.
func (f *fixture) assertKnocks(t testing.TB, id string, v room.JoinRequest) {
	t.Helper()
	a, err := f.ReserveSeat(context.Background(), id, v)
	if err != nil || a.RetryAfter != 2*time.Second || a.Token != "" || a.Seat.ID != "" {
		t.Errorf("%s asks for a seat: got %+v, error %v, want RetryAfter 2s, no seat and no token", v.Name, a, err)
	}
	if p, err := f.Preview(context.Background(), id, v); err != nil || !p.MustWait {
		t.Errorf("preview of %s: got %+v, error %v, want MustWait", v.Name, p, err)
	}
}

// createWithWaitingRoom creates a room with its waiting room on and a connected host.
func (f *fixture) createWithWaitingRoom(t testing.TB, max int) (id, link string, host room.Admission) {
	t.Helper()
	f.configureProject(t, project.Settings{HiddenParticipants: true, Locks: project.Locks{WaitingRoom: true}})
	id, link = f.create(t, room.Spec{MaxParticipants: max})
	v := guest(1)
	v.LinkToken = link
	return id, link, f.enter(t, id, v, "PA_1")
}

// waitingKnocks returns the names and ids of the waiting visitors as the host sees
// them.
func (f *fixture) waitingKnocks(t testing.TB, id string) (names, ids []string) {
	t.Helper()
	p, err := f.People(context.Background(), id, guest(1).SeatKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.Waiting {
		names, ids = append(names, k.Name), append(ids, k.ID)
	}
	return names, ids
}

// A waiting visitor has no seat until a host lets them in. After that they can join
// and return, also to another process.
func TestWaitingRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _, ada := f.createWithWaitingRoom(t, 5)
	assertWaiting := func(want int) {
		t.Helper()
		if got := f.engine.metadata[ada.SessionID].Waiting; got != want {
			t.Errorf("metadata.Waiting: got %d, want %d", got, want)
		}
	}
	before, tokens := f.eventTypes(t, id), len(f.engine.tokenSpecs)
	for n := 2; n <= 4; n++ {
		f.assertKnocks(t, id, guest(n))
		f.clock.advance(time.Millisecond)
		assertWaiting(n - 1)
	}
	names, ids := f.waitingKnocks(t, id)
	if !slices.Equal(names, []string{"Guest 2", "Guest 3", "Guest 4"}) {
		t.Errorf("waiting visitors: got %q, want Guest 2, Guest 3, Guest 4", names)
	}
	if o, err := f.db.Occupancy(ctx, id); err != nil || o.Taken != 1 || len(f.engine.tokenSpecs) != tokens ||
		len(f.eventTypes(t, id)) != len(before) {
		t.Errorf("after three knocks: got %+v, error %v, %d tokens, %d events, want 1 taken seat, %d tokens, %d events",
			o, err, len(f.engine.tokenSpecs), len(f.eventTypes(t, id)), tokens, len(before))
	}

	// A guest can neither accept nor deny, and the errors reveal nothing.
	for _, key := range []string{guest(2).SeatKey, guest(9).SeatKey} {
		assertError(t, f.Admit(ctx, id, key, ids[0]), fault.Forbidden, "not_in_room", "you are not in this room")
		assertError(t, f.Admit(ctx, id, key, ""), fault.Forbidden, "not_in_room", "you are not in this room")
		assertError(t, f.Deny(ctx, id, key, ids[0]), fault.Forbidden, "not_in_room", "you are not in this room")
	}
	assertError(t, f.Admit(ctx, id, guest(1).SeatKey, ada.Seat.ID), fault.NotFound, "seat_not_found",
		"no participant in this room has this identity")

	if err := f.Admit(ctx, id, guest(1).SeatKey, ids[0]); err != nil {
		t.Fatal(err)
	}
	assertWaiting(2)
	if err := f.Deny(ctx, id, guest(1).SeatKey, ids[1]); err != nil {
		t.Fatal(err)
	}
	assertWaiting(1)
	f.restart()
	ada = f.enter(t, id, guest(1), "PA_2")
	if p, err := f.Preview(ctx, id, guest(2)); err != nil || p.MustWait || !p.Returning {
		t.Errorf("preview of an accepted visitor: got %+v, error %v, want Returning and not MustWait", p, err)
	}
	ben := f.enter(t, id, guest(2), "PA_3")
	if ben.Seat.ID != ids[0] || ben.Seat.Role != room.Guest {
		t.Errorf("seat of the accepted visitor: got %+v, want ID %s and role %q", ben.Seat, ids[0], room.Guest)
	}
	if len(ada.Seat.ID) != 20 || len(ben.Seat.ID) != 20 {
		t.Errorf("IDs of seats: got %s and %s, want compact ones of 20 characters", ada.Seat.ID, ben.Seat.ID)
	}
	assertError(t, f.Admit(ctx, id, guest(2).SeatKey, ids[2]), fault.Forbidden, "not_host", notHost)
	assertError(t, f.Deny(ctx, id, guest(2).SeatKey, ids[2]), fault.Forbidden, "not_host", notHost)
	f.leave(ben, "PA_3", room.LeftByChoice)
	if again, err := f.ReserveSeat(ctx, id, guest(2)); err != nil || again.Seat.ID != ben.Seat.ID {
		t.Errorf("accepted visitor who returns: got %+v, error %v, want seat %s", again, err, ben.Seat.ID)
	}

	// A denied visitor gets the reason and may ask again after a minute.
	assertDenied := func(err error) {
		t.Helper()
		assertError(t, err, fault.Forbidden, "turned_away", "the host did not admit you, you can ask again in two minutes")
		if wait := fault.From(err).RetryAfter; wait != room.KnockDenialTTL {
			t.Errorf("RetryAfter of a denied visitor: got %s, want %s", wait, room.KnockDenialTTL)
		}
	}
	_, err := f.ReserveSeat(ctx, id, guest(3))
	assertDenied(err)
	_, err = f.Preview(ctx, id, guest(3))
	assertDenied(err)
	assertError(t, f.Admit(ctx, id, guest(1).SeatKey, ids[1]), fault.NotFound, "seat_not_found",
		"no participant in this room has this identity")
	for range 2 { // the fourth goes on asking
		f.clock.advance(room.KnockDenialTTL / 2)
		f.assertKnocks(t, id, guest(4))
		f.Sweep(ctx)
	}
	f.assertKnocks(t, id, guest(3))
	if names, _ := f.waitingKnocks(t, id); !slices.Equal(names, []string{"Guest 4", "Guest 3"}) {
		t.Errorf("waiting visitors: got %q, want Guest 4, Guest 3", names)
	}

	// A knock expires when the visitor stops asking, and takes over a new name.
	f.clock.advance(room.KnockTTL - time.Second)
	renamed := guest(3)
	renamed.Name = "Chen"
	f.assertKnocks(t, id, renamed)
	f.clock.advance(2 * time.Second)
	f.Sweep(ctx)
	if names, _ := f.waitingKnocks(t, id); !slices.Equal(names, []string{"Chen"}) {
		t.Errorf("waiting visitors: got %q, want only Chen", names)
	}
	assertWaiting(1)
	if rows, err := f.db.Knocks(ctx, id); err != nil || len(rows) != 1 {
		t.Errorf("stored knocks: got %+v, error %v, want one", rows, err)
	}

	// Turning the waiting room off admits all waiting visitors.
	off, on := false, true
	for _, to := range []*bool{&off, &on} {
		if err := f.UpdateLocks(ctx, id, guest(1).SeatKey, room.LockChange{WaitingRoom: to}); err != nil {
			t.Fatal(err)
		}
	}
	assertWaiting(0)
	f.enter(t, id, guest(3), "PA_4")
	f.assertKnocks(t, id, guest(5))
	if err := f.EndByHost(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	if rows, err := f.db.Knocks(ctx, id); err != nil || len(rows) != 0 {
		t.Errorf("stored knocks after the end of the room: got %+v, error %v, want none", rows, err)
	}
}

// Browsers run a page in the background once a minute. Its visitor stays one person with one
// knock, is admitted with the next request, and is forgotten at once when the page is closed.
func TestWaitingRoom_BackgroundPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _, host := f.createWithWaitingRoom(t, 5)
	f.assertKnocks(t, id, guest(2))
	_, first := f.waitingKnocks(t, id)
	for range 5 {
		f.clock.advance(65 * time.Second)
		f.Sweep(ctx)
		if names, ids := f.waitingKnocks(t, id); !slices.Equal(ids, first) || !slices.Equal(names, []string{"Guest 2"}) {
			t.Fatalf("waiting visitors: got %q %q, want Guest 2 %q", names, ids, first)
		}
		f.assertKnocks(t, id, guest(2))
	}
	if err := f.Admit(ctx, id, guest(1).SeatKey, first[0]); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(65 * time.Second)
	f.Sweep(ctx)
	if ben := f.enter(t, id, guest(2), "PA_2"); ben.Seat.ID != first[0] {
		t.Errorf("seat of the visitor who was admitted while their page slept: got %q, want %q", ben.Seat.ID, first[0])
	}

	f.assertKnocks(t, id, guest(3))
	for range 2 { // the second time nobody waits
		if err := f.StopWaiting(ctx, id, guest(3).SeatKey); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := f.waitingKnocks(t, id); len(names) != 0 || f.engine.metadata[host.SessionID].Waiting != 0 {
		t.Errorf("waiting visitors after one has closed the page: got %q, want none", names)
	}

	// A denial is not taken back by closing the page.
	f.assertKnocks(t, id, guest(4))
	_, ids := f.waitingKnocks(t, id)
	if err := f.Deny(ctx, id, guest(1).SeatKey, ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := f.StopWaiting(ctx, id, guest(4).SeatKey); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(65 * time.Second)
	f.Sweep(ctx)
	_, err := f.ReserveSeat(ctx, id, guest(4))
	assertError(t, err, fault.Forbidden, "turned_away", "the host did not admit you, you can ask again in two minutes")
}

// A visitor is told whether a host is there to let them in.
func TestWaitingRoom_HostPresent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _, host := f.createWithWaitingRoom(t, 5)
	check := func(want bool) {
		t.Helper()
		a, err := f.ReserveSeat(ctx, id, guest(2))
		if err != nil || a.HostPresent != want {
			t.Errorf("knock: got HostPresent %t, %v, want %t", a.HostPresent, err, want)
		}
		p, err := f.Preview(ctx, id, guest(2))
		if err != nil || p.HostPresent != want {
			t.Errorf("preview: got HostPresent %t, %v, want %t", p.HostPresent, err, want)
		}
	}
	check(true)
	f.leave(host, "PA_1", room.LeftByChoice)
	check(false)
}

// A personal link admits its visitor without waiting, a link for many does not. If
// invitations are required, a visitor needs a link even to knock.
func TestWaitingRoom_PersonalLinkBypasses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, link, _ := f.createWithWaitingRoom(t, 20)
	n := 10
	comes := func(link string) (room.Admission, error) {
		n++
		v := guest(n)
		v.LinkToken = link
		p, perr := f.Preview(ctx, id, v)
		a, err := f.ReserveSeat(ctx, id, v)
		if (perr == nil) != (err == nil) || err == nil && p.MustWait != (a.RetryAfter > 0) {
			t.Errorf("visitor with the link token %q: got preview %+v, error %v, and seat %+v, error %v, "+
				"want the same from both: an error, a wait or a seat", link, p, perr, a, err)
		}
		return a, err
	}
	many := f.invite(t, id, room.Invitation{Role: room.Guest})
	for what, c := range map[string]struct {
		link  string
		waits bool
	}{
		"no link":           {"", true},
		"a guessed link":    {"guessed", true},
		"for many":          {many, true},
		"used by another":   {link, true},
		"for one":           {f.invite(t, id, room.Invitation{Role: room.Guest, SingleUse: true}), false},
		"for a person":      {f.invite(t, id, room.Invitation{Role: room.Guest, UserID: "ben"}), false},
		"hidden":            {f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true}), false},
		"a co-host's":       {f.invite(t, id, room.Invitation{Role: room.CoHost}), false},
		"another host's":    {f.invite(t, id, room.Invitation{Role: room.Host, SingleUse: true}), false},
		"the host's person": {f.invite(t, id, room.Invitation{Role: room.Guest, UserID: "ada"}), false},
	} {
		if a, err := comes(c.link); err != nil || (a.RetryAfter > 0) != c.waits {
			t.Errorf("visitor with link %q: got %+v, error %v, want a wait: %v", what, a, err, c.waits)
		}
	}
	if names, _ := f.waitingKnocks(t, id); len(names) != 4 {
		t.Errorf("waiting visitors: got %q, want four", names)
	}
	// A waiting visitor who opens a personal link is admitted and waits no longer.
	n++
	v := guest(n)
	f.assertKnocks(t, id, v)
	v.LinkToken = f.invite(t, id, room.Invitation{Role: room.CoHost})
	f.enter(t, id, v, "PA_2")
	if names, _ := f.waitingKnocks(t, id); len(names) != 4 {
		t.Errorf("waiting visitors after one joined with a personal link: got %q, want four", names)
	}
	f.configureProject(t, project.Settings{InvitationsRequired: true})
	if _, err := comes(""); fault.From(err).Code != "invitation_required" {
		t.Errorf("visitor without an invitation: got error %v, want invitation_required", err)
	}
	if a, err := comes(many); err != nil || a.RetryAfter == 0 {
		t.Errorf("visitor with a link for many: got %+v, error %v, want RetryAfter above 0", a, err)
	}
	if _, err := f.ReserveSeat(ctx, id, guest(1)); err != nil {
		t.Error(err)
	}
}

// The number of waiting visitors is limited, and new visitors do not displace others.
// An accepted visitor is refused if the room is full.
func TestWaitingRoom_Limits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _, _ := f.createWithWaitingRoom(t, 2)
	for n := range room.MaxWaiting {
		f.assertKnocks(t, id, guest(100+n))
	}
	_, err := f.ReserveSeat(ctx, id, guest(99))
	assertError(t, err, fault.Conflict, "waiting_room_full",
		"too many people are already waiting for this room, try again in a moment")
	f.clock.advance(room.KnockTTL - time.Millisecond)
	f.assertKnocks(t, id, guest(100))
	f.clock.advance(time.Millisecond)
	f.assertKnocks(t, id, guest(99))
	if names, _ := f.waitingKnocks(t, id); !slices.Equal(names, []string{"Guest 100", "Guest 99"}) {
		t.Errorf("waiting visitors: got %q, want Guest 100, Guest 99", names)
	}
	if err := f.Admit(ctx, id, guest(1).SeatKey, ""); err != nil {
		t.Fatal(err)
	}
	f.enter(t, id, guest(99), "PA_2")
	_, err = f.ReserveSeat(ctx, id, guest(100))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 2 seats are taken")
}

// A seat that was reserved before the waiting room was on, and never connected, does not let
// its visitor pass.
func TestWaitingRoom_SeatReservedBefore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 5})
	in := f.enter(t, id, guest(2), "PA_2")
	if _, err := f.ReserveSeat(ctx, id, guest(3)); err != nil {
		t.Fatal(err)
	}
	on := true
	if err := f.UpdateLocks(ctx, id, guest(1).SeatKey, room.LockChange{WaitingRoom: &on}); err != nil {
		t.Fatal(err)
	}
	f.assertKnocks(t, id, guest(3))
	if o, err := f.db.Occupancy(ctx, id); err != nil || o.Taken != 2 {
		t.Errorf("got %+v, error %v, want 2 taken seats", o, err)
	}
	_, ids := f.waitingKnocks(t, id)
	if err := f.Admit(ctx, id, guest(1).SeatKey, ids[0]); err != nil {
		t.Fatal(err)
	}
	f.enter(t, id, guest(3), "PA_3")
	// A participant who was in the room a moment ago returns without waiting, and later waits,
	// unless a host has let the participant in.
	f.leave(in, "PA_2", room.LeftByChoice)
	f.clock.advance(59 * time.Second)
	in = f.enter(t, id, guest(2), "PA_4")
	f.leave(in, "PA_4", room.LeftByChoice)
	let := f.enter(t, id, guest(3), "PA_5")
	f.leave(let, "PA_5", room.LeftByChoice)
	f.clock.advance(time.Minute)
	f.assertKnocks(t, id, guest(2))
	f.enter(t, id, guest(3), "PA_6")
}

// A hidden link and a hidden seat end with the setting of the project.
func TestHiddenParticipants_TurnedOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 5})
	watcher, other := guest(2), guest(3)
	watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	other.LinkToken = watcher.LinkToken
	f.enter(t, id, watcher, "PA_2")
	f.configureProject(t, project.Settings{})
	withoutLink := watcher
	withoutLink.LinkToken = ""
	for _, v := range []room.JoinRequest{watcher, other, withoutLink} {
		_, err := f.ReserveSeat(ctx, id, v)
		assertError(t, err, fault.Forbidden, "hidden_participants_off",
			"the project does not allow hidden participants any more")
	}
	f.enter(t, id, guest(4), "PA_4")
}

// Links created by hosts and co-hosts in the room are valid while their creators are
// hosts or co-hosts.
func TestCreateInvitation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 200})
	f.enter(t, id, guest(2), "PA_2")
	f.configureProject(t, project.Settings{InvitationsRequired: true})
	made := func(key string, role room.Role) string {
		t.Helper()
		link, err := f.CreateInvitation(ctx, id, key, role)
		if err != nil {
			t.Fatal(err)
		}
		return linkToken(link)
	}
	comes := func(n int, link string) (room.Role, string) {
		v := guest(n)
		v.LinkToken = link
		a, err := f.ReserveSeat(ctx, id, v)
		if err != nil {
			return "", fault.From(err).Code
		}
		return a.Seat.Role, ""
	}
	is := func(n int, link string, want room.Role, code string) {
		t.Helper()
		if got, refusal := comes(n, link); got != want || refusal != code {
			t.Errorf("browser %d: got %q (%s), want %q (%s)", n, got, refusal, want, code)
		}
	}
	_, err := f.CreateInvitation(ctx, id, guest(2).SeatKey, room.Guest)
	assertError(t, err, fault.Forbidden, "not_host", notHost)
	_, err = f.CreateInvitation(ctx, id, guest(9).SeatKey, room.Guest)
	assertError(t, err, fault.Forbidden, "not_in_room", "you are not in this room")
	_, err = f.CreateInvitation(ctx, id, guest(1).SeatKey, room.Host)
	assertError(t, err, fault.Invalid, "invalid_request", "role must be cohost or guest")

	guests, one := made(guest(1).SeatKey, room.Guest), made(guest(1).SeatKey, room.CoHost)
	is(3, guests, room.Guest, "")
	is(4, guests, room.Guest, "")
	is(5, one, room.CoHost, "")
	is(6, one, "", "invitation_required")
	is(7, "", "", "invitation_required")

	// Links of a co-host become invalid when the co-host is demoted or removed.
	guests, one = made(guest(5).SeatKey, room.Guest), made(guest(5).SeatKey, room.CoHost)
	taken := made(guest(5).SeatKey, room.CoHost)
	is(8, guests, room.Guest, "")
	is(9, taken, room.CoHost, "")
	seat, err := f.ReserveSeat(ctx, id, guest(5))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetRole(ctx, id, guest(1).SeatKey, seat.Seat.ID, room.Guest); err != nil {
		t.Fatal(err)
	}
	is(10, guests, "", "invitation_required")
	is(10, one, "", "invitation_required")
	is(8, guests, room.Guest, "")
	is(9, taken, room.Guest, "") // the role goes with that of the co-host who gave it
	co, _ := f.ReserveSeat(ctx, id, func() room.JoinRequest {
		v := guest(11)
		v.LinkToken = made(guest(1).SeatKey, room.CoHost)
		return v
	}())
	// Only a host gives the role back.
	err = f.SetRole(ctx, id, guest(11).SeatKey, seat.Seat.ID, room.CoHost)
	assertError(t, err, fault.Forbidden, "not_host", "only a host may make this participant a co-host again")
	if err := f.SetRole(ctx, id, guest(1).SeatKey, seat.Seat.ID, room.CoHost); err != nil || co.Seat.Role != room.CoHost {
		t.Errorf("the host: got error %v, want none", err)
	}

	for range 100 - 6 {
		made(guest(1).SeatKey, room.Guest)
	}
	_, err = f.CreateInvitation(ctx, id, guest(1).SeatKey, room.Guest)
	assertError(t, err, fault.Conflict, "too_many_invitations",
		"hosts may create at most 100 links in a room: use one of the existing links")
	f.invite(t, id, room.Invitation{Role: room.Guest}) // the integrator's are not counted
}
