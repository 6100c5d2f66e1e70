package room_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// seat returns a participant's seat.
func (f *fixture) seat(t testing.TB, a room.Admission) room.Seat {
	t.Helper()
	seat, err := f.db.Seat(context.Background(), a.Seat.RoomID, a.Seat.ID)
	if err != nil {
		t.Fatal(err)
	}
	return seat
}

// openBreakout opens a breakout room for these participants, or for all guests.
func (f *fixture) openBreakout(t testing.TB, id string, people ...room.Admission) {
	t.Helper()
	opening := room.OpenBreakoutsRequest{Names: []string{"One"}, DistributeEvenly: len(people) == 0,
		Assign: map[string]int{}}
	for _, p := range people {
		opening.Assign[p.Seat.ID] = 0
	}
	if _, err := f.OpenBreakouts(context.Background(), id, guest(1).SeatKey, opening); err != nil {
		t.Fatal(err)
	}
}

// In a full room, all participants of breakout rooms return to their own seats: those
// who moved there, were assigned but had not moved yet, or were already returning.
func TestCloseBreakouts_ReturnsEveryoneToOwnSeat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, link := f.create(t, room.Spec{MaxParticipants: 4, BreakoutRooms: 2})
	key := guest(1).SeatKey
	boss := f.enter(t, id, host(1, link), "PA_1")
	went, called, back := f.enter(t, id, guest(2), "PA_2"), f.enter(t, id, guest(3), "PA_3"),
		f.enter(t, id, guest(4), "PA_4")
	opened, err := f.OpenBreakouts(ctx, id, key,
		room.OpenBreakoutsRequest{Names: []string{"One", "Two"}, DistributeEvenly: true})
	if err != nil || len(opened) != 2 || opened[0].N != 1 || opened[1].Name != "Two" {
		t.Fatalf("breakout rooms: got %+v, error %v, want two, the first with number 1 and the second with name Two",
			opened, err)
	}
	if places := []int{f.seat(t, boss).Breakout, f.seat(t, went).Breakout, f.seat(t, called).Breakout,
		f.seat(t, back).Breakout}; !slices.Equal(places, []int{0, 1, 2, 1}) {
		t.Errorf("breakout rooms: got %v, want 0, 1, 2, 1", places)
	}
	last := f.engine.messages[len(f.engine.messages)-1]
	if slices.Sort(last.identities); last.session != boss.SessionID || len(last.identities) != 3 ||
		last.message.Kind != room.MessageMove {
		t.Errorf("last message: got %+v, want %s to three participants of session %s", last, room.MessageMove, boss.SessionID)
	}
	for n, a := range map[int]*room.Admission{2: &went, 4: &back} {
		old := *a
		*a = f.enter(t, id, guest(n), old.Seat.ID)
		f.leave(old, map[int]string{2: "PA_2", 4: "PA_4"}[n], room.LeftByChoice)
	}
	if i := f.engine.metadata[went.SessionID]; i.Breakout != 1 || len(i.Breakouts) != 2 {
		t.Errorf("metadata of breakout room 1: got %+v, want Breakout 1 and a list of two breakout rooms", i)
	}
	if err := f.Move(ctx, id, guest(4).SeatKey, "", 0); err != nil { // and has not gone yet
		t.Fatal(err)
	}
	if err := f.CloseBreakouts(ctx, id, key); err != nil {
		t.Fatal(err)
	}
	f.Sweep(ctx)
	for _, a := range []room.Admission{went, back} {
		f.leave(a, a.Seat.ID, room.LeftRoomOver)
	}
	f.clock.advance(59 * time.Second)
	_, err = f.ReserveSeat(ctx, id, guest(5))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 4 seats are taken")
	for n, a := range map[int]room.Admission{2: went, 4: back} {
		if again := f.enter(t, id, guest(n), "PA_again_"+a.Seat.ID); again.Seat.ID != a.Seat.ID ||
			again.SessionID != boss.SessionID || again.Breakout.N != 0 {
			t.Errorf("guest %d returns after the breakout rooms closed: got %+v, want seat %s, session %s, no breakout room", n,
				again, a.Seat.ID, boss.SessionID)
		}
	}
	// A participant who never moved keeps the seat without asking for it.
	f.clock.advance(time.Hour)
	f.Sweep(ctx)
	if s := f.seat(t, called); s.State != room.Joined || s.Breakout != 0 || !s.HeldUntil.IsZero() {
		t.Errorf("seat of a participant who never moved: got %+v, want state %s, no breakout room and no HeldUntil", s,
			room.Joined)
	}
	rows, err := storetest.Attendance(ctx, f.db, id)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[room.LeaveReason]int{}
	for _, a := range rows {
		reasons[a.Reason]++
	}
	if reasons[room.LeftMoved] != 4 || reasons[""] != 4 || len(rows) != 8 {
		t.Errorf("leave reasons: got %v in %d rows, want 4 times %q and 4 times no reason in 8 rows", reasons, len(rows),
			room.LeftMoved)
	}
}

