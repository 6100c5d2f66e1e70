package room_test

import (
	"testing"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// Every participant may rate the meeting once, in the room and after it. Hidden
// participants and people who never connected may not.
func TestGiveFeedback(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, link := f.create(t, room.Spec{MaxParticipants: 9})
	watcher := guest(4)
	watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	ada := f.enter(t, id, host(1, link), "PA_1")
	ben := f.enter(t, id, guest(2), "PA_2")
	f.enter(t, id, watcher, "PA_4")
	if _, err := f.ReserveSeat(ctx, id, guest(3)); err != nil {
		t.Fatal(err)
	}
	give := func(n int, rating room.Rating) error { return f.GiveFeedback(ctx, id, guest(n).SeatKey, rating) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	assertError(t, give(2, "fine"), fault.Invalid, "invalid_request", "rating must be good or bad")
	assertError(t, give(3, room.RatedGood), fault.Forbidden, "not_in_room", "you were not in this room")
	assertError(t, give(9, room.RatedGood), fault.Forbidden, "not_in_room", "you were not in this room")
	assertError(t, give(4, room.RatedGood), fault.Forbidden, "hidden", "hidden participants cannot rate a meeting")
	must(give(1, room.RatedGood))
	must(f.EndByHost(ctx, id, guest(1).SeatKey))
	must(give(1, room.RatedBad)) // only the first counts
	must(give(2, room.RatedBad))
	must(give(2, room.RatedBad))

	events, err := storetest.Events(ctx, f.db, id)
	must(err)
	want := []event.Feedback{
		{Identity: ada.Seat.ID, Name: "Guest 1", Role: "host", Rating: "good"},
		{Identity: ben.Seat.ID, Name: "Guest 2", Role: "guest", Rating: "bad"},
	}
	var reasons []string
	for _, e := range events {
		if e.Type != event.FeedbackGiven {
			continue
		}
		if reasons = append(reasons, e.Data.EndReason); len(want) == 0 || *e.Data.Feedback != want[0] {
			t.Fatalf("got %+v, want %+v", *e.Data.Feedback, want)
		}
		want = want[1:]
	}
	if len(want) > 0 || reasons[0] != "" || reasons[1] != "host" {
		t.Errorf("end reasons: got %q, want \"\" and \"host\"; feedback without an event: got %+v, want none", reasons, want)
	}
}
