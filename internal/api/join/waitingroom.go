package join

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// LetIn admits one person from the waiting room, or all without an identity.
func (s *Server) LetIn(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := valueOrEmpty(o.Text("identity"))
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.AcceptKnock(r.Context(), roomID, seatKey, identity)
	})
}

// TurnAway denies entry to a person in the waiting room.
func (s *Server) TurnAway(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.moderation.DenyKnock)
}

// StopWaiting takes the caller off the list of waiting people.
func (s *Server) StopWaiting(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		if err := o.Err(); err != nil {
			return err
		}
		return s.joining.StopWaiting(r.Context(), roomID, seatKey)
	})
}

// InviteFrom creates an invitation link on behalf of a host or co-host.
func (s *Server) InviteFrom(w http.ResponseWriter, r *http.Request, roomID string) {
	link, err := s.inviteFrom(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, Invitation{Link: link})
}

func (s *Server) inviteFrom(w http.ResponseWriter, r *http.Request, roomID string) (link string, err error) {
	o, err := readObject(w, r)
	if err != nil {
		return "", err
	}
	seatKey, role := o.RequiredText("seat_key"), o.RequiredText("role")
	if err := o.Err(); err != nil {
		return "", err
	}
	return s.moderation.InviteAsHost(r.Context(), roomID, seatKey, room.Role(role))
}
