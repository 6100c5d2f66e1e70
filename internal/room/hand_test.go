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

// assertHands fails unless these hands are raised in the metadata of a session.
func (f *fixture) assertHands(t *testing.T, session, when string, want ...string) {
	t.Helper()
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	if got := f.engine.metadata[session].Hands; !slices.Equal(got, want) {
		t.Errorf("%s: got hands of %q, want %q", when, got, want)
	}
}

func (f *fixture) raiseHand(t *testing.T, roomID string, browser int) {
	t.Helper()
	if err := f.RaiseHand(t.Context(), roomID, guest(browser).SeatKey); err != nil {
		t.Error(err)
	}
}

// A hand that is raised again is the last; a hand that is already raised keeps its
// position.
func TestRaiseHand_Order(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 40})
	var people []room.Admission
	for n := 2; n <= 4; n++ {
		people = append(people, f.enter(t, id, guest(n), "PA_"+guest(n).Name))
	}
	ben, chen, dora := people[0].Seat.ID, people[1].Seat.ID, people[2].Seat.ID
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	f.raiseHand(t, id, 4)
	f.raiseHand(t, id, 2)
	f.raiseHand(t, id, 4)
	f.raiseHand(t, id, 3)
	f.assertHands(t, ada.SessionID, "raised", dora, ben, chen)
	check(f.LowerHand(ctx, id, guest(4).SeatKey, ""))
	check(f.LowerHand(ctx, id, guest(4).SeatKey, dora))
	f.raiseHand(t, id, 4)
	f.assertHands(t, ada.SessionID, "raised again", ben, chen, dora)

	// Only hosts and co-hosts may lower the hands of others.
	assertError(t, f.LowerHand(ctx, id, guest(2).SeatKey, chen), fault.Forbidden, "not_host", notHost)
	assertError(t, f.LowerHands(ctx, id, guest(2).SeatKey), fault.Forbidden, "not_host", notHost)
	assertError(t, f.LowerHand(ctx, id, guest(1).SeatKey, "nobody"), fault.NotFound, "seat_not_found",
		"there is no such seat")
	assertError(t, f.RaiseHand(ctx, id, guest(9).SeatKey), fault.Forbidden, "not_in_room", "you are not in this room")
	f.assertHands(t, ada.SessionID, "refused", ben, chen, dora)
	check(f.LowerHand(ctx, id, guest(1).SeatKey, chen))
	f.assertHands(t, ada.SessionID, "lowered by the host", ben, dora)
	check(f.LowerHands(ctx, id, guest(1).SeatKey))
	f.assertHands(t, ada.SessionID, "all lowered")

	// If all raise their hands at once, the last metadata contain all hands.
	for n := 11; n <= 40; n++ {
		f.enter(t, id, guest(n), "PA_"+guest(n).Name)
	}
	var raising sync.WaitGroup
	for n := 11; n <= 40; n++ {
		raising.Go(func() { f.raiseHand(t, id, n) })
	}
	raising.Wait()
	seats, err := f.db.RaisedHands(ctx, id)
	if err != nil || len(seats) != 30 {
		t.Fatalf("raised hands: got %d, error %v, want 30", len(seats), err)
	}
	var want []string
	for i, seat := range seats {
		if want = append(want, seat.ID); seat.HandOrder != i+1 {
			t.Errorf("HandOrder of hand %d: got %d, want %d", i, seat.HandOrder, i+1)
		}
	}
	f.assertHands(t, ada.SessionID, "all raised", want...)
}

// A hand stays raised while its participant reconnects, also after a restart, and is
// lowered when they leave.
func TestRaiseHand_LoweredWithSeat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 9})
	ben := f.enter(t, id, guest(2), "PA_2")
	f.raiseHand(t, id, 2)
	f.leave(ben, "PA_2", room.LeftLost)
	f.assertHands(t, ada.SessionID, "lost", ben.Seat.ID)
	f.clock.advance(20 * time.Second)
	f.enter(t, id, guest(2), "PA_3")
	f.assertHands(t, ada.SessionID, "back", ben.Seat.ID)
	f.restart()
	if err := f.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	f.assertHands(t, ada.SessionID, "restarted", ben.Seat.ID)
	f.enter(t, id, guest(1), "PA_4")
	ben = f.enter(t, id, guest(2), "PA_5")
	f.assertHands(t, ada.SessionID, "back again", ben.Seat.ID)
	f.leave(ben, "PA_5", room.LeftByChoice)
	f.assertHands(t, ada.SessionID, "left")
	f.enter(t, id, guest(2), "PA_6")
	f.assertHands(t, ada.SessionID, "another visit")

	// The hand is lowered when a held seat is released.
	f.raiseHand(t, id, 2)
	f.leave(ben, "PA_6", room.LeftLost)
	f.clock.advance(31 * time.Second)
	f.enter(t, id, guest(2), "PA_7")
	f.assertHands(t, ada.SessionID, "too late")
	f.raiseHand(t, id, 2)
	f.leave(ben, "PA_7", room.LeftRemoved)
	f.assertHands(t, ada.SessionID, "removed")
}

