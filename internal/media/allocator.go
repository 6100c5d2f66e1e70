package media

import (
	"context"
	"errors"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/routing/selector"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/codecs/mime"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/utils"
	"github.com/livekit/protocol/utils/guid"

	"parley/internal/media/signalfilter"
	"parley/internal/room"
)

// allocator creates LiveKit rooms and selects their nodes. It differs from LiveKit's
// allocator in three ways: the type of the session decides which codecs a room has, only
// Open creates a room, and no participant is sent to a node that is probably dead. With
// LiveKit's allocator, a participant who was admitted just before the session was closed
// would create it again, and with video codecs.
type allocator struct {
	service.RoomAllocator
	router routing.Router
	self   livekit.NodeID
	// redisJustStarted reports whether Redis started a moment ago. It is nil without Redis.
	redisJustStarted func(context.Context) bool
	store            service.ObjectStore
	codecs           func(room.Type) []*livekit.Codec
}

const (
	// nodeStatsInterval is the time between two heartbeats of a node.
	nodeStatsInterval = time.Second
	// nodeSilentSeconds is the time without a heartbeat after which a node is suspected
	// to be dead, in seconds.
	nodeSilentSeconds = 2
	// redisStartupSeconds is the uptime below which Redis may not know all sessions
	// yet, in seconds.
	redisStartupSeconds = 2
)

// SelectRoomNode selects a living node to host the session. LiveKit considers a node
// alive until five seconds after its last heartbeat, and a participant that is sent to a
// dead node never connects. If the host has missed heartbeats, SelectRoomNode therefore
// waits until the host sends one or counts as dead. If Redis has just started and knows
// no host, it waits for a host to register.
func (a *allocator) SelectRoomNode(ctx context.Context, name livekit.RoomName, nodeID livekit.NodeID) error {
	ticker := time.NewTicker(nodeStatsInterval / 10)
	defer ticker.Stop()
	for {
		host, err := a.router.GetNodeForRoom(ctx, name)
		wait := false
		switch {
		case errors.Is(err, routing.ErrNotFound):
			wait = a.redisJustStarted != nil && a.redisJustStarted(ctx)
		case err == nil:
			wait = livekit.NodeID(host.Id) != a.self && missedHeartbeat(host, time.Now()) && selector.IsAvailable(host)
		}
		if !wait {
			return a.RoomAllocator.SelectRoomNode(ctx, name, nodeID)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func missedHeartbeat(n *livekit.Node, now time.Time) bool {
	return n.Stats != nil && now.Unix()-n.Stats.UpdatedAt >= nodeSilentSeconds
}

// CreateRoom returns the room with the requested name. It creates a room only for a
// request of Open, which has a session type in its metadata; the request of a
// participant who joins has none.
func (a *allocator) CreateRoom(
	ctx context.Context, req *livekit.CreateRoomRequest, _ bool,
) (*livekit.Room, *livekit.RoomInternal, bool, error) {
	name := livekit.RoomName(req.Name)
	lock, err := a.store.LockRoom(ctx, name, 5*time.Second)
	if err != nil {
		return nil, nil, false, err
	}
	defer func() { _ = a.store.UnlockRoom(ctx, name, lock) }()

	codecs := a.codecs(typeFromMetadata(req.Metadata))
	host, err := a.router.GetNodeForRoom(ctx, name)
	if err == nil && livekit.NodeID(host.Id) != a.self && len(codecs) == 0 {
		return nil, nil, false, routing.ErrIncorrectRTCNode // it was handed over while the participant was on the way
	}
	rm, internal, err := a.store.LoadRoom(ctx, name, true)
	if err == nil {
		return rm, internal, false, nil
	}
	if !errors.Is(err, service.ErrRoomNotFound) || len(codecs) == 0 {
		return nil, nil, false, err
	}

	now := time.Now()
	rm = &livekit.Room{
		Sid:              guid.New(utils.RoomPrefix),
		Name:             req.Name,
		EmptyTimeout:     req.EmptyTimeout,
		DepartureTimeout: req.DepartureTimeout,
		MaxParticipants:  req.MaxParticipants,
		CreationTime:     now.Unix(),
		CreationTimeMs:   now.UnixMilli(),
		EnabledCodecs:    codecs,
		Metadata:         req.Metadata,
	}
	internal = &livekit.RoomInternal{PlayoutDelay: &livekit.PlayoutDelay{}}
	if err := a.store.StoreRoom(ctx, rm, internal); err != nil {
		return nil, nil, false, err
	}
	return rm, internal, true, nil
}

// codecsFor returns the codecs of a session of the type; an unknown type has none. In an
// audio session the server cannot receive video, because it rejects the section of the
// session description that offers video, whatever the source of the track is.
func codecsFor(t room.Type) []*livekit.Codec {
	var all []*livekit.Codec
	for _, name := range signalfilter.Codecs(livekit.TrackType_AUDIO) {
		all = append(all, &livekit.Codec{Mime: "audio/" + name})
	}
	switch t {
	case room.Audio:
		return all
	case room.Video:
		for _, name := range signalfilter.Codecs(livekit.TrackType_VIDEO) {
			all = append(all, &livekit.Codec{Mime: "video/" + name})
		}
		return append(all, &livekit.Codec{Mime: mime.MimeTypeRTX.String()})
	}
	return nil
}
