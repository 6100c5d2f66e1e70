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

// registerInterval is how often a node of a cluster sees to it that Redis knows
// which sessions it hosts.
const registerInterval = 250 * time.Millisecond

// localRooms are the sessions that live in this process.
type localRooms struct {
	mu    sync.Mutex
	names map[string]struct{}
}

func (h *localRooms) add(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names == nil {
		h.names = map[string]struct{}{}
	}
	h.names[session] = struct{}{}
}

func (h *localRooms) remove(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.names, session)
}

func (h *localRooms) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.names))
}

// registerLocalRooms tells Redis what is hosted here for as long as the engine runs. One
// that was started again knows nothing, and the next person to come would be
// given a session of the same name on another node, alone in it.
func (e *Engine) registerLocalRooms() {
	tick := time.NewTicker(registerInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := e.registerMissingRooms(ctx); err != nil {
				e.log.Debug("Redis could not be told which sessions are hosted here", "error", err)
			}
			cancel()
		case <-e.done:
			return
		}
	}
}

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
		if err := e.node.store.StoreRoom(ctx, rm.ToProto(), &livekit.RoomInternal{PlayoutDelay: &livekit.PlayoutDelay{}}); err != nil {
			return err
		}
		if err := e.node.router.SetNodeForRoom(ctx, livekit.RoomName(name), e.node.self.NodeID()); err != nil {
			return err
		}
		e.log.Info("told Redis again that a session is hosted here", "session", name)
	}
	return nil
}