// A connected participant who asks for the seat again, like a reloaded page, keeps it
// even if the leave of the old connection is reported later.
func TestParticipantLeft_LateGoodbyeKeepsRequestedSeat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 1})
	a := f.enter(t, id, guest(1), "PA_1")
	if _, err := f.ReserveSeat(t.Context(), id, guest(1)); err != nil {
		t.Fatal(err)
	}
	f.leave(a, "PA_1", room.LeftByChoice)
	_, err := f.ReserveSeat(t.Context(), id, guest(2))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
	f.leave(f.enter(t, id, guest(1), "PA_2"), "PA_2", room.LeftByChoice)
	f.enter(t, id, guest(2), "PA_3") // that was a goodbye
}

// A participant who leaves one session before joining the other has moved.
func TestParticipantLeft_BeforeJoiningBreakoutIsMove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 3, BreakoutRooms: 1})
	moves, goes := f.enter(t, id, guest(2), "PA_2"), f.enter(t, id, guest(3), "PA_3")
	f.openBreakout(t, id)
	if _, err := f.ReserveSeat(ctx, id, guest(2)); err != nil {
		t.Fatal(err)
	}
	f.leave(moves, "PA_2", room.LeftByChoice)
	f.leave(goes, "PA_3", room.LeftByChoice) // was called, and said goodbye instead
	if s := f.seat(t, moves); s.State != room.Reserved {
		t.Errorf("seat of the participant who moves: got %+v, want state %s", s, room.Reserved)
	}
	if s := f.seat(t, goes); s.State != room.Free {
		t.Errorf("seat of the participant who left the room: got %+v, want state %s", s, room.Free)
	}
	rows, err := storetest.Attendance(ctx, f.db, id)
	if err != nil || rows[1].Reason != room.LeftMoved || rows[2].Reason != room.LeftByChoice {
		t.Errorf("attendance: got %+v, error %v, want reason %q in row 1 and %q in row 2", rows, err, room.LeftMoved,
			room.LeftByChoice)
	}
}

// A participant who asks for the seat in a breakout room but does not move keeps it,
// because every connected participant has a seat.
func TestMove_ParticipantWhoStaysKeepsSeat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 2, BreakoutRooms: 1})
	a := f.enter(t, id, guest(2), "PA_2")
	f.openBreakout(t, id)
	if _, err := f.ReserveSeat(ctx, id, guest(2)); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Hour)
	_, err := f.ReserveSeat(ctx, id, guest(3))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 2 seats are taken")
	f.Sweep(ctx)
	if s := f.seat(t, a); s.State != room.Joined || s.Connection != "PA_2" {
		t.Errorf("seat of the participant who stays: got %+v, want state %s and connection PA_2", s, room.Joined)
	}
	// Each reconciliation requests the move again.
	before := len(f.engine.messages)
	f.Reconcile(ctx)
	if sent := f.engine.messages[before:]; len(sent) != 1 || !slices.Equal(sent[0].identities, []string{a.Seat.ID}) {
		t.Errorf("messages sent by the reconciliation: got %+v, want one, only to %s", sent, a.Seat.ID)
	}
}

// An unreported leave of a closed breakout room is found.
func TestReconcile_FindsLeaveOfClosedBreakout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 2, BreakoutRooms: 1})
	old := f.enter(t, id, guest(2), "PA_2")
	f.openBreakout(t, id)
	f.enter(t, id, guest(2), "PA_3")
	f.leave(old, "PA_2", room.LeftByChoice)
	if err := f.CloseBreakouts(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	f.Sweep(ctx)
	f.Reconcile(ctx)
	f.clock.advance(room.RecheckDelay)
	f.Recheck(ctx)
	present, err := f.db.CurrentAttendance(ctx, id)
	if err != nil || len(present) != 1 || present[0].Connection != "PA_1" {
		t.Errorf("current attendance: got %+v, error %v, want one row with connection PA_1", present, err)
	}
}

