package v4

import (
	"net/http"

	"parley/internal/api/roomapi"
	"parley/internal/fault"
	"parley/internal/validate"
)

// joinEventRoute receives join events. The secret of the room's project signs them, so an
// unknown room is the only error before the signature is checked.
func (s *server) joinEventRoute() roomapi.Route {
	return roomapi.Route{
		Method:     http.MethodPost,
		Path:       "/webhook/get_room_events/{room_id}",
		Auth:       roomapi.SecretAuth(s.projectOfRoom),
		Effect:     roomapi.Sets,
		FieldPaths: map[string]string{"name": "user_info.name"},
		Handle:     s.receiveJoinEvent,
	}
}

func (s *server) projectOfRoom(c *roomapi.Call) (projectID string, err error) {
	found, err := s.rooms.Get(c.Request.Context(), c.Request.PathValue("room_id"))
	if err != nil {
		return "", err
	}
	return found.ProjectID, nil
}

func (s *server) receiveJoinEvent(c *roomapi.Call) error {
	inBody := c.Fields.RequiredText("room_id")
	name := c.Fields.RequiredObject("user_info").RequiredText("name")
	if err := c.Fields.Err(); err != nil {
		return err
	}
	roomID := c.Request.PathValue("room_id")
	if id, _ := validate.ParseUUID(inBody); id != roomID {
		return fault.Invalidf("room_id must be that of the path")
	}
	err := s.rooms.MarkAttendance(c.Request.Context(), c.Project, roomID, name, c.Body, s.exclusive)
	if err != nil {
		return err
	}
	c.WriteResult(RoomEventReceived{Joined: true}, nil, nil)
	return nil
}
