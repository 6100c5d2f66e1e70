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
	if err := e.up(); err != nil {
		return err
	}
	if s.Name == "" || len(codecsOf(s.Type)) == 0 || s.MaxParticipants < 0 {
		return fault.Invalidf("a media session needs a name, a type and a bound that is not negative")
	}
	text, err := metadata(s.Type, s.Info)
	if err != nil {
		return err
	}
	_, err = e.node.api.CreateRoom(e.node.as(ctx, &auth.VideoGrant{RoomCreate: true}), &livekit.CreateRoomRequest{
		Name:             s.Name,
		Metadata:         text,
		MaxParticipants:  uint32(s.MaxParticipants),
		EmptyTimeout:     idleFor,
		DepartureTimeout: idleFor,
	})
	return unavailable("open a session", err)
}

// Close ends the session and tells whoever is in it.
func (e *Engine) Close(ctx context.Context, session string) error {
	at, err := e.find(ctx, session)
	if err != nil {
		return err
	}
	req := &livekit.DeleteRoomRequest{Room: session}
	switch {
	case at.here:
		_, err = e.node.rooms.DeleteRoom(ctx, req)
	case at.known:
		_, err = e.node.api.DeleteRoom(e.node.as(ctx, &auth.VideoGrant{RoomCreate: true}), req)
	}
	return unavailable("close a session", unlessGone(err))
}

// Participants lists everybody in the session, hidden or not. Those who are
// active are the same as the observer hears of. An error is not an empty
// session: in a cluster the node that hosts it may be out of reach.
func (e *Engine) Participants(ctx context.Context, session string) ([]room.Present, error) {
	at, err := e.find(ctx, session)
	if err != nil {
		return nil, err
	}
	list, err := e.list(ctx, at, session)
	var present []room.Present
	for _, p := range list {
		if p.State != livekit.ParticipantInfo_DISCONNECTED {
			present = append(present, room.Present{Identity: p.Identity, SID: p.Sid, JoinedAt: joinedAt(p),
				Active: p.State == livekit.ParticipantInfo_ACTIVE})
		}
	}
	return present, err
}

func (e *Engine) list(ctx context.Context, at place, session string) ([]*livekit.ParticipantInfo, error) {
	req := &livekit.ListParticipantsRequest{Room: session}
	var list *livekit.ListParticipantsResponse
	var err error
	switch {
	case at.here:
		list, err = e.node.rooms.ListParticipants(ctx, req)
	case at.known:
		list, err = e.node.api.ListParticipants(e.node.admin(ctx, session), req)
	}
	return list.GetParticipants(), unavailable("list participants", unlessGone(err))
}

// Admit implements room.Media.
func (e *Engine) Admit(connection string) { e.admissions.admit(livekit.ParticipantID(connection)) }

// Remove takes the participant out.
func (e *Engine) Remove(ctx context.Context, session, identity string) error {
	at, err := e.find(ctx, session)
	if err != nil || !at.known {
		return err
	}
	req := &livekit.RoomParticipantIdentity{Room: session, Identity: identity}
	if at.here {
		_, err = e.node.rooms.RemoveParticipant(ctx, req)
	} else {
		_, err = e.node.api.RemoveParticipant(e.node.admin(ctx, session), req)
	}
	return unavailable("remove a participant", unlessGone(err))
}

// Hosts reports whether the session lives in this process.
func (e *Engine) Hosts(session string) bool {
	return e.up() == nil && e.node.rooms.GetRoom(context.Background(), livekit.RoomName(session)) != nil
}

// place is where a session lives.
type place struct {
	here  bool // in this process, where asking it needs no message bus
	known bool // anywhere
	kind  room.Type
}

func (e *Engine) find(ctx context.Context, session string) (place, error) {
	if err := e.up(); err != nil {
		return place{}, err
	}
	if rm := e.node.rooms.GetRoom(ctx, livekit.RoomName(session)); rm != nil {
		return place{here: true, known: true, kind: typeIn(rm.ToProto().Metadata)}, nil
	}
	rm, _, err := e.node.store.LoadRoom(ctx, livekit.RoomName(session), false)
	if errors.Is(err, service.ErrRoomNotFound) {
		return place{}, nil
	}
	if err != nil {
		return place{}, unavailable("look for a session", err)
	}
	return place{known: true, kind: typeIn(rm.Metadata)}, nil
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

// unlessGone drops the error of somebody or something that is not there any
// more: that is what was wanted.
func unlessGone(err error) error {
	var e psrpc.Error
	if errors.As(err, &e) && e.Code() == psrpc.NotFound || errors.Is(err, routing.ErrNotFound) {
		return nil
	}
	return err
}
