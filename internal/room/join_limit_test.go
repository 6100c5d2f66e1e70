package room_test

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/ratelimit"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

var attacker, elsewhere = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.7")

// newLimitedFixture returns a fixture that limits each address to 60 new seats per
// minute and 25 at once.
func newLimitedFixture(t *testing.T) *fixture {
	f := newFixture(t)
	f.options.JoinLimiter = ratelimit.NewBurstAddressLimiter(60, 25*time.Second, f.clock.Now, nil)
	f.restart()
	return f
}

func withClientAddr(client netip.Addr, v room.JoinRequest) room.JoinRequest {
	v.ClientAddr = client
	return v
}

func hostOf(n int, link string) room.JoinRequest {
	v := guest(n)
	v.LinkToken, v.ExpectedRole = link, room.Host
	return v
}

// flood reserves seats under new keys, ten times a second for 20 seconds, and returns
// how many it got.
func (f *fixture) flood(t *testing.T, id string) (got int) {
	t.Helper()
	for n := range 201 {
		_, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(1000+n)))
		switch e := fault.From(err); {
		case err == nil:
			got++
		case e.Code != "too_many_joins" && e.Code != "room_full", e.Code == "too_many_joins" &&
			(e.Kind != fault.Exhausted || e.RetryAfter <= 0):
			t.Fatalf("guest %d: got error %v, want none, room_full, or too_many_joins with RetryAfter", 1000+n, err)
		}
		if n < 200 {
			f.clock.advance(100 * time.Millisecond)
		}
	}
	return got
}

// countSeats counts the seat rows of a room, taken or free.
func (f *fixture) countSeats(t *testing.T, id string, visitors int) (n int) {
	t.Helper()
	for v := range visitors {
		p, err := f.Preview(t.Context(), id, guest(v))
		if err != nil {
			t.Fatal(err)
		}
		if p.Returning {
			n++
		}
	}
	return n
}

func TestJoinLimiter_FloodLeavesSeatForHost(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 5, 1000} {
		f := newLimitedFixture(t)
		id, link := f.create(t, room.Spec{MaxParticipants: size})
		if got := f.flood(t, id); got > 50 || size == 1000 && got < 40 {
			t.Errorf("a room of %d: got %d seats of one address in 20 s, want at most 50", size, got)
		}
		if a, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, hostOf(1, link))); err != nil ||
			a.Seat.Role != room.Host {
			t.Errorf("a room of %d: host from the same address: got role %q, error %v, want role %q", size, a.Seat.Role, err,
				room.Host)
		}
		if o, err := f.db.Occupancy(t.Context(), id); err != nil || o.Taken > size {
			t.Errorf("a room of %d: taken seats: got %d, error %v, want at most %d", size, o.Taken, err, size)
		}
		if size == 1000 {
			if _, err := f.ReserveSeat(t.Context(), id, withClientAddr(elsewhere, guest(2))); err != nil {
				t.Errorf("a room of %d: guest from another address: got error %v, want none", size, err)
			}
		}
	}
}

// Visitors with a seat or a personal link are admitted from an address that is over
// its limit, and asking again is not counted.
func TestJoinLimiter_AllowsReturningAndInvited(t *testing.T) {
	t.Parallel()
	f := newLimitedFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 1000})
	known := f.enter(t, id, withClientAddr(attacker, guest(1)), "PA_1")
	for range 100 {
		if _, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(1))); err != nil {
			t.Fatal(err)
		}
	}
	f.flood(t, id)
	newcomer := func() error {
		_, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(2)))
		return err
	}
	assertError(t, newcomer(), fault.Exhausted, "too_many_joins",
		"too many people are joining from your network at once, try again in a moment")
	if a, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(1))); err != nil ||
		a.Seat.ID != known.Seat.ID {
		t.Errorf("a participant who returns: got seat %q, error %v, want seat %q", a.Seat.ID, err, known.Seat.ID)
	}
	for n, q := range []room.Invitation{{Role: room.Guest, SingleUse: true}, {Role: room.Guest, UserID: "ben"},
		{Role: room.CoHost}} {
		v := withClientAddr(attacker, guest(10+n))
		v.LinkToken = f.invite(t, id, q)
		if _, err := f.ReserveSeat(t.Context(), id, v); err != nil {
			t.Errorf("visitor with the invitation %+v: got error %v, want none", q, err)
		}
	}
	v := withClientAddr(attacker, guest(20))
	v.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest})
	_, err := f.ReserveSeat(t.Context(), id, v)
	assertError(t, err, fault.Exhausted, "too_many_joins",
		"too many people are joining from your network at once, try again in a moment")
}

