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

// allocator decides what a LiveKit room is when it comes into being. It
// differs from LiveKit's own in three ways: the type of the session decides
// which codecs exist in it, a room comes into being through Open alone, and
// nobody is sent to a node that is probably dead.
// With LiveKit's own, somebody who was let in a moment before the session was
// closed would bring it back, with pictures.
type allocator struct {
	service.RoomAllocator
	router routing.Router
	self   livekit.NodeID
	// redisJustStarted reports whether Redis has; nil without Redis.
	redisJustStarted func(context.Context) bool
	store            service.ObjectStore
	codecs           func(room.Type) []*livekit.Codec
}

const (
	// Nodes of a cluster speak this often.
	nodeStatsInterval = time.Second
	// A node that has not spoken for this long is suspicious, in seconds.
	nodeSilentSeconds = 2
	// A Redis that has run for less, in seconds, may not have been told yet
	// which sessions there are.
	redisStartupSeconds = 2
)

// SelectRoomNode sees to it that a living node hosts the session. LiveKit takes
// a node for alive until five seconds after its last word, and whoever is sent
// to a dead one waits there in vain. So where the host is silent for longer
// than it should be, this waits until it speaks again or counts as dead. And
// where a Redis that has just started knows of no host, it waits for a host to
// say so.
func (a *allocator) SelectRoomNode(ctx context.Context, name livekit.RoomName, nodeID livekit.NodeID) error {
	look := time.NewTicker(nodeStatsInterval / 10)
	defer look.Stop()
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
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func missedHeartbeat(n *livekit.Node, now time.Time) bool {
	return n.Stats != nil && now.Unix()-n.Stats.UpdatedAt >= nodeSilentSeconds
}

// CreateRoom returns the room of that name. It makes one only for a request
// of Open, which is known by the type in its metadata: who joins sends none.
func (a *allocator) CreateRoom(ctx context.Context, req *livekit.CreateRoomRequest, _ bool) (*livekit.Room, *livekit.RoomInternal, bool, error) {
	name := livekit.RoomName(req.Name)
	lock, err := a.store.LockRoom(ctx, name, 5*time.Second)
	if err != nil {
		return nil, nil, false, err
	}
	defer func() { _ = a.store.UnlockRoom(ctx, name, lock) }()

	rm, internal, err := a.store.LoadRoom(ctx, name, true)
	if err == nil {
		return rm, internal, false, nil
	}
	codecs := a.codecs(typeFromMetadata(req.Metadata))
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

// codecsFor lists what a session of the type can carry. In a session for
// sound only the server then has no means to receive a picture: the section
// of the session description that offers one is rejected, whatever the track
// in it is called. Unknown types have none.
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
