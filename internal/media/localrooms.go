package media

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
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

// registerLocalRooms keeps the local sessions registered in Redis for as long as the
// engine runs. A Redis that was restarted knows no sessions, and the next participant
// would be alone in a new session of the same name on another node.
func (e *Engine) registerLocalRooms() {
	tick := time.NewTicker(registerInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := e.registerMissingRooms(ctx); err != nil {
				e.log.Debug("register local sessions in Redis failed, will retry", "error", err)
			}
			cancel()
		case <-e.done:
			return
		}
	}
}

// registerMissingRooms registers the local sessions that Redis does not know.
func (e *Engine) registerMissingRooms(ctx context.Context) error {
	names := e.localRooms.list()
	if len(names) == 0 {
		return nil
	}
	known, err := e.node.redis.HMGet(ctx, routing.NodeRoomKey, names...).Result()
	if err != nil {
		return err
	}
	for i, name := range names {
		if known[i] != nil {
			continue
		}
		rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(name))
		if rm == nil {
			continue
		}
		internal := &livekit.RoomInternal{PlayoutDelay: &livekit.PlayoutDelay{}}
		if err := e.node.store.StoreRoom(ctx, rm.ToProto(), internal); err != nil {
			return err
		}
		if err := e.node.router.SetNodeForRoom(ctx, livekit.RoomName(name), e.node.self.NodeID()); err != nil {
			return err
		}
		e.log.Info("registered a local session in Redis again", "session", name)
	}
	return nil
}