// In a room full of connected guests, the host gets the seat of the guest who came
// last, but only if no host is in the room.
func TestFullRoom_HostDisplacesNewestGuest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 3})
	for n := 1; n <= 3; n++ {
		f.enter(t, id, guest(n), []string{"", "PA_1", "PA_2", "PA_3"}[n])
		f.clock.advance(time.Second)
	}
	last, err := f.db.CurrentAttendance(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cohost := f.invite(t, id, room.Invitation{Role: room.CoHost})
	personal := guest(5)
	personal.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, SingleUse: true})
	_, err = f.ReserveSeat(t.Context(), id, personal)
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 3 seats are taken")
	f.enter(t, id, hostOf(4, link), "PA_4")
	if out := f.engine.drainRemoved(); len(out) != 1 || out[0] != last[2].SeatID {
		t.Errorf("removed: got %v, want %s, the newest guest", out, last[2].SeatID)
	}
	rows, err := storetest.Attendance(t.Context(), f.db, id)
	if err != nil || rows[2].LeftAt.IsZero() || rows[2].Reason != room.LeftRemoved {
		t.Errorf("attendance: got %+v, error %v, want row 2 with an end and reason %q", rows, err, room.LeftRemoved)
	}
	kinds := f.eventTypes(t, id)
	if n := len(kinds); kinds[n-2] != event.ParticipantLeft || kinds[n-1] != event.ParticipantJoined {
		t.Errorf("events: got %v, want %s and then %s at the end", kinds, event.ParticipantLeft, event.ParticipantJoined)
	}
	second := guest(6)
	second.LinkToken = cohost
	_, err = f.ReserveSeat(t.Context(), id, second)
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 3 seats are taken")
	_, err = f.ReserveSeat(t.Context(), id, guest(3))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 3 seats are taken")
	if in, err := f.Authorize(t.Context(), room.SessionID(id, 1), last[2].SeatID); err != nil || in.Admitted {
		t.Errorf("displaced guest with the old token: got %+v, error %v, want Admitted false", in, err)
	}
}

// A preview says that the room is full exactly when joining would be refused for it, also to
// visitors who had a seat: one who left, one whose seat went to a host, and one whom a host let in.
func TestPreview_Full(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, link := f.create(t, room.Spec{MaxParticipants: 2})
	first := f.enter(t, id, guest(1), "PA_1")
	f.enter(t, id, guest(2), "PA_2")
	cohost, watcher := guest(5), guest(6)
	cohost.LinkToken = f.invite(t, id, room.Invitation{Role: room.CoHost})
	watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	check := func(when string, want map[string]bool) {
		t.Helper()
		for name, v := range map[string]room.JoinRequest{"guest 1": guest(1), "guest 2": guest(2), "guest 3": guest(3),
			"host": hostOf(4, link), "co-host": cohost, "hidden participant": watcher} {
			if p, err := f.Preview(ctx, id, v); err != nil || p.Full != want[name] {
				t.Errorf("%s, preview of %s: got Full %v, error %v, want Full %v", when, name, p.Full, err, want[name])
			}
		}
	}
	check("two guests in a room for two", map[string]bool{"guest 3": true})
	f.leave(first, "PA_1", room.LeftByChoice)
	check("one guest has left", nil)
	f.enter(t, id, guest(3), "PA_3")
	check("another guest has come", map[string]bool{"guest 1": true})
	_, err := f.ReserveSeat(ctx, id, guest(1))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 2 seats are taken")
	host := f.enter(t, id, hostOf(4, link), "PA_4")
	check("a host has displaced the newest guest", map[string]bool{"guest 1": true, "guest 3": true, "co-host": true})

	on := true
	if err := f.UpdateLocks(ctx, id, guest(4).SeatKey, room.LockChange{WaitingRoom: &on}); err != nil {
		t.Fatal(err)
	}
	f.assertKnocks(t, id, guest(7))
	if p, err := f.Preview(ctx, id, guest(7)); err != nil || !p.Full || !p.MustWait {
		t.Errorf("preview of a waiting visitor: got %+v, error %v, want Full and MustWait", p, err)
	}
	if err := f.Admit(ctx, id, guest(4).SeatKey, ""); err != nil {
		t.Fatal(err)
	}
	if p, err := f.Preview(ctx, id, guest(7)); err != nil || !p.Full || !p.Returning {
		t.Errorf("preview of an admitted visitor: got %+v, error %v, want Full and Returning", p, err)
	}
	f.leave(host, "PA_4", room.LeftByChoice)
	if p, err := f.Preview(ctx, id, guest(7)); err != nil || p.Full {
		t.Errorf("preview of an admitted visitor after a participant left: got %+v, error %v, want not Full", p, err)
	}
}

