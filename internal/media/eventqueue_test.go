package media

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"

	"parley/internal/metrics"
	"parley/internal/room"
)

// recordingObserver is an observer that can block.
type recordingObserver struct {
	mu    sync.Mutex
	calls []string
	hold  chan struct{} // blocks each call until a receive; nil does not block
	begun chan struct{}
}

func (n *recordingObserver) ParticipantJoined(_, _, sid string, _ time.Time) { n.record("+" + sid) }

func (n *recordingObserver) ParticipantLeft(_, _, sid string, _ time.Time, _ room.LeaveReason) {
	n.record("-" + sid)
}

func (n *recordingObserver) record(line string) {
	if n.hold != nil {
		n.begun <- struct{}{}
		<-n.hold
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, line)
}

func (n *recordingObserver) recorded() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.calls)
}

func joinedEvent(sid string) event { return event{sid: sid, at: time.Now()} }

func leftEvent(sid string) event { return event{sid: sid, at: time.Now(), reason: room.LeftLost} }

func TestEventQueue_InOrderBeforeStopReturns(t *testing.T) {
	seen := &recordingObserver{}
	e := newEventQueue(metrics.NewMedia(nil))
	go e.run(seen)
	var want []string
	for i := range 2000 {
		sid := fmt.Sprint(i)
		e.add(joinedEvent(sid))
		e.add(leftEvent(sid))
		want = append(want, "+"+sid, "-"+sid)
	}
	e.stop(context.Background())
	if got := seen.recorded(); !slices.Equal(got, want) {
		t.Errorf("got %d events, want %d in the same order", len(got), len(want))
	}
	e.add(joinedEvent("late"))
	if got := seen.recorded(); len(got) != len(want) {
		t.Errorf("events after stop and one more add: got %d, want still %d", len(got), len(want))
	}
}

func TestEventQueue_OnceAndPaired(t *testing.T) {
	seen := &recordingObserver{}
	e := newEventQueue(metrics.NewMedia(nil))
	go e.run(seen)
	e.add(leftEvent("overtaken")) // the end is reported before the start
	e.add(joinedEvent("overtaken"))
	e.add(leftEvent("never began"))
	e.add(joinedEvent("a"))
	e.add(joinedEvent("a"))
	e.add(leftEvent("a"))
	e.add(leftEvent("a"))
	e.stop(context.Background())
	if got := seen.recorded(); !slices.Equal(got, []string{"+a", "-a"}) {
		t.Errorf("got events %v, want [+a -a]", got)
	}
}

func TestEventQueue_SlowObserver(t *testing.T) {
	seen := &recordingObserver{hold: make(chan struct{}), begun: make(chan struct{})}
	e := newEventQueue(metrics.NewMedia(nil))
	go e.run(seen)
	e.add(joinedEvent("1"))
	<-seen.begun
	for range 100 {
		e.add(joinedEvent("2")) // returns although the observer is blocked
	}
	if one, two, three := e.hasPending("1"), e.hasPending("2"), e.hasPending("3"); !one || !two || three {
		t.Errorf("pending events of 1, 2 and 3: got %v, %v and %v, want those of 1 and 2", one, two, three)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e.stop(ctx) // out of time: the rest is dropped
	seen.hold <- struct{}{}
	<-e.done
	if got := seen.recorded(); !slices.Equal(got, []string{"+1"}) {
		t.Errorf("got events %v, want [+1]", got)
	}
}

func TestLeaveReason(t *testing.T) {
	known := map[livekit.DisconnectReason]room.LeaveReason{
		livekit.DisconnectReason_CLIENT_INITIATED:    room.LeftByChoice,
		livekit.DisconnectReason_DUPLICATE_IDENTITY:  room.LeftReplaced,
		livekit.DisconnectReason_MIGRATION:           room.LeftMoved,
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

func TestJoinFailure(t *testing.T) {
	known := map[livekit.DisconnectReason]metrics.JoinFailure{
		livekit.DisconnectReason_CLIENT_INITIATED:    metrics.JoinLeft,
		livekit.DisconnectReason_DUPLICATE_IDENTITY:  metrics.JoinReplaced,
		livekit.DisconnectReason_PARTICIPANT_REMOVED: metrics.JoinRemoved,
		livekit.DisconnectReason_ROOM_DELETED:        metrics.JoinRoomEnded,
		livekit.DisconnectReason_ROOM_CLOSED:         metrics.JoinRoomEnded,
		livekit.DisconnectReason_SERVER_SHUTDOWN:     metrics.JoinServerStopped,
		livekit.DisconnectReason_JOIN_FAILURE:        metrics.JoinNotConnected,
	}
	for number, name := range livekit.DisconnectReason_name {
		want, ok := known[livekit.DisconnectReason(number)]
		if !ok {
			want = metrics.JoinLost
		}
		if got := joinFailure(livekit.DisconnectReason(number)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
