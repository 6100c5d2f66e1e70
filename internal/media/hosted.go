package media

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/routing/selector"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/livekit"
	"github.com/redis/go-redis/v9"
)

// hostedStore is the store of the room manager of a cluster. When a session ends in this process, LiveKit deletes it
// from Redis, and may still store its participants. hostedStore prevents both if another node hosts the session now.
type hostedStore struct {
	service.ObjectStore
	redis  redis.UniversalClient
	router routing.Router
	self   livekit.NodeID
	rooms  *service.RoomManager
}

// isOpen reports whether this process has the session and is not ending it.
func (s *hostedStore) isOpen(name livekit.RoomName) bool {
	rm := s.rooms.GetRoom(context.Background(), name)
	return rm != nil && !rm.IsClosed()
}

// StoreRoom stores an open session.
func (s *hostedStore) StoreRoom(ctx context.Context, rm *livekit.Room, internal *livekit.RoomInternal) error {
	if !s.isOpen(livekit.RoomName(rm.Name)) {
		return nil
	}
	return s.ObjectStore.StoreRoom(ctx, rm, internal)
}

// StoreParticipant stores a participant of an open session.
func (s *hostedStore) StoreParticipant(ctx context.Context, name livekit.RoomName, p *livekit.ParticipantInfo) error {
	if !s.isOpen(name) {
		return nil
	}
	return s.ObjectStore.StoreParticipant(ctx, name, p)
}

// DeleteParticipant deletes a participant of an open session. DeleteRoom deletes all of a session that ends.
func (s *hostedStore) DeleteParticipant(ctx context.Context, name livekit.RoomName,
	identity livekit.ParticipantIdentity) error {
	if !s.isOpen(name) {
		return nil
	}
	return s.ObjectStore.DeleteParticipant(ctx, name, identity)
}

// DeleteRoom deletes a session and its host from Redis unless another node hosts it. It ignores the context,
// because LiveKit passes that of the request that created the session.
func (s *hostedStore) DeleteRoom(_ context.Context, name livekit.RoomName) error {
	return s.delete(context.Background(), name, s.self)
}

// delete deletes a session and its host from Redis unless it has another host.
func (s *hostedStore) delete(ctx context.Context, name livekit.RoomName, host livekit.NodeID) error {
	n := string(name)
	return deleteRoomScript.Run(ctx, s.redis, []string{routing.NodeRoomKey, service.RoomsKey,
		service.RoomInternalKey, service.RoomParticipantsPrefix + n}, n, string(host)).Err()
}

// errHostSilent is the error for a session whose host may be lost.
var errHostSilent = errors.New("the node that hosts the session does not respond")

// deleteIfHostLost deletes a session from Redis if the node that hosts it is lost, and reports whether it did. A node
// that only stood still closes such a session itself when it goes on. The error is errHostSilent if the host may be
// lost.
func (s *hostedStore) deleteIfHostLost(ctx context.Context, name livekit.RoomName) (deleted bool, err error) {
	id, err := s.redis.HGet(ctx, routing.NodeRoomKey, string(name)).Result()
	if err != nil && !errors.Is(err, redis.Nil) || livekit.NodeID(id) == s.self {
		return false, err
	}
	nodes, err := s.router.ListNodes()
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(nodes, func(n *livekit.Node) bool { return n.Id == id })
	switch {
	case i < 0 || !selector.IsAvailable(nodes[i]):
		return true, s.delete(ctx, name, livekit.NodeID(id))
	case missedHeartbeat(nodes[i], time.Now()):
		return false, errHostSilent
	}
	return false, nil
}

// move makes another node the host of a session, and forgets its participants. It reports false if this node is
// not the host.
func (s *hostedStore) move(ctx context.Context, name livekit.RoomName, target livekit.NodeID) (bool, error) {
	n := string(name)
	return moveRoomScript.Run(ctx, s.redis, []string{routing.NodeRoomKey, service.RoomParticipantsPrefix + n},
		n, string(s.self), string(target)).Bool()
}

// hostedRouter is the router of the room manager of a cluster. It leaves the host of a session to hostedStore.
type hostedRouter struct{ routing.Router }

// ClearRoomState does nothing, because hostedStore.DeleteRoom also deletes the host of a session.
func (hostedRouter) ClearRoomState(context.Context, livekit.RoomName) error { return nil }

// The scripts run as a whole, so two nodes cannot both become the host of a session.
var (
	deleteRoomScript = redis.NewScript(`
local host = redis.call('HGET', KEYS[1], ARGV[1])
if host and host ~= ARGV[2] then return 0 end
for i = 1, 3 do redis.call('HDEL', KEYS[i], ARGV[1]) end
redis.call('DEL', KEYS[4])
return 1`)

	moveRoomScript = redis.NewScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('DEL', KEYS[2])
return 1`)
)
