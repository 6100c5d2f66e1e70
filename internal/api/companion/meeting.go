package companion

import (
	"context"

	"github.com/google/uuid"

	"parley/internal/api/legacy"
	"parley/internal/fault"
	"parley/internal/room"
)

// What lets people in, and what ends it.

func (s *Server) startScheduleRoom(c *call) error {
	answer := func(created room.Created) any {
		return RoomStarted{Status: true, FinalLink: created.FinalLink, RoomId: uuid.MustParse(created.ID)}
	}
	return s.link(c, answer, func() (linking, error) {
		q := room.Early{Name: c.fields.RequiredText("name"), ExternalUserID: legacy.Text(c.fields, "external_user_id")}
		return func(ctx context.Context, roomID string, once *room.Once) (string, error) {
			q.Once = once
			return s.rooms.OpenEarly(ctx, c.project, roomID, q)
		}, nil
	})
}

func (s *Server) joinRoom(c *call) error {
	answer := func(created room.Created) any { return PersonalLink{Status: true, FinalLink: created.FinalLink} }
	return s.invite(c, answer, func() (room.Invitation, error) {
		info := c.fields.RequiredObject("user_info")
		q := room.Invitation{Role: room.Guest, Single: true, Personal: true, Name: info.RequiredText("name"),
			UserID: legacy.Text(info, "client_user_id"), Hidden: info.Flag("is_hidden")}
		if info.Flag("is_admin") {
			q.Role = room.Host
		}
		if c.untimed {
			q.Signed = c.body
		}
		return q, nil
	})
}

func (s *Server) createInvitationLink(c *call) error {
	answer := func(created room.Created) any {
		return InvitationLink{Status: true, InvitationLink: created.FinalLink, InvitationUrl: created.FinalLink}
	}
	return s.invite(c, answer, func() (room.Invitation, error) {
		user := legacy.Text(c.fields, "user_id")
		switch InvitationLinkRequestRole(c.fields.RequiredText("role")) {
		case Admin:
			return room.Invitation{Role: room.CoHost, Single: true, UserID: user}, nil
		case Viewer:
			return room.Invitation{Role: room.Guest, UserID: user}, nil
		}
		return room.Invitation{}, fault.Invalidf("role must be admin or viewer")
	})
}

// invite answers a call that makes a link for whom read says.
func (s *Server) invite(c *call, answer func(room.Created) any, read func() (room.Invitation, error)) error {
	return s.link(c, answer, func() (linking, error) {
		q, err := read()
		if seconds := c.fields.Integer("expires_in"); seconds != nil {
			q.ExpiresIn = *seconds
		}
		return func(ctx context.Context, roomID string, once *room.Once) (string, error) {
			q.Once = once
			return s.rooms.Invite(ctx, c.project, roomID, q)
		}, err
	})
}

// linking makes a link into a room.
type linking func(ctx context.Context, roomID string, once *room.Once) (link string, err error)

// link answers a call that makes a link. read reads the fields; what is wrong
// with one of them is noted in the object.
func (s *Server) link(c *call, answer func(room.Created) any, read func() (linking, error)) error {
	return s.api.Make(c.w, c.r, c.project, c.body, legacy.Making{Answer: answer, Signed: c.signed,
		Read: func() (legacy.Make, []string, error) {
			var make linking
			roomID, err := c.roomAnd(func() (err error) { make, err = read(); return err })
			return func(ctx context.Context, once *room.Once) (room.Created, error) {
				link, err := make(ctx, roomID, once)
				return room.Created{ID: roomID, FinalLink: link}, err
			}, nil, err
		}})
}

func (s *Server) endRoom(c *call) error {
	roomID, err := c.roomAnd(func() error { return nil })
	if err == nil {
		err = s.rooms.EndOf(c.r.Context(), c.project, roomID)
	}
	if err != nil {
		return err
	}
	return c.answer(Done{Status: true, Msg: "the room is over"})
}

// roomAnd reads the room that a body names, and what read reads besides.
func (c *call) roomAnd(read func() error) (roomID string, err error) {
	text := c.fields.RequiredText("room_id")
	err = read()
	if noted := c.fields.Err(); noted != nil {
		return "", noted
	}
	if err != nil {
		return "", err
	}
	return known(text)
}

// known returns the canonical form of a room's id. What is no UUID names no
// room, and no database is asked for it.
func known(text string) (string, error) {
	id, ok := legacy.UUID(text)
	if !ok {
		return "", fault.New(fault.NotFound, "room_not_found", "there is no such room")
	}
	return id, nil
}
