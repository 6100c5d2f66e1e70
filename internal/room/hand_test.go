package room_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// raisedHands are the raised hands as the pages of a session read them.
func (e *fakeMedia) raisedHands(session string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.metadata[session].Hands
}

// The order of hands is the server's, and pages read it: one that goes up again
// is the last, one that is up already keeps its place.
func TestRaiseHand_Order(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	id, link := h.create(t, room.CreateRequest{MaxParticipants: 40})
	ada := h.enter(t, id, host(1, link), "PA_1")
	var people []room.Admission
	for n := 2; n <= 4; n++ {
		people = append(people, h.enter(t, id, guest(n), "PA_"+guest(n).Name))
	}
	ben, chen, dora := people[0].Seat.ID, people[1].Seat.ID, people[2].Seat.ID
	up := func(want ...string) {
		t.Helper()
		if got := h.engine.raisedHands(ada.SessionID); !slices.Equal(got, want) {
			t.Errorf("hands of %q, want %q", got, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(h.RaiseHand(ctx, id, guest(4).SeatKey))
	do(h.RaiseHand(ctx, id, guest(2).SeatKey))
	do(h.RaiseHand(ctx, id, guest(4).SeatKey))
	do(h.RaiseHand(ctx, id, guest(3).SeatKey))
	up(dora, ben, chen)
	do(h.LowerHand(ctx, id, guest(4).SeatKey, ""))
	do(h.LowerHand(ctx, id, guest(4).SeatKey, dora))
	do(h.RaiseHand(ctx, id, guest(4).SeatKey))
	up(ben, chen, dora)

	// Others' are for hosts.
	assertError(t, h.LowerHand(ctx, id, guest(2).SeatKey, chen), fault.Forbidden, "not_host", "only a host or co-host may do this")
	assertError(t, h.LowerHands(ctx, id, guest(2).SeatKey), fault.Forbidden, "not_host", "only a host or co-host may do this")
	assertError(t, h.LowerHand(ctx, id, guest(1).SeatKey, "nobody"), fault.NotFound, "seat_not_found", "there is no such seat")
	assertError(t, h.RaiseHand(ctx, id, guest(9).SeatKey), fault.Forbidden, "not_in_room", "you are not in this room")
	up(ben, chen, dora)
	do(h.LowerHand(ctx, id, guest(1).SeatKey, chen))
	up(ben, dora)
	do(h.LowerHands(ctx, id, guest(1).SeatKey))
	up()

	// All at once: the pages read all of them in the end.
	for n := 11; n <= 40; n++ {
		h.enter(t, id, guest(n), "PA_"+guest(n).Name)
	}
	var raising sync.WaitGroup
	for n := 11; n <= 40; n++ {
		raising.Go(func() {
			if err := h.RaiseHand(ctx, id, guest(n).SeatKey); err != nil {
				t.Error(err)
			}
		})
	}
	raising.Wait()
	seats, err := h.db.RaisedHands(ctx, id)
	if err != nil || len(seats) != 30 {
		t.Fatalf("%d hands, %v", len(seats), err)
	}
	var want []string
	for i, seat := range seats {
		if want = append(want, seat.ID); seat.HandOrder != i+1 {
			t.Errorf("hand %d has number %d", i, seat.HandOrder)
		}
	}
	up(want...)
}

// A hand stays up while its holder comes back, also to another engine, and is
// down when they have left.
func TestRaiseHand_LoweredWithSeat(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	id, link := h.create(t, room.CreateRequest{MaxParticipants: 9})
	ada := h.enter(t, id, host(1, link), "PA_1")
	ben := h.enter(t, id, guest(2), "PA_2")
	up := func(when string, want ...string) {
		t.Helper()
		if got := h.engine.raisedHands(ada.SessionID); !slices.Equal(got, want) {
			t.Errorf("%s: hands of %q, want %q", when, got, want)
		}
	}
	raise := func() {
		t.Helper()
		if err := h.RaiseHand(ctx, id, guest(2).SeatKey); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	h.leave(ben, "PA_2", room.LeftLost)
	up("lost", ben.Seat.ID)
	h.clock.advance(20 * time.Second)
	h.enter(t, id, guest(2), "PA_3")
	up("back", ben.Seat.ID)
	h.restart()
	if err := h.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	up("restarted", ben.Seat.ID)
	h.enter(t, id, host(1, link), "PA_4")
	ben = h.enter(t, id, guest(2), "PA_5")
	up("back again", ben.Seat.ID)
	h.leave(ben, "PA_5", room.LeftByChoice)
	up("left")
	h.enter(t, id, guest(2), "PA_6")
	up("another visit")

	// A seat that nobody came back to was given up with its hand.
	raise()
	h.leave(ben, "PA_6", room.LeftLost)
	h.clock.advance(31 * time.Second)
	h.enter(t, id, guest(2), "PA_7")
	up("too late")
	raise()
	h.leave(ben, "PA_7", room.LeftRemoved)
	up("removed")
}

// Hands are raised among those who see them.
func TestRaiseHand_PerBreakoutRoom(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	two := 2
	id, link := h.create(t, room.CreateRequest{MaxParticipants: 9, BreakoutRooms: &two})
	ada := h.enter(t, id, host(1, link), "PA_1")
	ben := h.enter(t, id, guest(2), "PA_2")
	chen := h.enter(t, id, guest(3), "PA_3")
	for n := 2; n <= 3; n++ {
		if err := h.RaiseHand(ctx, id, guest(n).SeatKey); err != nil {
			t.Fatal(err)
		}
	}
	h.openBreakout(t, id, ben)
	if got := h.engine.raisedHands(ada.SessionID); !slices.Equal(got, []string{chen.Seat.ID}) {
		t.Errorf("in the room after the move: %q", got)
	}
	ben = h.enter(t, id, guest(2), "PA_4")
	if err := h.RaiseHand(ctx, id, guest(2).SeatKey); err != nil {
		t.Fatal(err)
	}
	// The host lowers what the host sees.
	if err := h.LowerHands(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	if got := h.engine.raisedHands(ada.SessionID); len(got) > 0 {
		t.Errorf("in the room: %q", got)
	}
	if got := h.engine.raisedHands(ben.SessionID); !slices.Equal(got, []string{ben.Seat.ID}) {
		t.Errorf("in the breakout room: %q", got)
	}
	if err := h.CloseBreakouts(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	h.enter(t, id, guest(2), "PA_5")
	if got := h.engine.raisedHands(ada.SessionID); len(got) > 0 {
		t.Errorf("after the way back: %q", got)
	}
}

// A reaction reaches those in the same place, under the name of whoever reacts.
func TestReact(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	h.configureProject(t, project.Settings{HiddenParticipants: true, Locks: project.Locks{Microphone: true, Camera: true, ScreenShare: true, Chat: true}})
	one := 1
	id, link := h.create(t, room.CreateRequest{MaxParticipants: 9, BreakoutRooms: &one})
	watcher := guest(5)
	watcher.LinkToken = h.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	h.enter(t, id, host(1, link), "PA_1")
	ben := h.enter(t, id, guest(2), "PA_2")
	h.enter(t, id, watcher, "PA_5")
	react := func(n int, reaction room.Reaction) error { return h.React(ctx, id, guest(n).SeatKey, reaction) }
	last := func(session string, identity string, reaction room.Reaction) {
		t.Helper()
		want := room.Message{Kind: room.MessageReaction, Identity: identity, Reaction: reaction}
		if tell := h.engine.messages[len(h.engine.messages)-1]; tell.session != session || tell.identities != nil || tell.message != want {
			t.Errorf("told %+v", tell)
		}
	}
	// Locks are for what people send; this the server sends.
	if err := react(2, room.Clapping); err != nil {
		t.Fatal(err)
	}
	last(ben.SessionID, ben.Seat.ID, room.Clapping)
	h.openBreakout(t, id, ben)
	moved := h.enter(t, id, guest(2), "PA_3")
	if err := react(2, room.Heart); err != nil {
		t.Fatal(err)
	}
	last(moved.SessionID, ben.Seat.ID, room.Heart)

	assertError(t, react(2, "fireworks"), fault.Invalid, "invalid_request", "reaction must be thumbs_up, heart, laughing, clapping or surprised")
	assertError(t, react(9, room.Heart), fault.Forbidden, "not_in_room", "you are not in this room")
	// Who is hidden is not shown by what they do.
	assertError(t, react(5, room.Heart), fault.Forbidden, "hidden", "hidden participants cannot react or raise a hand")
	assertError(t, h.RaiseHand(ctx, id, guest(5).SeatKey), fault.Forbidden, "hidden", "hidden participants cannot react or raise a hand")

	// Five at once, and then one a second; others have their own.
	h.clock.advance(time.Minute)
	for range 5 {
		if err := react(2, room.ThumbsUp); err != nil {
			t.Fatal(err)
		}
	}
	h.clock.advance(400 * time.Millisecond)
	err := react(2, room.ThumbsUp)
	assertError(t, err, fault.Exhausted, "too_often", "too many reactions and raised hands, try again in a moment")
	if wait := fault.From(err).RetryAfter; wait != 600*time.Millisecond {
		t.Errorf("wait %s", wait)
	}
	assertError(t, h.RaiseHand(ctx, id, guest(2).SeatKey), fault.Exhausted, "too_often", "too many reactions and raised hands, try again in a moment")
	if err := react(1, room.Laughing); err != nil {
		t.Error(err)
	}
	h.clock.advance(600 * time.Millisecond)
	if err := react(2, room.Surprised); err != nil {
		t.Error(err)
	}
}

// All people of a room together are held to what pages can bear.
func TestReact_RoomRateLimit(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id, link := h.create(t, room.CreateRequest{MaxParticipants: 40})
	h.enter(t, id, host(1, link), "PA_1")
	shown, refusals := 0, 0
	for n := 2; n <= 20; n++ {
		h.enter(t, id, guest(n), "PA_"+guest(n).Name)
		for range 5 {
			switch err := h.React(t.Context(), id, guest(n).SeatKey, room.Heart); {
			case err == nil:
				shown++
			case fault.Is(err, fault.Exhausted):
				refusals++
			default:
				t.Fatal(err)
			}
		}
	}
	if shown != 60 || refusals != 35 {
		t.Errorf("%d shown, %d refused", shown, refusals)
	}
}
