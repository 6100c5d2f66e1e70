package room_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// newTestProjectFixture returns a fixture whose project is a test project that admits people only
// with an invitation, and lets guests wait.
func newTestProjectFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.project.Test = true
	f.project.Settings = project.Settings{InvitationsRequired: true, Locks: project.Locks{WaitingRoom: true}}
	err := f.db.Write(t.Context(), func(ctx context.Context) error { return f.db.UpdateProject(ctx, f.project) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Simulator.Stop() })
	return f
}

func (f *fixture) awaitEnd(t *testing.T, id string) *room.Room {
	t.Helper()
	testkit.Eventually(t, "the room ends", func() bool { return f.room(t, id).Over() })
	return f.room(t, id)
}

// simulatedEvent is what an event of a simulated meeting says.
type simulatedEvent struct {
	Type                   event.Type
	Identity, Role, Reason string
}

func (f *fixture) simulatedEvents(t *testing.T, id string) (out []simulatedEvent) {
	t.Helper()
	events, err := storetest.Events(t.Context(), f.db, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		s := simulatedEvent{Type: e.Type, Reason: e.Data.EndReason}
		if p := e.Data.Participant; p != nil {
			s.Identity, s.Role, s.Reason = p.Identity, p.Role, p.Reason
		}
		out = append(out, s)
	}
	return out
}

func TestSimulate_HasTheEventsOfAMeeting(t *testing.T) {
	t.Parallel()
	f := newTestProjectFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 3})
	q, err := f.Simulate(t.Context(), f.project, id, room.Simulation{Seconds: 1})
	if err != nil || len(q.People) != 3 {
		t.Fatalf("got %+v, error %v, want a meeting of three people", q, err)
	}
	f.awaitEnd(t, id)
	want := []simulatedEvent{
		{Type: event.RoomOpened},
		{Type: event.RoomStarted},
		{event.ParticipantJoined, "test-host", "host", ""},
		{event.ParticipantJoined, "test-guest-1", "guest", ""},
		{event.ParticipantJoined, "test-guest-2", "guest", ""},
		{event.ParticipantLeft, "test-guest-2", "guest", "left"},
		{event.ParticipantLeft, "test-guest-1", "guest", "left"},
		{event.ParticipantLeft, "test-host", "host", "room_ended"},
		{Type: event.RoomEnded, Reason: "host"},
	}
	if diff := cmp.Diff(want, f.simulatedEvents(t, id)); diff != "" {
		t.Errorf("the events differ (-want +got):\n%s", diff)
	}
}

func TestSimulate_OfGuestsEndsWhenTheRoomIsEmpty(t *testing.T) {
	t.Parallel()
	f := newTestProjectFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 9})
	people := []room.SimulatedPerson{{Name: "Bela", UserID: "4711"}, {Name: "Chen"}, {Name: "Dunya"}}
	if _, err := f.Simulate(t.Context(), f.project, id, room.Simulation{Seconds: 1, People: people}); err != nil {
		t.Fatal(err)
	}
	if r := f.awaitEnd(t, id); r.EndReason != room.EndedEmpty || r.StartedAt.IsZero() {
		t.Errorf("got a room that ended with %q, started at %s, want %q and a start", r.EndReason, r.StartedAt,
			room.EndedEmpty)
	}
	events := f.simulatedEvents(t, id)
	if last := events[len(events)-2]; last != (simulatedEvent{event.ParticipantLeft, "4711", "guest", "left"}) {
		t.Errorf("the last but one event: got %+v, want that the first person leaves", last)
	}
}

// TestSimulate_SurvivesReconciliation reconciles with an engine that has no connection of the
// simulated people. Stop then ends the meeting.
func TestSimulate_SurvivesReconciliation(t *testing.T) {
	t.Parallel()
	f := newTestProjectFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 9})
	people := []room.SimulatedPerson{{Name: "Ada", IsHost: true}, {Name: "Bela"}}
	if _, err := f.Simulate(t.Context(), f.project, id, room.Simulation{Seconds: 60, People: people}); err != nil {
		t.Fatal(err)
	}
	present := func() []room.Attendance {
		all, err := f.db.CurrentAttendance(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	testkit.Eventually(t, "the first person joins", func() bool { return len(present()) > 0 })
	first := present()[0].ID
	f.clock.advance(time.Minute)
	f.Reconcile(t.Context())
	f.Sweep(t.Context())
	f.Reconcile(t.Context())
	if all := present(); !slices.ContainsFunc(all, func(a room.Attendance) bool { return a.ID == first }) {
		t.Errorf("after a reconciliation: got %+v in the room, want the person who has joined", all)
	}
	f.Simulator.Stop()
	if r := f.room(t, id); r.State != room.Ended || r.EndReason != room.EndedHost || len(present()) != 0 {
		t.Errorf("after Stop: got state %s, reason %s and %d people, want that the host has ended the room", r.State,
			r.EndReason, len(present()))
	}
	count := map[event.Type]int{}
	events := f.simulatedEvents(t, id)
	for _, e := range events {
		count[e.Type]++
	}
	if events[len(events)-1].Type != event.RoomEnded || count[event.ParticipantJoined] != count[event.ParticipantLeft] {
		t.Errorf("the events of a meeting that was stopped: got %+v, want that all left, and the end of the room", events)
	}
	other, _ := f.create(t, room.Spec{MaxParticipants: 9})
	_, err := f.Simulate(t.Context(), f.project, other, room.Simulation{Seconds: 1})
	assertError(t, err, fault.Unavailable, "unavailable", "the service is stopping, try again in a moment")
}

// A process forgets the connections of a simulation in a room that somebody ended while people were still joining.
func TestSimulate_RoomEndedMeanwhile(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		f.project.Test = true
		err := f.db.Write(t.Context(), func(ctx context.Context) error { return f.db.UpdateProject(ctx, f.project) })
		if err != nil {
			t.Fatal(err)
		}
		id, _ := f.create(t, room.Spec{MaxParticipants: 9})
		people := []room.SimulatedPerson{{Name: "Ada", IsHost: true}, {Name: "Bela"}}
		if _, err := f.Simulate(t.Context(), f.project, id, room.Simulation{Seconds: 60, People: people}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := f.SimulatedConnections(); n != 1 {
			t.Fatalf("connections after the first join: got %d, want 1", n)
		}
		if _, err := f.End(t.Context(), id, "api"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := f.SimulatedConnections(); n != 0 {
			t.Errorf("connections after the simulation: got %d, want none", n)
		}
	})
}

func TestSimulate_Refuses(t *testing.T) {
	t.Parallel()
	f := newTestProjectFixture(t)
	ctx := context.Background()
	simulate := func(p project.Project, id string) error {
		_, err := f.Simulate(ctx, p, id, room.Simulation{Seconds: 60})
		return err
	}
	id, _ := f.create(t, room.Spec{MaxParticipants: 9})
	live := f.project
	live.Test = false
	assertError(t, simulate(live, id), fault.Forbidden, "not_a_test_project",
		"this is no test project: use the keys of one, which the operator creates")
	scheduled, _ := f.create(t, room.Spec{MaxParticipants: 9, StartAt: f.clock.Now().Add(time.Hour)})
	assertError(t, simulate(f.project, scheduled), fault.Conflict, "room_not_open",
		"this room is not open yet: it opens at "+f.clock.Now().Add(time.Hour).Format(time.RFC3339))
	if err := simulate(f.project, id); err != nil {
		t.Fatal(err)
	}
	assertError(t, simulate(f.project, id), fault.Conflict, "simulation_in_progress",
		"a meeting is being simulated in this room already, and ends it: create a new room")
}