// A raised hand is visible only in its own room or breakout room. The other sessions have
// the number of them, and hosts find the hands in the list of people.
func TestRaiseHand_PerBreakoutRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 9, BreakoutRooms: 2})
	ben := f.enter(t, id, guest(2), "PA_2")
	chen := f.enter(t, id, guest(3), "PA_3")
	for n := 2; n <= 3; n++ {
		f.raiseHand(t, id, n)
	}
	f.openBreakout(t, id, ben)
	f.assertHands(t, ada.SessionID, "in the room after the move", chen.Seat.ID)
	ben = f.enter(t, id, guest(2), "PA_4")
	f.raiseHand(t, id, 2)
	// LowerHands affects only the host's own session.
	if err := f.LowerHands(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	f.assertHands(t, ada.SessionID, "in the room")
	f.assertHands(t, ben.SessionID, "in the breakout room", ben.Seat.ID)
	for session, want := range map[string]int{ada.SessionID: 1, ben.SessionID: 0} {
		if got := f.engine.metadata[session].HandsElsewhere; got != want {
			t.Errorf("session %s: got %d hands elsewhere, want %d", session, got, want)
		}
	}
	people, err := f.People(ctx, id, guest(1).SeatKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, seat := range people.Seats {
		if raised := seat.HandOrder > 0; raised != (seat.ID == ben.Seat.ID) {
			t.Errorf("list of people: got %+v, want only the hand of %s raised", seat, ben.Seat.ID)
		}
	}
	if err := f.CloseBreakouts(ctx, id, guest(1).SeatKey); err != nil {
		t.Fatal(err)
	}
	f.enter(t, id, guest(2), "PA_5")
	f.assertHands(t, ada.SessionID, "after closing the breakout rooms")
}

// A reaction is sent to the participant's own session, with the participant's
// identity.
func TestReact(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	f.configureProject(t, project.Settings{HiddenParticipants: true,
		Locks: project.Locks{Microphone: true, Camera: true, ScreenShare: true, Chat: true}})
	id, link := f.create(t, room.Spec{MaxParticipants: 9, BreakoutRooms: 1})
	watcher := guest(5)
	watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	f.enter(t, id, host(1, link), "PA_1")
	ben := f.enter(t, id, guest(2), "PA_2")
	f.enter(t, id, watcher, "PA_5")
	react := func(n int, reaction room.Reaction) error { return f.React(ctx, id, guest(n).SeatKey, reaction) }
	last := func(session string, identity string, reaction room.Reaction) {
		t.Helper()
		want := room.Message{Kind: room.MessageReaction, Identity: identity, Reaction: reaction}
		if message := f.engine.messages[len(f.engine.messages)-1]; message.session != session || message.identities != nil ||
			message.message != want {
			t.Errorf("last message: got %+v, want %+v to all participants of session %s", message, want, session)
		}
	}
	// Locks do not apply, because the server sends reactions.
	if err := react(2, room.Clapping); err != nil {
		t.Fatal(err)
	}
	last(ben.SessionID, ben.Seat.ID, room.Clapping)
	f.openBreakout(t, id, ben)
	moved := f.enter(t, id, guest(2), "PA_3")
	if err := react(2, room.Heart); err != nil {
		t.Fatal(err)
	}
	last(moved.SessionID, ben.Seat.ID, room.Heart)

	assertError(t, react(2, "fireworks"), fault.Invalid, "invalid_request",
		"reaction must be thumbs_up, heart, laughing, clapping or surprised")
	assertError(t, react(9, room.Heart), fault.Forbidden, "not_in_room", "you are not in this room")
	// A hidden participant cannot react, because that would reveal them.
	assertError(t, react(5, room.Heart), fault.Forbidden, "hidden", "hidden participants cannot react or raise a hand")
	assertError(t, f.RaiseHand(ctx, id, guest(5).SeatKey), fault.Forbidden, "hidden",
		"hidden participants cannot react or raise a hand")

	// A participant may react five times at once, then once a second. Others have their
	// own limit.
	f.clock.advance(time.Minute)
	for range 5 {
		if err := react(2, room.ThumbsUp); err != nil {
			t.Fatal(err)
		}
	}
	f.clock.advance(400 * time.Millisecond)
	err := react(2, room.ThumbsUp)
	assertError(t, err, fault.Exhausted, "too_often", "too many reactions and raised hands, try again in a moment")
	if wait := fault.From(err).RetryAfter; wait != 600*time.Millisecond {
		t.Errorf("RetryAfter: got %s, want 600ms", wait)
	}
	assertError(t, f.RaiseHand(ctx, id, guest(2).SeatKey), fault.Exhausted, "too_often",
		"too many reactions and raised hands, try again in a moment")
	if err := react(1, room.Laughing); err != nil {
		t.Error(err)
	}
	f.clock.advance(600 * time.Millisecond)
	if err := react(2, room.Surprised); err != nil {
		t.Error(err)
	}
}

// The reactions of all participants of a room are limited together.
func TestReact_RoomRateLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 40})
	shown, refusals := 0, 0
	for n := 2; n <= 20; n++ {
		f.enter(t, id, guest(n), "PA_"+guest(n).Name)
		for range 5 {
			switch err := f.React(t.Context(), id, guest(n).SeatKey, room.Heart); {
			case err == nil:
				shown++
			case fault.Is(err, fault.Exhausted):
				refusals++
			default:
				t.Fatalf("reaction of guest %d: got error %v, want none or Exhausted", n, err)
			}
		}
	}
	if shown != 60 || refusals != 35 {
		t.Errorf("reactions: got %d shown, %d refused, want 60 shown, 35 refused", shown, refusals)
	}
}
