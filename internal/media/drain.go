package media

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing/selector"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/protocol/livekit"

	"parley/internal/fault"
)

// SetDraining makes all nodes select others than this one for new sessions, or this one again. They learn it from
// Redis, at once or when LiveKit registers the node again, every second. Without Redis it does nothing.
func (e *Engine) SetDraining(draining bool) {
	if e.checkRunning() != nil || e.node.redis == nil {
		return
	}
	state := livekit.NodeState_SERVING
	if draining {
		state = livekit.NodeState_SHUTTING_DOWN
	}
	e.node.self.SetState(state)
	go func() { _ = e.node.router.RegisterNode() }()
}

// ErrNoOtherNode is the error of HandOver if no other node can host a session.
var ErrNoOtherNode = fault.New(fault.Conflict, "no_other_node", "no other node can take the meetings of this node")

// HandOver makes another node host a session of this process, and ends it here. The participants connect again, to
// that node. It does nothing for a session that this process does not host. The error is ErrNoOtherNode or
// Unavailable.
func (e *Engine) HandOver(ctx context.Context, session string) error {
	if err := e.checkRunning(); err != nil {
		return err
	}
	rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(session))
	if rm == nil || rm.IsClosed() || e.node.hosted == nil {
		return nil
	}
	target, err := e.otherNode(rm.GetParticipantCount())
	if err != nil {
		return err
	}
	// The other node continues with the state that Redis has.
	if err := e.node.hosted.flush(ctx); err != nil {
		return unavailableError("hand over a session", err)
	}
	// Redis first, so that whoever connects again finds the other node. Otherwise registerLocalRooms decides.
	moved, err := e.node.hosted.move(ctx, rm.Name(), target)
	if err != nil {
		return unavailableError("hand over a session", err)
	}
	if moved {
		e.log.Info("handing over a session", "session", session, "node", target)
		rm.Close(types.ParticipantCloseReasonRoomManagerStop)
	}
	return nil
}

// otherNode selects the node that takes a session of so many people: that with the fewest participants, where those
// who were handed over to it since its last message count, too. A node whose last message is late is only selected if
// there is no other: LiveKit leaves out a message now and then, and whoever connects waits for the next one (see
// SelectRoomNode).
func (e *Engine) otherNode(people int) (livekit.NodeID, error) {
	nodes, err := e.node.router.ListNodes()
	if err != nil {
		return "", unavailableError("list the nodes", err)
	}
	e.handedOver.mu.Lock()
	defer e.handedOver.mu.Unlock()
	var best, late *livekit.Node
	load := func(n *livekit.Node) int { return int(n.Stats.GetNumClients()) + e.handedOver.since(n) }
	for _, n := range nodes {
		if n.Id == string(e.node.self.NodeID()) || n.State != livekit.NodeState_SERVING || !selector.IsAvailable(n) {
			continue
		}
		if missedHeartbeat(n, time.Now()) {
			late = n
		} else if best == nil || load(n) < load(best) {
			best = n
		}
	}
	if best = cmp.Or(best, late); best == nil {
		return "", ErrNoOtherNode
	}
	e.handedOver.add(best, people)
	return livekit.NodeID(best.Id), nil
}

// handedOver counts the people that nodes have got since their last message.
type handedOver struct {
	mu    sync.Mutex // held while a node is selected
	nodes map[string]handedOverTo
}

type handedOverTo struct {
	at     int64 // time of the node's last message, in seconds
	people int
}

func (h *handedOver) since(n *livekit.Node) int {
	if to := h.nodes[n.Id]; to.at == n.Stats.GetUpdatedAt() {
		return to.people
	}
	return 0
}

func (h *handedOver) add(n *livekit.Node, people int) {
	if h.nodes == nil {
		h.nodes = map[string]handedOverTo{}
	}
	h.nodes[n.Id] = handedOverTo{at: n.Stats.GetUpdatedAt(), people: h.since(n) + people}
}
