package media

import (
	"context"
	"errors"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/psrpc"

	"parley/internal/fault"
	"parley/internal/room"
)

// Open makes the session and has a node host it, so that the holder of a pass
// is let in at once. Its info travels as the room's metadata, which pages can
// read and nobody but this package can write. LiveKit counts hidden
// participants against the bound, so it has to leave room for them.
func (e *Engine) Open(ctx context.Context, s room.MediaSession) error {
	if err := e.checkRunning(); err != nil {
		return err
	}
	if s.Name == "" || len(codecsFor(s.Type)) == 0 || s.MaxParticipants < 0 {
		return fault.Invalidf("a media session needs a name, a type and a bound that is not negative")
	}
	text, err := encodeMetadata(s.Type, s.Metadata)
	if err != nil {
		return err
	}
	_, err = e.node.api.CreateRoom(e.node.withGrant(ctx, &auth.VideoGrant{RoomCreate: true}), &livekit.CreateRoomRequest{
		Name:             s.Name,
		Metadata:         text,
		MaxParticipants:  uint32(s.MaxParticipants),
		EmptyTimeout:     idleTimeoutSeconds,
		DepartureTimeout: idleTimeoutSeconds,
	})
	return unavailableError("open a session", err)
}

// Close ends the session and tells whoever is in it.
func (e *Engine) Close(ctx context.Context, session string) error {
	at, err := e.locate(ctx, session)
	if err != nil {
		return err
	}
	req := &livekit.DeleteRoomRequest{Room: session}
	switch {
	case at.local:
		_, err = e.node.rooms.DeleteRoom(ctx, req)
	case at.exists:
		_, err = e.node.api.DeleteRoom(e.node.withGrant(ctx, &auth.VideoGrant{RoomCreate: true}), req)
	}
	return unavailableError("close a session", ignoreNotFound(err))
}

// Participants lists everybody in the session, hidden or not. Those who are
// active are the same as the observer hears of. An error is not an empty
// session: in a cluster the node that hosts it may be out of reach.
func (e *Engine) Participants(ctx context.Context, session string) ([]room.Participant, error) {
	at, err := e.locate(ctx, session)
	if err != nil {
		return nil, err
	}
	list, err := e.listParticipants(ctx, at, session)
	var present []room.Participant
	for _, p := range list {
		if p.State != livekit.ParticipantInfo_DISCONNECTED {
			present = append(present, room.Participant{Identity: p.Identity, SID: p.Sid, JoinedAt: joinedAt(p),
				Active: p.State == livekit.ParticipantInfo_ACTIVE})
		}
	}
	return present, err
}

func (e *Engine) listParticipants(ctx context.Context, at sessionLocation, session string) ([]*livekit.ParticipantInfo, error) {
	req := &livekit.ListParticipantsRequest{Room: session}
	var list *livekit.ListParticipantsResponse
	var err error
	switch {
	case at.local:
		list, err = e.node.rooms.ListParticipants(ctx, req)
	case at.exists:
		list, err = e.node.api.ListParticipants(e.node.withRoomAdmin(ctx, session), req)
	}
	return list.GetParticipants(), unavailableError("list participants", ignoreNotFound(err))
}

// Admit implements room.Media.
func (e *Engine) Admit(connection string) { e.admissions.admit(livekit.ParticipantID(connection)) }

// Remove takes the participant out.
func (e *Engine) Remove(ctx context.Context, session, identity string) error {
	at, err := e.locate(ctx, session)
	if err != nil || !at.exists {
		return err
	}
	req := &livekit.RoomParticipantIdentity{Room: session, Identity: identity}
	if at.local {
		_, err = e.node.rooms.RemoveParticipant(ctx, req)
	} else {
		_, err = e.node.api.RemoveParticipant(e.node.withRoomAdmin(ctx, session), req)
	}
	return unavailableError("remove a participant", ignoreNotFound(err))
}

// IsLocal reports whether the session lives in this process.
func (e *Engine) IsLocal(session string) bool {
	return e.checkRunning() == nil && e.node.rooms.GetRoom(context.Background(), livekit.RoomName(session)) != nil
}

// sessionLocation is where a session lives.
type sessionLocation struct {
	local    bool // in this process, where asking it needs no message bus
	exists   bool // anywhere
	roomType room.Type
}

func (e *Engine) locate(ctx context.Context, session string) (sessionLocation, error) {
	if err := e.checkRunning(); err != nil {
		return sessionLocation{}, err
	}
	if rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(session)); rm != nil {
		return sessionLocation{local: true, exists: true, roomType: typeFromMetadata(rm.ToProto().Metadata)}, nil
	}
	rm, _, err := e.node.store.LoadRoom(ctx, livekit.RoomName(session), false)
	if errors.Is(err, service.ErrRoomNotFound) {
		return sessionLocation{}, nil
	}
	if err != nil {
		return sessionLocation{}, unavailableError("look for a session", err)
	}
	return sessionLocation{exists: true, roomType: typeFromMetadata(rm.Metadata)}, nil
}

func (e *Engine) checkRunning() error {
	if e.state.Load() != started {
		return fault.New(fault.Unavailable, "media_unavailable", "the media engine is not running")
	}
	return nil
}

// unavailableError is what the caller is told of an error of LiveKit.
func unavailableError(what string, err error) error {
	if err == nil {
		return nil
	}
	refusal := fault.New(fault.Unavailable, "media_unavailable", "the media engine could not %s", what)
	refusal.Err = err
	return refusal
}

// ignoreNotFound drops the error of somebody or something that is not there any
// more: that is what was wanted.
func ignoreNotFound(err error) error {
	var e psrpc.Error
	if errors.As(err, &e) && e.Code() == psrpc.NotFound || errors.Is(err, routing.ErrNotFound) {
		return nil
	}
	return err
}
