package room

import (
	"testing"
	"time"

	"parley/internal/event"
)

var monday = time.Date(2027, 2, 1, 9, 0, 0, 0, time.UTC)

func TestScheduledRoom(t *testing.T) {
	t.Parallel()
	start := monday.Add(time.Hour)
	r := &Room{ID: "r", Spec: Spec{StartAt: start, EmptyTimeout: time.Minute, Duration: time.Hour}}
	r.initialize(monday)
	if r.State != Scheduled || !r.DueAt.Equal(start) || !r.OpenedAt.IsZero() {
		t.Fatalf("new: got %+v, want it scheduled and due at %s", r, start)
	}
	r.openWhenDue(start.Add(-time.Millisecond))
	if _, _, over := r.finalState(start.Add(-time.Millisecond), Occupancy{}); r.State != Scheduled || over {
		t.Fatalf("before its start: got %+v, want it scheduled", r)
	}
	r.openWhenDue(start)
	r.updateDueAt(Occupancy{})
	if r.State != Open || !r.OpenedAt.Equal(start) || !r.DueAt.Equal(start.Add(24*time.Hour)) {
		t.Fatalf("at its start: got %+v, want it open and due a day later", r)
	}
	r.openWhenDue(start.Add(time.Hour))
	if _, _, over := r.finalState(start.Add(24*time.Hour-time.Millisecond), Occupancy{}); over {
		t.Fatal("before a day has passed: got over, want not over")
	}
	state, _, over := r.finalState(start.Add(24*time.Hour), Occupancy{})
	if !over || state != Expired {
		t.Fatalf("a day later: got the state %s, over %v, want expired", state, over)
	}
	if _, _, over := r.finalState(start.Add(24*time.Hour), Occupancy{Taken: 1}); over {
		t.Error("a day later with a taken seat: got over, want not over")
	}
	r.finish(state, "", start.Add(24*time.Hour))
	want := []event.Type{event.RoomScheduled, event.RoomOpened, event.RoomExpired}
	for i, e := range r.drainEvents(func() string { return "id" }) {
		if e.Type != want[i] || e.Sequence != int64(i+1) || !e.Data.StartAt.Equal(start) {
			t.Errorf("event %d: got %+v, want %s with the number %d, starting at %s", i, e, want[i], i+1, start)
		}
	}
	if r.EventSequence != 3 || !r.DueAt.IsZero() {
		t.Errorf("got %+v, want 3 events and no due time", r)
	}
}

func TestQuickRoom_WaitsForFirstGuest(t *testing.T) {
	t.Parallel()
	for empty, wait := range map[time.Duration]time.Duration{time.Minute: 300 * time.Second, time.Hour: time.Hour} {
		r := &Room{ID: "r", Spec: Spec{EmptyTimeout: empty, Duration: time.Hour}}
		r.initialize(monday)
		if r.State != Open || !r.OpenedAt.Equal(monday) || !r.DueAt.Equal(monday.Add(wait)) {
			t.Errorf("%s: got %+v, want it open and due after %s", empty, r, wait)
		}
	}
}
