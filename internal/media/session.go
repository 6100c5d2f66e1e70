package media

import (
	"context"
	"errors"
	"time"

	"github.com/livekit/livekit-server/pkg/routing"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"github.com/livekit/psrpc"

	"parley/internal/fault"
	"parley/internal/room"
)

// Open makes the session and has a node host it, so that the holder of a pass
// is let in at once. The type travels as the room's metadata, which pages can
// read and nobody but this package can write.
func (e *Engine) Open(ctx context.Context, s room.MediaSession) error {
	if err := e.up(); err != nil {
		return err
	}
	if s.Name == "" || len(codecsOf(s.Type)) == 0 || s.MaxParticipants < 0 {
		return fault.Invalidf("a media session needs a name, a type and a bound that is not negative")
	}
	_, err := e.node.api.CreateRoom(e.node.as(ctx, &auth.VideoGrant{RoomCreate: true}), &livekit.CreateRoomRequest{
		Name:             s.Name,
		Metadata:         string(s.Type),
		MaxParticipants:  uint32(s.MaxParticipants),
		EmptyTimeout:     idleFor,
		DepartureTimeout: idleFor,
	})
	return unavailable("open a session", err)
}

// Close ends the session and tells whoever is in it.
func (e *Engine) Close(ctx context.Context, session string) error {
	if err := e.up(); err != nil {
		return err
	}
	e.shut.forget(session)
	req := &livekit.DeleteRoomRequest{Room: session}
	var err error
	if e.hosts(ctx, session) {
		_, err = e.node.rooms.DeleteRoom(ctx, req)
	} else {
		_, err = e.node.api.DeleteRoom(e.node.as(ctx, &auth.VideoGrant{RoomCreate: true}), req)
	}
	if notFound(err) {
		return nil
	}
	return unavailable("close a session", err)
}

// Participants lists whose media is connected, the same as the observer hears
// of. An error is not an empty session: in a cluster the node that hosts it
// may be out of reach.
func (e *Engine) Participants(ctx context.Context, session string) ([]room.Present, error) {
	if err := e.up(); err != nil {
		return nil, err
	}
	req := &livekit.ListParticipantsRequest{Room: session}
	var list *livekit.ListParticipantsResponse
	var err error
	switch known, storeErr := e.node.store.RoomExists(ctx, livekit.RoomName(session)); {
	case e.hosts(ctx, session):
		list, err = e.node.rooms.ListParticipants(ctx, req)
	case storeErr != nil:
		err = storeErr
	case known:
		list, err = e.node.api.ListParticipants(e.node.as(ctx, &auth.VideoGrant{RoomAdmin: true, Room: session}), req)
	}
	if err != nil && !notFound(err) {
		return nil, unavailable("list participants", err)
	}
	var present []room.Present
	for _, p := range list.GetParticipants() {
		if p.State == livekit.ParticipantInfo_ACTIVE {
			present = append(present, room.Present{Identity: p.Identity, SID: p.Sid, JoinedAt: joinedAt(p)})
		}
	}
	return present, nil
}

// Remove takes the participant out. The tokens they hold open the session no
// more; a new Pass does.
func (e *Engine) Remove(ctx context.Context, session, identity string) error {
	if err := e.up(); err != nil {
		return err
	}
	e.shut.remove(session, identity, time.Now())
	req := &livekit.RoomParticipantIdentity{Room: session, Identity: identity}
	var err error
	if e.hosts(ctx, session) {
		_, err = e.node.rooms.RemoveParticipant(ctx, req)
	} else {
		_, err = e.node.api.RemoveParticipant(e.node.as(ctx, &auth.VideoGrant{RoomAdmin: true, Room: session}), req)
	}
	if notFound(err) {
		return nil
	}
	return unavailable("remove a participant", err)
}

// hosts reports whether the session lives in this process, where asking it
// needs no message bus.
func (e *Engine) hosts(ctx context.Context, session string) bool {
	return e.node.rooms.GetRoom(ctx, livekit.RoomName(session)) != nil
}

func (e *Engine) up() error {
	if e.state.Load() != started {
		return fault.New(fault.Unavailable, "media_unavailable", "the media engine is not running")
	}
	return nil
}

// unavailable is what the caller is told of an error of LiveKit.
func unavailable(what string, err error) error {
	if err == nil {
		return nil
	}
	refusal := fault.New(fault.Unavailable, "media_unavailable", "the media engine could not %s", what)
	refusal.Err = err
	return refusal
}

func notFound(err error) bool {
	var e psrpc.Error
	return errors.As(err, &e) && e.Code() == psrpc.NotFound || errors.Is(err, routing.ErrNotFound)
}
