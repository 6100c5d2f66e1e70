package media

import (
	"context"
	"errors"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/rtc/types"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/psrpc"

	"parley/internal/fault"
	"parley/internal/room"
)

// Open creates the session and selects the node that hosts it, so that the holder of an
// access token can join immediately. Its metadata becomes the metadata of the LiveKit
// room, which pages can read and only this package can write. LiveKit counts hidden
// participants too, so MaxParticipants has to include them.
func (e *Engine) Open(ctx context.Context, s room.MediaSession) error {
	if err := e.checkRunning(); err != nil {
		return err
	}
	if s.Name == "" || len(codecsFor(s.Type)) == 0 || s.MaxParticipants < 0 {
		return fault.Invalidf("a media session needs a name, a known type and a non-negative maximum of participants")
	}
	text, err := encodeMetadata(s.Type, s.Metadata)
	if err != nil {
		return err
	}
	_, err = e.node.api.CreateRoom(e.node.withGrant(ctx, &auth.VideoGrant{RoomCreate: true}),
		&livekit.CreateRoomRequest{
			Name:             s.Name,
			Metadata:         text,
			MaxParticipants:  uint32(s.MaxParticipants),
			EmptyTimeout:     idleTimeoutSeconds,
			DepartureTimeout: idleTimeoutSeconds,
		})
	return unavailableError("open a session", err)
}

// Close ends the session and notifies its participants.
func (e *Engine) Close(ctx context.Context, session string) error {
	location, err := e.locate(ctx, session)
	if err != nil {
		return err
	}
	switch {
	case location.local:
		_, err = e.node.rooms.DeleteRoom(ctx, &livekit.DeleteRoomRequest{Room: session})
	case location.exists:
		err = e.closeRemote(ctx, session)
	}
	return unavailableError("close a session", ignoreNotFound(err))
}

// closeRemote ends a session of another node. If that node is lost, it only deletes the session from Redis, because
// LiveKit would wait for the lost node at each attempt.
func (e *Engine) closeRemote(ctx context.Context, session string) error {
	if e.node.hosted != nil {
		if deleted, err := e.node.hosted.deleteIfHostLost(ctx, livekit.RoomName(session)); err != nil || deleted {
			return err
		}
	}
	_, err := e.node.api.DeleteRoom(e.node.withGrant(ctx, &auth.VideoGrant{RoomCreate: true}),
		&livekit.DeleteRoomRequest{Room: session})
	return err
}

// Participants returns all participants of the session, including hidden ones. The active
// ones are those that the observer is notified of. An error does not mean that the session
// is empty, because in a cluster the node that hosts it may be unreachable.
func (e *Engine) Participants(ctx context.Context, session string) ([]room.Participant, error) {
	location, err := e.locate(ctx, session)
	if err != nil {
		return nil, err
	}
	list, err := e.listParticipants(ctx, location, session)
	var present []room.Participant
	for _, p := range list {
		if p.State != livekit.ParticipantInfo_DISCONNECTED {
			present = append(present, room.Participant{Identity: p.Identity, SID: p.Sid, JoinedAt: joinedAt(p),
				Active: p.State == livekit.ParticipantInfo_ACTIVE})
		}
	}
	return present, err
}

// localParticipant returns a participant of a session in this process, or nil.
func (e *Engine) localParticipant(session, identity string) types.LocalParticipant {
	rm := e.node.rooms.GetRoom(context.Background(), livekit.RoomName(session))
	if rm == nil {
		return nil
	}
	return rm.GetParticipant(livekit.ParticipantIdentity(identity))
}

// Quality returns the quality of a participant's connection, as LiveKit rates the tracks that the
// participant sends and receives; without a track it is excellent. It is [room.QualityUnknown] if
// the participant is not in a session of this process. LiveKit computes it, so it is no cheap read.
func (e *Engine) Quality(session, identity string) room.ConnectionQuality {
	p := e.localParticipant(session, identity)
	if p == nil {
		return room.QualityUnknown
	}
	switch p.GetConnectionQuality().GetQuality() {
	case livekit.ConnectionQuality_EXCELLENT:
		return room.QualityExcellent
	case livekit.ConnectionQuality_GOOD:
		return room.QualityGood
	case livekit.ConnectionQuality_POOR:
		return room.QualityPoor
	default:
		return room.QualityLost
	}
}

func (e *Engine) listParticipants(
	ctx context.Context, location sessionLocation, session string,
) ([]*livekit.ParticipantInfo, error) {
	req := &livekit.ListParticipantsRequest{Room: session}
	var list *livekit.ListParticipantsResponse
	var err error
	switch {
	case location.local:
		list, err = e.node.rooms.ListParticipants(ctx, req)
	case location.exists:
		list, err = e.node.api.ListParticipants(e.node.withRoomAdmin(ctx, session), req)
	}
	return list.GetParticipants(), unavailableError("list participants", ignoreNotFound(err))
}

