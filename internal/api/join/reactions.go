package join

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// RaiseHand raises the caller's hand.
func (s *Server) RaiseHand(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		return s.moderation.RaiseHand(r.Context(), roomID, seatKey)
	})
}

// LowerHand lowers the caller's hand, or the hand of the given identity.
func (s *Server) LowerHand(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := httpx.OrZero(o.Text("identity"))
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.LowerHand(r.Context(), roomID, seatKey, identity)
	})
}

// LowerHands lowers all hands in the caller's session.
func (s *Server) LowerHands(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		return s.moderation.LowerHands(r.Context(), roomID, seatKey)
	})
}

// React shows a reaction of the caller to the others in the session.
func (s *Server) React(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		reaction := o.RequiredText("reaction")
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.React(r.Context(), roomID, seatKey, room.Reaction(reaction))
	})
}

// GiveFeedback stores how the caller rated the meeting.
func (s *Server) GiveFeedback(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		rating := o.RequiredText("rating")
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.GiveFeedback(r.Context(), roomID, seatKey, room.Rating(rating))
	})
}
