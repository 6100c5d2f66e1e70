package media

import (
	"context"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/livekit"
)

// signalClient relays the signaling of a participant to the node that hosts the session. Signaling that stays in this
// process does not go through Redis, so that it is quick and works while Redis is down.
type signalClient struct {
	routing.SignalClient                      // to other nodes
	local                routing.SignalClient // to this process
	self                 livekit.NodeID
}

// ActiveCount returns the number of participants whose signaling is relayed.
func (c *signalClient) ActiveCount() int { return c.SignalClient.ActiveCount() + c.local.ActiveCount() }

// StartParticipantSignal opens the signaling of a participant at a node.
func (c *signalClient) StartParticipantSignal(
	ctx context.Context, name livekit.RoomName, pi routing.ParticipantInit, node livekit.NodeID,
) (livekit.ConnectionID, routing.MessageSink, routing.MessageSource, error) {
	if node == c.self {
		return c.local.StartParticipantSignal(ctx, name, pi, node)
	}
	return c.SignalClient.StartParticipantSignal(ctx, name, pi, node)
}
