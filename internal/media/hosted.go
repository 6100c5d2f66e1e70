package media

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/routing/selector"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/livekit"
	"github.com/redis/go-redis/v9"
)

// hostedStore is the store of the room manager of a cluster. LiveKit writes to it while a meeting waits, so it only
// notes which sessions changed or ended, and flush writes them to Redis later. So a meeting goes on without Redis. A
// session that another node hosts now is not deleted.
type hostedStore struct {
	service.ObjectStore
	redis  redis.UniversalClient
	router routing.Router
	self   livekit.NodeID
	rooms  *service.RoomManager

	mu      sync.Mutex
	changed map[livekit.RoomName]struct{} // sessions whose state Redis does not know
	wake    chan struct{}                 // receives after a change

	flushing sync.Mutex // held by flush, so that its writes are in order
}

// StoreRoom notes that a session changed.
func (s *hostedStore) StoreRoom(_ context.Context, rm *livekit.Room, _ *livekit.RoomInternal) error {
	s.note(livekit.RoomName(rm.Name))
	return nil
}

// StoreParticipant does nothing, because the node that hosts a session is asked for its participants.
func (*hostedStore) StoreParticipant(context.Context, livekit.RoomName, *livekit.ParticipantInfo) error {
	return nil
}

// DeleteParticipant does nothing for the same reason.
func (*hostedStore) DeleteParticipant(context.Context, livekit.RoomName, livekit.ParticipantIdentity) error {
	return nil
}

// DeleteRoom notes that a session ended.
func (s *hostedStore) DeleteRoom(_ context.Context, name livekit.RoomName) error {
	s.note(name)
	return nil
}

// note makes flush write a session.
func (s *hostedStore) note(name livekit.RoomName) {
	s.remember(name)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *hostedStore) remember(name livekit.RoomName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = map[livekit.RoomName]struct{}{}
	}
	s.changed[name] = struct{}{}
}

// flush writes the sessions that changed to Redis as they are now, and deletes those that ended. What it could not
// write is left for the next call.
func (s *hostedStore) flush(ctx context.Context) (err error) {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	changed := s.changed
	s.changed = nil
	s.mu.Unlock()
	for name := range changed {
		if err == nil {
			err = s.write(ctx, name)
		}
		if err != nil {
			s.remember(name)
		}
	}
	return err
}

// write stores a session, or deletes it if this process does not have it any more.
func (s *hostedStore) write(ctx context.Context, name livekit.RoomName) error {
	if rm := s.rooms.GetRoom(ctx, name); rm != nil && !rm.IsClosed() {
		return s.ObjectStore.StoreRoom(ctx, rm.ToProto(), rm.Internal())
	}
	return s.delete(ctx, name, s.self)
}

// delete deletes a session and its host from Redis unless it has another host. Only earlier releases stored its
// participants.
func (s *hostedStore) delete(ctx context.Context, name livekit.RoomName, host livekit.NodeID) error {
	n := string(name)
	return deleteRoomScript.Run(ctx, s.redis, []string{routing.NodeRoomKey, service.RoomsKey,
		service.RoomInternalKey, service.RoomParticipantsPrefix + n}, n, string(host)).Err()
}

// errHostSilent is the error for a session whose host may be lost.
var errHostSilent = errors.New("the node that hosts the session does not respond")

// deleteIfHostLost deletes a session from Redis if its host is lost or unknown. If this node is the host, it leaves the
// deletion to flush. It returns true in each of these cases. A node that was only paused closes the session itself when
// it resumes. The error is errHostSilent if the host may be lost.
func (s *hostedStore) deleteIfHostLost(ctx context.Context, name livekit.RoomName) (deleted bool, err error) {
	id, err := s.redis.HGet(ctx, routing.NodeRoomKey, string(name)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	if livekit.NodeID(id) == s.self { // it has just ended here
		s.note(name)
		return true, nil
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

// move makes another node the host of a session. It reports false if this node is not the host.
func (s *hostedStore) move(ctx context.Context, name livekit.RoomName, target livekit.NodeID) (bool, error) {
	return moveRoomScript.Run(ctx, s.redis, []string{routing.NodeRoomKey},
		string(name), string(s.self), string(target)).Bool()
}

// hostedRouter is the router of the room manager of a cluster. It leaves the host of a session to hostedStore.
type hostedRouter struct{ routing.Router }

// ClearRoomState does nothing, because hostedStore also deletes the host of a session.
func (hostedRouter) ClearRoomState(context.Context, livekit.RoomName) error { return nil }

// apiStore is the store of LiveKit's API in a cluster, which would look for participants in Redis.
type apiStore struct{ service.ObjectStore }

// HasParticipant returns true, because the engine has asked the node that hosts the session.
func (apiStore) HasParticipant(context.Context, livekit.RoomName, livekit.ParticipantIdentity) (bool, error) {
	return true, nil
}

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
return 1`)
)