// Hosts and co-hosts may manage breakout rooms, guests may only move themselves.
func TestBreakouts_Permissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 5, BreakoutRooms: 2})
	co, _ := f.enterInvited(t, id, 2, room.Invitation{Role: room.CoHost})
	other := f.enter(t, id, guest(3), "PA_3")
	f.leave(f.enter(t, id, guest(4), "PA_4"), "PA_4", room.LeftByChoice)
	open := func(key string) error {
		_, err := f.OpenBreakouts(ctx, id, key, room.OpenBreakoutsRequest{Names: []string{"One"}})
		return err
	}
	acts := map[string]func(key string) error{
		"open":      open,
		"move":      func(key string) error { return f.Move(ctx, id, key, other.Seat.ID, 1) },
		"broadcast": func(key string) error { return f.Broadcast(ctx, id, key, " Five minutes left. ") },
		"close":     func(key string) error { return f.CloseBreakouts(ctx, id, key) },
	}
	for _, act := range []string{"open", "broadcast", "close"} {
		assertError(t, acts[act](guest(3).SeatKey), fault.Forbidden, "not_host", "only a host or co-host may do this")
	}
	for _, act := range []string{"open", "move", "broadcast", "close"} {
		for _, n := range []int{4, 5} { // has left, never came
			assertError(t, acts[act](guest(n).SeatKey), fault.Forbidden, "not_in_room", "you are not in this room")
		}
		if err := acts[act](guest(2).SeatKey); err != nil {
			t.Errorf("%s by a co-host: got error %v, want none", act, err)
		}
	}
	if last := f.engine.messages[len(f.engine.messages)-1]; last.message != (room.Message{Kind: room.MessageBroadcast,
		Text: "Five minutes left.", From: "Guest 2"}) {
		t.Errorf("last message: got %+v, want %s with the text \"Five minutes left.\" from Guest 2", last,
			room.MessageBroadcast)
	}
	assertError(t, f.Move(ctx, id, guest(3).SeatKey, "", 1), fault.NotFound, "breakout_not_found",
		"there is no open breakout room 1")
	assertError(t, f.Move(ctx, id, guest(3).SeatKey, co.SeatKey, 0), fault.Forbidden, "not_host",
		"only a host or co-host may do this")
	assertError(t, f.EndByHost(ctx, id, guest(2).SeatKey), fault.Forbidden, "not_host",
		"only a host may end the room for all")
	if err := f.EndByHost(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	if r := f.room(t, id); r.State != room.Ended || r.EndReason != room.EndedHost {
		t.Errorf("room ended by the host: got state %s, reason %q, want %s, %q", r.State, r.EndReason, room.Ended,
			room.EndedHost)
	}
	assertError(t, open(guest(1).SeatKey), fault.Gone, "room_ended", "this room has ended")
}

// A co-host can neither assign nor move a host.
func TestMove_CoHostCannotMoveHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 5, BreakoutRooms: 2})
	co, second := f.enterInvited(t, id, 2, room.Invitation{Role: room.CoHost})
	const sentence = "a co-host may not do this to a host"
	_, err := f.OpenBreakouts(ctx, id, co.SeatKey,
		room.OpenBreakoutsRequest{Names: []string{"One"}, Assign: map[string]int{ada.Seat.ID: 0}})
	assertError(t, err, fault.Forbidden, "not_host", sentence)
	if _, err := f.OpenBreakouts(ctx, id, co.SeatKey,
		room.OpenBreakoutsRequest{Names: []string{"One"}, Assign: map[string]int{second.Seat.ID: 0}}); err != nil {
		t.Fatal(err)
	}
	assertError(t, f.Move(ctx, id, co.SeatKey, ada.Seat.ID, 1), fault.Forbidden, "not_host", sentence)
	if err := f.Move(ctx, id, guest(1).SeatKey, ada.Seat.ID, 1); err != nil {
		t.Errorf("a host moves into breakout room 1: got error %v, want none", err)
	}
}

// The number of breakout rooms opened within an hour is limited.
func TestOpenBreakouts_HourlyLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, limit := t.Context(), 16
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 5, BreakoutRooms: limit})
	names := make([]string, limit)
	for i := range names {
		names[i] = "Room"
	}
	open := func() error {
		_, err := f.OpenBreakouts(ctx, id, guest(1).SeatKey, room.OpenBreakoutsRequest{Names: names})
		if err == nil {
			err = f.CloseBreakouts(ctx, id, guest(1).SeatKey)
		}
		return err
	}
	for range 6 {
		if err := open(); err != nil {
			t.Fatal(err)
		}
	}
	err := open()
	assertError(t, err, fault.Exhausted, "too_many_attempts",
		"a room may open at most 96 breakout rooms per hour, try again later")
	if wait := fault.From(err).RetryAfter; wait <= 59*time.Minute || wait > time.Hour {
		t.Errorf("RetryAfter: got %s, want 59 to 60 minutes", wait)
	}
	f.clock.advance(time.Hour)
	if err := open(); err != nil {
		t.Errorf("open breakout rooms one hour later: got error %v, want none", err)
	}
}