// Connection returns the id of a participant's connection, or nothing if the participant is
// not in a session of this process.
func (e *Engine) Connection(session, identity string) string {
	p := e.localParticipant(session, identity)
	if p == nil {
		return ""
	}
	return string(p.ID())
}

// IsReporting reports whether an event of a connection has not been delivered to the observer yet.
func (e *Engine) IsReporting(connection string) bool { return e.events.hasPending(connection) }

// ConnectionType returns the type of the first of a participant's transports that is
// connected.
func (e *Engine) ConnectionType(session, identity string) room.ConnectionType {
	p := e.localParticipant(session, identity)
	if p == nil {
		return room.ConnectionUnknown
	}
	connections := p.GetICEConnectionInfo()
	for _, info := range connections {
		if remote := selectedRemote(info); remote != nil && e.isRelayed(remote) {
			return room.ConnectionTURN
		}
	}
	switch types.ICEConnectionInfosType(connections) {
	case types.ICEConnectionTypeUDP:
		return room.ConnectionUDP
	case types.ICEConnectionTypeTCP:
		return room.ConnectionTCP
	case types.ICEConnectionTypeTURN:
		return room.ConnectionTURN
	}
	return room.ConnectionUnknown
}

// Admit stops holding back the connection with the given id, so that the others see and
// hear its participant.
func (e *Engine) Admit(connection string) { e.admissions.admit(livekit.ParticipantID(connection)) }

// Remove disconnects the participant. A participant that is not in the session is no
// error.
func (e *Engine) Remove(ctx context.Context, session, identity string) error {
	location, err := e.locate(ctx, session)
	if err != nil || !location.exists {
		return err
	}
	req := &livekit.RoomParticipantIdentity{Room: session, Identity: identity}
	if location.local {
		_, err = e.node.rooms.RemoveParticipant(ctx, req)
	} else if _, err = e.getParticipant(ctx, location, session, identity); err == nil { // see apiStore
		_, err = e.node.api.RemoveParticipant(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("remove a participant", ignoreNotFound(err))
}

// CloseConnection closes a connection whose participant belongs elsewhere. Its page gets the
// reason MIGRATION, and asks for its seat again.
func (e *Engine) CloseConnection(session, identity, connection string) {
	if rm := e.node.rooms.GetRoom(context.Background(), livekit.RoomName(session)); rm != nil {
		rm.RemoveParticipant(livekit.ParticipantIdentity(identity), livekit.ParticipantID(connection),
			types.ParticipantCloseReasonMigrationRequested)
	}
}

// IsLocal reports whether this process hosts the session.
func (e *Engine) IsLocal(session string) bool {
	return e.checkRunning() == nil && e.node.rooms.GetRoom(context.Background(), livekit.RoomName(session)) != nil
}

// LocalSessions returns the sessions that this process hosts, also those of connection checks.
func (e *Engine) LocalSessions() []string { return e.localRooms.list() }

// sessionLocation says where a session is hosted.
type sessionLocation struct {
	local    bool // in this process, so that no message bus is needed
	exists   bool // on any node
	roomType room.Type
}

func (e *Engine) locate(ctx context.Context, session string) (sessionLocation, error) {
	if err := e.checkRunning(); err != nil {
		return sessionLocation{}, err
	}
	rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(session))
	if rm != nil && (e.node.hosted == nil || !rm.IsClosed()) { // a closed one may be on another node now
		return sessionLocation{local: true, exists: true, roomType: typeFromMetadata(rm.ToProto().Metadata)}, nil
	}
	stored, _, err := e.node.store.LoadRoom(ctx, livekit.RoomName(session), false)
	if errors.Is(err, service.ErrRoomNotFound) {
		return sessionLocation{}, nil
	}
	if err != nil {
		return sessionLocation{}, unavailableError("locate a session", err)
	}
	return sessionLocation{exists: true, roomType: typeFromMetadata(stored.Metadata)}, nil
}

func (e *Engine) checkRunning() error {
	if e.state.Load() != started {
		return fault.New(fault.Unavailable, "media_unavailable", "the media engine is not running")
	}
	return nil
}

// unavailableError wraps an error of LiveKit in a fault with the failed operation. It
// returns nil if err is nil.
func unavailableError(operation string, err error) error {
	if err == nil {
		return nil
	}
	unavailable := fault.New(fault.Unavailable, "media_unavailable", "the media engine could not %s", operation)
	unavailable.Err = err
	return unavailable
}

// ignoreNotFound returns nil for the error that a room or participant does not exist,
// because callers treat its absence as success.
func ignoreNotFound(err error) error {
	var e psrpc.Error
	if errors.As(err, &e) && e.Code() == psrpc.NotFound || errors.Is(err, routing.ErrNotFound) {
		return nil
	}
	return err
}
