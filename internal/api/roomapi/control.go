package roomapi

import (
	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/validate"
)

func (a *API) startScheduleRoom(c *Call) error {
	roomID := c.Fields.RequiredText("room_id")
	request := room.OpenEarlyRequest{Name: c.Fields.RequiredText("name"),
		ExternalUserID: OptionalText(c.Fields, "external_user_id"), IdempotencyKey: c.IdempotencyKey}
	roomID, err := c.checkRoomID(roomID, nil)
	if err != nil {
		return err
	}
	link, err := a.rooms.OpenEarly(c.Request.Context(), c.Project, roomID, request)
	if err != nil {
		return err
	}
	c.WriteResult(RoomStarted{Status: true, FinalLink: link, RoomId: uuid.MustParse(roomID)}, nil, nil)
	return nil
}

func (a *API) joinRoom(c *Call) error {
	link, err := a.invite(c, func(fields *httpx.Object) (room.Invitation, error) {
		info := fields.RequiredObject("user_info")
		invitation := room.Invitation{
			Role:      room.Guest,
			SingleUse: true,
			Personal:  true,
			Name:      info.RequiredText("name"),
			UserID:    OptionalText(info, "client_user_id"),
			Hidden:    info.Flag("is_hidden"),
		}
		if info.Flag("is_admin") {
			invitation.Role = room.Host
		}
		if c.bodySigned {
			invitation.SignedBody = c.Body
		}
		return invitation, nil
	})
	if err != nil {
		return err
	}
	c.WriteResult(PersonalLink{Status: true, FinalLink: link}, nil, nil)
	return nil
}

func (a *API) createInvitationLink(c *Call) error {
	link, err := a.invite(c, func(fields *httpx.Object) (room.Invitation, error) {
		userID := OptionalText(fields, "user_id")
		switch InvitationLinkRequestRole(fields.RequiredText("role")) {
		case Admin:
			return room.Invitation{Role: room.CoHost, SingleUse: true, UserID: userID}, nil
		case Viewer:
			return room.Invitation{Role: room.Guest, UserID: userID}, nil
		}
		return room.Invitation{}, fault.Invalidf("role must be admin or viewer")
	})
	if err != nil {
		return err
	}
	c.WriteResult(InvitationLink{Status: true, InvitationLink: link, InvitationUrl: link}, nil, nil)
	return nil
}

// invite creates the link that read describes.
func (a *API) invite(c *Call, read func(*httpx.Object) (room.Invitation, error)) (link string, err error) {
	roomID := c.Fields.RequiredText("room_id")
	invitation, err := read(c.Fields)
	if seconds := c.Fields.Integer("expires_in"); seconds != nil {
		invitation.ExpiresIn = *seconds
	}
	if roomID, err = c.checkRoomID(roomID, err); err != nil {
		return "", err
	}
	invitation.IdempotencyKey = c.IdempotencyKey
	return a.rooms.Invite(c.Request.Context(), c.Project, roomID, invitation)
}

func (a *API) simulateMeeting(c *Call) error {
	roomID := c.Fields.RequiredText("room_id")
	q := room.Simulation{Seconds: room.DefaultSimulation, IdempotencyKey: c.IdempotencyKey}
	if seconds := c.Fields.Integer("seconds"); seconds != nil {
		q.Seconds = *seconds
	}
	people := c.Fields.Objects("people")
	if people != nil {
		q.People = make([]room.SimulatedPerson, 0, len(people))
	}
	for _, person := range people {
		q.People = append(q.People, room.SimulatedPerson{
			Name:   person.RequiredText("name"),
			UserID: OptionalText(person, "client_user_id"),
			IsHost: person.Flag("is_admin"),
		})
	}
	roomID, err := c.checkRoomID(roomID, nil)
	if err != nil {
		return err
	}
	if q, err = a.rooms.Simulate(c.Request.Context(), c.Project, roomID, q); err != nil {
		return err
	}
	c.WriteResult(MeetingSimulated{
		Status:  true,
		RoomId:  uuid.MustParse(roomID),
		People:  len(q.People),
		Seconds: q.Seconds,
	}, nil, nil)
	return nil
}

func (a *API) endRoom(c *Call) error {
	roomID, err := c.checkRoomID(c.Fields.RequiredText("room_id"), nil)
	if err != nil {
		return err
	}
	if err := a.rooms.EndByAPI(c.Request.Context(), c.Project, roomID); err != nil {
		return err
	}
	c.writeJSON(Done{Status: true, Msg: "the room is over"})
	return nil
}

// checkRoomID returns the canonical form of a room_id that was read from the
// body. Errors have an order: fields that could not be read, then err, which the
// caller found in the other fields, then the room_id.
func (c *Call) checkRoomID(text string, err error) (string, error) {
	if fields := c.Fields.Err(); fields != nil {
		return "", fields
	}
	if err != nil {
		return "", err
	}
	return parseRoomID(text)
}

// parseRoomID returns the canonical form of a room's id. A text that is not a
// UUID is an unknown room, without a query to the database.
func parseRoomID(text string) (string, error) {
	id, ok := validate.ParseUUID(text)
	if !ok {
		return "", room.ErrNotFound
	}
	return id, nil
}

// queryRoomID reads room_id from the query.
func (c *Call) queryRoomID() (string, error) {
	values, err := httpx.Query(c.Request.URL.RawQuery, "room_id")
	if err != nil {
		return "", err
	}
	text, sent := values["room_id"]
	if !sent {
		return "", fault.Invalidf("room_id is required in the query")
	}
	return parseRoomID(text)
}
