package media

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/room"
)

// notes is an observer that can be made to wait.
type notes struct {
	mu    sync.Mutex
	lines []string
	hold  chan struct{} // nil: does not wait
	begun chan struct{}
}

func (n *notes) ParticipantJoined(_, _, sid string, _ time.Time) { n.note("+" + sid) }

func (n *notes) ParticipantLeft(_, _, sid string, _ time.Time, _ room.LeaveReason) {
	n.note("-" + sid)
}

func (n *notes) note(line string) {
	if n.hold != nil {
		n.begun <- struct{}{}
		<-n.hold
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

func joined(sid string) event { return event{sid: sid, at: time.Now()} }

func gone(sid string) event { return event{sid: sid, at: time.Now(), left: room.LeftLost} }

func TestEventsComeInOrderAndBeforeStopReturns(t *testing.T) {
	seen := &notes{}
	e := newEvents(seen)
	var want []string
	for i := range 2000 {
		sid := fmt.Sprint(i)
		e.add(joined(sid))
		e.add(gone(sid))
		want = append(want, "+"+sid, "-"+sid)
	}
	e.stop(context.Background())
	if got := seen.all(); !slices.Equal(got, want) {
		t.Errorf("%d events, want %d, or in another order", len(got), len(want))
	}
	e.add(joined("late"))
	if got := seen.all(); len(got) != len(want) {
		t.Error("an event after Stop was told")
	}
}

func TestEventsAreToldOnceAndInPairs(t *testing.T) {
	seen := &notes{}
	e := newEvents(seen)
	e.add(gone("overtaken")) // the end overtook the beginning
	e.add(joined("overtaken"))
	e.add(gone("never began"))
	e.add(joined("a"))
	e.add(joined("a"))
	e.add(gone("a"))
	e.add(gone("a"))
	e.stop(context.Background())
	if got := seen.all(); !slices.Equal(got, []string{"+a", "-a"}) {
		t.Errorf("told %v", got)
	}
}

func TestASlowObserverHoldsUpNobody(t *testing.T) {
	seen := &notes{hold: make(chan struct{}), begun: make(chan struct{})}
	e := newEvents(seen)
	e.add(joined("1"))
	<-seen.begun
	for range 100 {
		e.add(joined("2")) // returns although nobody listens
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e.stop(ctx) // out of time: the rest is dropped
	seen.hold <- struct{}{}
	<-e.done
	if got := seen.all(); !slices.Equal(got, []string{"+1"}) {
		t.Errorf("told %v", got)
	}
}

func TestLeaveReasons(t *testing.T) {
	known := map[livekit.DisconnectReason]room.LeaveReason{
		livekit.DisconnectReason_CLIENT_INITIATED:    room.LeftByChoice,
		livekit.DisconnectReason_DUPLICATE_IDENTITY:  room.LeftReplaced,
		livekit.DisconnectReason_PARTICIPANT_REMOVED: room.LeftRemoved,
		livekit.DisconnectReason_ROOM_DELETED:        room.LeftRoomOver,
		livekit.DisconnectReason_ROOM_CLOSED:         room.LeftRoomOver,
		livekit.DisconnectReason_SERVER_SHUTDOWN:     room.LeftServer,
	}
	for number, name := range livekit.DisconnectReason_name {
		want, ok := known[livekit.DisconnectReason(number)]
		if !ok {
			want = room.LeftLost
		}
		if got := leaveReason(livekit.DisconnectReason(number)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
