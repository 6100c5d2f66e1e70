package join

import (
	"net/http"

	"parley/internal/api/web"
	"parley/internal/room"
)

// What hosts and co-hosts decide about who comes in.

// LetIn implements ServerInterface.
func (s *Server) LetIn(w http.ResponseWriter, r *http.Request, roomID RoomID) {
	s.act(w, r, func(o *web.Object, seatKey string) error {
		identity := text(o.Text("identity"))
		if err := o.Err(); err != nil {
			return err
		}
		return s.rooms.LetIn(r.Context(), roomID, seatKey, identity)
	})
}

// TurnAway implements ServerInterface.
func (s *Server) TurnAway(w http.ResponseWriter, r *http.Request, roomID RoomID) {
	s.actOn(w, r, roomID, s.rooms.TurnAway)
}

// InviteFrom implements ServerInterface.
func (s *Server) InviteFrom(w http.ResponseWriter, r *http.Request, roomID RoomID) {
	link, err := s.inviteFrom(w, r, roomID)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	web.JSON(w, http.StatusOK, Invitation{Link: link})
}

func (s *Server) inviteFrom(w http.ResponseWriter, r *http.Request, roomID string) (link string, err error) {
	o, err := read(w, r)
	if err != nil {
		return "", err
	}
	seatKey, role := o.RequiredText("seat_key"), o.RequiredText("role")
	if err := o.Err(); err != nil {
		return "", err
	}
	return s.rooms.InviteFrom(r.Context(), roomID, seatKey, room.Role(role))
}