// An unused seat is freed before that of a connected guest, also for a visitor with a
// personal link.
func TestFullRoom_UnusedSeatDisplacedFirst(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]room.Invitation{"personal": {Role: room.Guest, SingleUse: true},
		"co-host": {Role: room.CoHost}} {
		f := newFixture(t)
		id, _ := f.create(t, room.Spec{MaxParticipants: 3})
		f.enter(t, id, guest(1), "PA_1")
		oldest, err := f.ReserveSeat(t.Context(), id, guest(2))
		if err != nil {
			t.Fatal(err)
		}
		f.clock.advance(time.Second)
		if _, err := f.ReserveSeat(t.Context(), id, guest(3)); err != nil {
			t.Fatal(err)
		}
		v := guest(4)
		v.LinkToken = f.invite(t, id, q)
		if _, err := f.ReserveSeat(t.Context(), id, v); err != nil {
			t.Errorf("visitor with a %s link: got error %v, want none", name, err)
		}
		if _, err := f.db.Seat(t.Context(), id, oldest.Seat.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s link: seat that was unused for the longest time: got error %v, want NotFound", name, err)
		}
	}
}

// One network that reserves all seats and never connects cannot keep a room full for guests from
// other networks. Seats that are used, or reserved a moment ago, stay.
func TestFullRoom_HoardedSeats(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 4})
	f.enter(t, id, withClientAddr(attacker, guest(1)), "PA_1")
	var hoarded []string
	for n := 2; n <= 4; n++ {
		a, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(n)))
		if err != nil {
			t.Fatal(err)
		}
		hoarded = append(hoarded, a.Seat.ID)
		f.clock.advance(time.Second)
	}
	reserve := func(from netip.Addr, n int) error {
		t.Helper()
		p, previewErr := f.Preview(t.Context(), id, withClientAddr(from, guest(n)))
		_, err := f.ReserveSeat(t.Context(), id, withClientAddr(from, guest(n)))
		if full := fault.From(err).Code == "room_full"; previewErr != nil || p.Full != full {
			t.Errorf("preview of guest %d: got Full %v, error %v, want Full %v", n, p.Full, previewErr, full)
		}
		return err
	}
	assertError(t, reserve(elsewhere, 5), fault.Conflict, "room_full", "this room is full: all 4 seats are taken")
	// Their holder asks for them again and again.
	f.clock.advance(11 * time.Second)
	for n := 2; n <= 4; n++ {
		if err := reserve(attacker, n); err != nil {
			t.Fatal(err)
		}
	}
	f.clock.advance(3 * time.Second)
	assertError(t, reserve(attacker, 6), fault.Conflict, "room_full", "this room is full: all 4 seats are taken")
	if err := reserve(elsewhere, 5); err != nil {
		t.Fatalf("guest from another network: got error %v, want none", err)
	}
	if _, err := f.db.Seat(t.Context(), id, hoarded[0]); !fault.Is(err, fault.NotFound) {
		t.Errorf("oldest unused seat: got error %v, want NotFound", err)
	}
	// Now the networks have two unused seats and one.
	assertError(t, reserve(elsewhere, 7), fault.Conflict, "room_full", "this room is full: all 4 seats are taken")
	if seats, err := f.db.Seats(t.Context(), id); err != nil || seats[0].Network != "" || seats[1].Network == "" {
		t.Errorf("networks of the seats: got %+v, %v, want one only until the first connection", seats, err)
	}
}

// The row of an unused seat is deleted when its reservation expires. Rows of
// participants who were connected, let in or invited remain.
func TestUnusedSeat_DeletedAfterReservation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 10, EmptyTimeout: time.Hour})
	f.leave(f.enter(t, id, guest(0), "PA_0"), "PA_0", room.LeftByChoice)
	for n := 1; n <= 5; n++ {
		v := guest(n)
		switch n {
		case 1:
			v.LinkToken = link
		case 2:
			v.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, SingleUse: true})
		}
		if _, err := f.ReserveSeat(t.Context(), id, v); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.countSeats(t, id, 6); n != 6 {
		t.Fatalf("seats: got %d rows, want 6", n)
	}
	f.clock.advance(20 * time.Second)
	f.Sweep(t.Context())
	if n := f.countSeats(t, id, 6); n != 3 {
		t.Errorf("seats after the sweep: got %d rows, want 3: connected, host and invited", n)
	}
}

