package join

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// Admit admits one person from the waiting room, or all without an identity.
func (s *Server) Admit(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := httpx.OrZero(o.Text("identity"))
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.Admit(r.Context(), roomID, seatKey, identity)
	})
}

// Deny denies entry to a person in the waiting room.
func (s *Server) Deny(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.moderation.Deny)
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

// CreateInvitation creates an invitation link on behalf of a host or co-host.
func (s *Server) CreateInvitation(w http.ResponseWriter, r *http.Request, roomID string) {
	link, err := s.createInvitation(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, Invitation{Link: link})
}

func (s *Server) createInvitation(w http.ResponseWriter, r *http.Request, roomID string) (link string, err error) {
	o, err := readObject(w, r)
	if err != nil {
		return "", err
	}
	seatKey, role := o.RequiredText("seat_key"), o.RequiredText("role")
	if err := o.Err(); err != nil {
		return "", err
	}
	return s.moderation.CreateInvitation(r.Context(), roomID, seatKey, room.Role(role))
}
