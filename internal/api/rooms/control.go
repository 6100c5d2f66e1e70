package rooms

import (
	"context"

	"github.com/google/uuid"

	"parley/internal/fault"
	"parley/internal/room"
)

// What lets people in, and what ends it.

func (s *Server) startScheduleRoom(c *call) error {
	answer := func(created room.Created) any {
		return RoomStarted{Status: true, FinalLink: created.FinalLink, RoomId: uuid.MustParse(created.ID)}
	}
	return s.serveLink(c, answer, func() (linkFunc, error) {
		q := room.OpenEarlyRequest{Name: c.fields.RequiredText("name"), ExternalUserID: OptionalText(c.fields, "external_user_id")}
		return func(ctx context.Context, roomID string, once *room.IdempotencyKey) (string, error) {
			q.IdempotencyKey = once
			return s.rooms.OpenEarly(ctx, c.project, roomID, q)
		}, nil
	})
}

func (s *Server) joinRoom(c *call) error {
	answer := func(created room.Created) any { return PersonalLink{Status: true, FinalLink: created.FinalLink} }
	return s.serveInvitation(c, answer, func() (room.Invitation, error) {
		info := c.fields.RequiredObject("user_info")
		q := room.Invitation{Role: room.Guest, SingleUse: true, Personal: true, Name: info.RequiredText("name"),
			UserID: OptionalText(info, "client_user_id"), Hidden: info.Flag("is_hidden")}
		if info.Flag("is_admin") {
			q.Role = room.Host
		}
		if c.bodySigned {
			q.SignedBody = c.body
		}
		return q, nil
	})
}

func (s *Server) createInvitationLink(c *call) error {
	answer := func(created room.Created) any {
		return InvitationLink{Status: true, InvitationLink: created.FinalLink, InvitationUrl: created.FinalLink}
	}
	return s.serveInvitation(c, answer, func() (room.Invitation, error) {
		user := OptionalText(c.fields, "user_id")
		switch InvitationLinkRequestRole(c.fields.RequiredText("role")) {
		case Admin:
			return room.Invitation{Role: room.CoHost, SingleUse: true, UserID: user}, nil
		case Viewer:
			return room.Invitation{Role: room.Guest, UserID: user}, nil
		}
		return room.Invitation{}, fault.Invalidf("role must be admin or viewer")
	})
}

// serveInvitation answers a call that makes a link for whom read says.
func (s *Server) serveInvitation(c *call, answer func(room.Created) any, read func() (room.Invitation, error)) error {
	return s.serveLink(c, answer, func() (linkFunc, error) {
		q, err := read()
		if seconds := c.fields.Integer("expires_in"); seconds != nil {
			q.ExpiresIn = *seconds
		}
		return func(ctx context.Context, roomID string, once *room.IdempotencyKey) (string, error) {
			q.IdempotencyKey = once
			return s.rooms.Invite(ctx, c.project, roomID, q)
		}, err
	})
}

// linkFunc makes a link into a room.
type linkFunc func(ctx context.Context, roomID string, once *room.IdempotencyKey) (link string, err error)

// serveLink answers a call that makes a link. read reads the fields; what is wrong
// with one of them is noted in the object.
func (s *Server) serveLink(c *call, answer func(room.Created) any, read func() (linkFunc, error)) error {
	return s.api.ServeIdempotent(c.w, c.r, c.project, c.body, IdempotentCall{Response: answer, ReplayKey: c.replayKey,
		Read: func() (CreateFunc, []string, error) {
			var make linkFunc
			roomID, err := c.readRoomIDAnd(func() (err error) { make, err = read(); return err })
			return func(ctx context.Context, once *room.IdempotencyKey) (room.Created, error) {
				link, err := make(ctx, roomID, once)
				return room.Created{ID: roomID, FinalLink: link}, err
			}, nil, err
		}})
}

func (s *Server) endRoom(c *call) error {
	roomID, err := c.readRoomIDAnd(func() error { return nil })
	if err == nil {
		err = s.rooms.EndByAPI(c.r.Context(), c.project, roomID)
	}
	if err != nil {
		return err
	}
	return c.writeJSON(Done{Status: true, Msg: "the room is over"})
}

// readRoomIDAnd reads the room that a body names, and what read reads besides.
func (c *call) readRoomIDAnd(read func() error) (roomID string, err error) {
	text := c.fields.RequiredText("room_id")
	err = read()
	if noted := c.fields.Err(); noted != nil {
		return "", noted
	}
	if err != nil {
		return "", err
	}
	return parseRoomID(text)
}

// parseRoomID returns the canonical form of a room's id. What is no UUID names no
// room, and no database is asked for it.
func parseRoomID(text string) (string, error) {
	id, ok := ParseUUID(text)
	if !ok {
		return "", fault.New(fault.NotFound, "room_not_found", "there is no such room")
	}
	return id, nil
}