// A visitor who asks again and again without connecting is counted, and loses the
// seat when the address is over its limit.
func TestReservation_RenewalCountsAgainstLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.JoinLimiter = ratelimit.NewBurstAddressLimiter(1, time.Second, f.clock.Now, nil)
	f.restart()
	id, _ := f.create(t, room.Spec{MaxParticipants: 1, EmptyTimeout: time.Hour})
	first, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(1)))
	if err != nil {
		t.Fatal(err)
	}
	f.clock.advance(19 * time.Second)
	if a, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(1))); err != nil ||
		a.Seat.ID != first.Seat.ID {
		t.Fatalf("second request of the same browser: got seat %q, error %v, want seat %q", a.Seat.ID, err, first.Seat.ID)
	}
	f.clock.advance(time.Second)
	if _, err := f.ReserveSeat(t.Context(), id, withClientAddr(elsewhere, guest(2))); err != nil {
		t.Errorf("guest after the reservation expired: got error %v, want none", err)
	}
}

// An unused seat that is held again and again does not keep an empty room open.
func TestUnusedSeat_DoesNotKeepRoomOpen(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 5, EmptyTimeout: time.Second})
		created := time.Now()
		for n := 0; time.Since(created) < 400*time.Second && f.room(t, id).State == room.Open; n++ {
			_, _ = f.ReserveSeat(context.Background(), id, guest(n))
			time.Sleep(5 * time.Second)
		}
		if r := f.room(t, id); r.State != room.Expired || r.EndedAt.Sub(created) > 326*time.Second {
			t.Errorf("got %s after %s, want expired after 320 s", r.State, r.EndedAt.Sub(created))
		}
	})
}

// At most 40 of the 100 waiting visitors may come from one address, or from the IPv6 networks
// of one site.
func TestWaitingRoom_LimitPerNetwork(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(n int) netip.Addr{
		"one address": func(int) netip.Addr { return attacker },
		"one site": func(n int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 7: byte(n), 15: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testWaitingRoomLimit(t, address)
		})
	}
}

func testWaitingRoomLimit(t *testing.T, address func(n int) netip.Addr) {
	f := newLimitedFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 5})
	f.enter(t, id, hostOf(1, link), "PA_1")
	on := true
	if err := f.UpdateLocks(t.Context(), id, guest(1).SeatKey, room.LockChange{WaitingRoom: &on}); err != nil {
		t.Fatal(err)
	}
	waits := map[int]bool{}
	for second := range 60 { // each second everybody asks again, and two more come
		for n := range 2 * (second + 1) {
			a, err := f.ReserveSeat(t.Context(), id, withClientAddr(address(n), guest(100+n)))
			waits[n] = err == nil && a.RetryAfter > 0
			if e := fault.From(err); err != nil && e.Code != "too_many_joins" && e.Code != "waiting_room_full" {
				t.Fatal(err)
			}
		}
		f.clock.advance(time.Second)
	}
	n := 0
	for _, in := range waits {
		if in {
			n++
		}
	}
	if n != 40 {
		t.Errorf("waiting visitors: got %d, want 40", n)
	}
	if a, err := f.ReserveSeat(t.Context(), id, withClientAddr(elsewhere, guest(2))); err != nil || a.RetryAfter == 0 {
		t.Errorf("guest from another address: got %+v, error %v, want RetryAfter above 0", a, err)
	}
}

// repeatingStore runs the work of each transaction twice, and keeps the changes of the second run.
type repeatingStore struct{ *store.DB }

// Write implements room.Store.
func (s repeatingStore) Write(ctx context.Context, work func(ctx context.Context) error) error {
	errRepeat := errors.New("repeat")
	err := s.DB.Write(ctx, func(ctx context.Context) error { return cmp.Or(work(ctx), errRepeat) })
	if !errors.Is(err, errRepeat) {
		return err
	}
	return s.DB.Write(ctx, work)
}

// A transaction that runs twice takes one token of each limit.
func TestLimits_RepeatedTransaction(t *testing.T) {
	t.Parallel()
	f := newLimitedFixture(t)
	const seats = 25 // that an address gets at once
	id, _ := f.create(t, room.Spec{MaxParticipants: 2 * seats})
	f.Service = room.NewService(repeatingStore{f.db}, f.engine, func() string { return "https://meet.example.org" },
		f.clock.Now, storetest.NewID, discardLogger, f.options)
	for n := range seats {
		if _, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(n))); err != nil {
			t.Fatalf("seat %d: got error %v, want none", n, err)
		}
	}
	_, err := f.ReserveSeat(t.Context(), id, withClientAddr(attacker, guest(seats)))
	assertError(t, err, fault.Exhausted, "too_many_joins",
		"too many people are joining from your network at once, try again in a moment")
	for n := range 5 { // that a participant may raise a hand at once
		if err := f.RaiseHand(t.Context(), id, guest(0).SeatKey); err != nil {
			t.Fatalf("hand %d: got error %v, want none", n, err)
		}
	}
	assertError(t, f.RaiseHand(t.Context(), id, guest(0).SeatKey), fault.Exhausted, "too_often",
		"too many reactions and raised hands, try again in a moment")
}
