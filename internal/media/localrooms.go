package media

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/protocol/livekit"
)

// registerInterval is the time between two checks of a cluster node that Redis knows the
// sessions that the node hosts.
const registerInterval = 250 * time.Millisecond

// localRooms are the names of the sessions that this process hosts.
type localRooms struct {
	mu    sync.Mutex
	names map[string]struct{}
}

func (l *localRooms) add(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names == nil {
		l.names = map[string]struct{}{}
	}
	l.names[session] = struct{}{}
}

func (l *localRooms) remove(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.names, session)
}

func (l *localRooms) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.names))
}

// registerLocalRooms writes changed sessions to Redis, and compares the local sessions with it, for as long as the
// engine runs. A Redis that was restarted knows no sessions, and the next participant would be alone in a new
// session of the same name on another node. A session for which Redis names another node was
// opened there while this process stood still.
func (e *Engine) registerLocalRooms() {
	tick := time.NewTicker(registerInterval)
	defer tick.Stop()
	for {
		check := false
		select {
		case <-tick.C:
			check = true
		case <-e.node.hosted.wake:
		case <-e.done:
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err := e.node.hosted.flush(ctx)
		if err == nil && check {
			err = e.checkRegistrations(ctx)
		}
		if err != nil {
			e.log.Debug("update the local sessions in Redis failed, will retry", "error", err)
		}
		cancel()
	}
}

// checkRegistrations registers the local sessions that Redis does not know, and gives up those
// that another node hosts.
func (e *Engine) checkRegistrations(ctx context.Context) error {
	names := e.localRooms.list()
	if len(names) == 0 {
		return nil
	}
	known, err := e.node.redis.HMGet(ctx, routing.NodeRoomKey, names...).Result()
	if err != nil {
		return err
	}
	for i, name := range names {
		rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(name))
		owner, isKnown := known[i].(string)
		if rm == nil || rm.IsClosed() || owner == string(e.node.self.NodeID()) {
			continue
		}
		if isKnown {
			e.log.Warn("giving up a session that another node hosts", "session", name, "node", owner)
			rm.Close(types.ParticipantCloseReasonRoomManagerStop) // its participants connect again, to that node
			continue
		}
		if err := e.register(ctx, rm); err != nil {
			return err
		}
		e.log.Info("registered a local session in Redis again", "session", name)
	}
	return nil
}

// register stores in Redis that this node hosts a session, unless another node does.
func (e *Engine) register(ctx context.Context, rm *rtc.Room) error {
	if err := e.node.store.StoreRoom(ctx, rm.ToProto(), rm.Internal()); err != nil {
		return err
	}
	err := e.node.redis.HSetNX(ctx, routing.NodeRoomKey, string(rm.Name()), string(e.node.self.NodeID())).Err()
	if err == nil && rm.IsClosed() { // it ended meanwhile
		err = e.node.hosted.DeleteRoom(ctx, rm.Name())
	}
	return err
}