// A page that ignores a move is disconnected from the old session within ten seconds, on
// whichever node it is. It cannot connect there again, and its attendance never overlaps.
func TestMove_PageThatDoesNotFollow(t *testing.T) {
	t.Parallel()
	for name, behavior := range map[string]struct{ follows, wanders bool }{
		"stays away": {}, "keeps both connections": {follows: true}, "moves to and fro with both": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, storetest.SQLite(t))
			ctx := t.Context()
			id := c.create(t, room.Spec{MaxParticipants: 4, BreakoutRooms: 2})
			cohost, host := c.enterInvited(t, 0, id, 1, "PA_1")
			eve := c.enter(t, 0, id, guest(2), "PA_2")
			// The other node opens the breakout rooms and moves Eve.
			if _, err := c.nodes[1].OpenBreakouts(ctx, id, cohost.SeatKey, room.OpenBreakoutsRequest{
				Names: []string{"One"}}); err != nil {
				t.Fatal(err)
			}
			if err := c.nodes[1].Move(ctx, id, cohost.SeatKey, eve.Seat.ID, 1); err != nil {
				t.Fatal(err)
			}
			moved := c.clock.Now()
			connected := []string{"PA_1"}
			if behavior.follows {
				c.enter(t, 1, id, guest(2), "PA_3")
				connected = []string{"PA_1", "PA_3"}
			}
			for to := 0; c.clock.Now().Sub(moved) < 10*time.Second; to = 1 - to {
				c.tick(0, 1)
				c.tick(0, 1)
				if behavior.wanders {
					if err := c.nodes[0].Move(ctx, id, guest(2).SeatKey, eve.Seat.ID, to); err != nil {
						t.Fatal(err)
					}
				}
				for _, n := range c.nodes {
					n.EnforcePlacement(ctx)
				}
				c.deliver()
			}
			if behavior.wanders {
				if err := c.nodes[0].Move(ctx, id, guest(2).SeatKey, eve.Seat.ID, 1); err != nil {
					t.Fatal(err)
				}
			}
			if in := c.connectionIDs(id); !slices.Equal(in, connected) {
				t.Errorf("connected after ten seconds: got %v, want %v", in, connected)
			}
			for session, want := range map[string]bool{host.SessionID: false, c.assigned(t, id, eve.Seat.ID): true} {
				if a, err := c.nodes[0].Authorize(ctx, session, eve.Seat.ID); err != nil || a.Admitted != want {
					t.Errorf("connection to %s: got admitted %v, error %v, want %v", session, a.Admitted, err, want)
				}
			}
			rows := c.attendance(t, id)
			for i, b := range rows {
				for _, a := range rows[:i] {
					if a.SeatID == b.SeatID && (a.LeftAt.IsZero() || a.LeftAt.After(b.JoinedAt)) {
						t.Errorf("got %+v and %+v, want no overlap", a, b)
					}
				}
				if b.Connection == "PA_2" && b.Reason != room.LeftMoved {
					t.Errorf("got %+v, want the reason %s", b, room.LeftMoved)
				}
			}
		})
	}
}

// A page that needs some seconds for the media of its new connection keeps that connection.
func TestMove_SlowConnection(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	ctx := t.Context()
	id := c.create(t, room.Spec{MaxParticipants: 4, BreakoutRooms: 2})
	cohost, _ := c.enterInvited(t, 0, id, 1, "PA_1")
	ben := c.enter(t, 0, id, guest(2), "PA_2")
	if _, err := c.nodes[0].OpenBreakouts(ctx, id, cohost.SeatKey, room.OpenBreakoutsRequest{
		Names: []string{"One"}, Assign: map[string]int{ben.Seat.ID: 0}}); err != nil {
		t.Fatal(err)
	}
	again, err := c.nodes[0].ReserveSeat(ctx, id, guest(2))
	if err != nil {
		t.Fatal(err)
	}
	c.beginConnection(again.SessionID, ben.Seat.ID, "PA_3")
	for range 5 {
		c.tick(0, 1)
		for _, n := range c.nodes {
			n.EnforcePlacement(ctx)
		}
		c.deliver()
	}
	if in := c.connectionIDs(id); !slices.Equal(in, []string{"PA_1", "PA_2", "PA_3"}) {
		t.Errorf("connected five seconds after the move: got %v, want also the old and the new connection", in)
	}
}

// assigned returns the session that a seat is assigned to.
func (c *cluster) assigned(t *testing.T, id, seatID string) string {
	t.Helper()
	seat, err := c.db.Seat(t.Context(), id, seatID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.db.Breakouts(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return room.SessionID(id, all[seat.Breakout-1].Session)
}
