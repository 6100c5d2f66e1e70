package v4

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/api/rooms"
	"parley/internal/fault"
)

func (s *Server) ReceiveRoomEvent(w http.ResponseWriter, r *http.Request, roomID string) {
	if err := s.receiveEvent(w, r, roomID); err != nil {
		s.api.WriteError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, RoomEventReceived{Joined: true})
}

// receiveEvent records a join event. The secret of the room's project signs it, so an
// unknown room is the only error before the signature is checked.
func (s *Server) receiveEvent(w http.ResponseWriter, r *http.Request, inPath string) error {
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return err
	}
	roomID, _ := rooms.ParseUUID(inPath)
	found, err := s.rooms.Get(r.Context(), roomID)
	if err != nil {
		return err
	}
	p, err := s.api.AuthenticateJoinEvent(r, found.ProjectID, body)
	if err != nil {
		return err
	}
	if err := p.CheckNotSuspended(); err != nil {
		return err
	}
	o, err := httpx.ParseObject(body)
	if err != nil {
		return err
	}
	inBody := o.RequiredText("room_id")
	name := o.RequiredObject("user_info").RequiredText("name")
	if err := o.Err(); err != nil {
		return err
	}
	if id, _ := rooms.ParseUUID(inBody); id != roomID {
		return fault.Invalidf("room_id must be that of the path")
	}
	return s.rooms.MarkAttendance(r.Context(), p, roomID, name, body, s.api.BodySignatures)
}
