package join

import (
	"context"
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// Mute mutes one participant, or all guests without an identity.
func (s *Server) Mute(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := httpx.OrZero(o.Text("identity"))
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.Mute(r.Context(), roomID, seatKey, identity)
	})
}

// AskToUnmute asks a participant to turn on the microphone.
func (s *Server) AskToUnmute(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.moderation.AskToUnmute)
}

// RemovePerson removes a participant from the room for good.
func (s *Server) RemovePerson(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.moderation.Remove)
}

// Readmit allows a removed participant to return.
func (s *Server) Readmit(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.moderation.Readmit)
}

// UpdateLocks changes what guests may send, and whether the waiting room is on.
func (s *Server) UpdateLocks(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		locks := o.RequiredObject("locks")
		change := room.LockChange{
			Microphone:  optionalFlag(locks, "microphone"),
			Camera:      optionalFlag(locks, "camera"),
			ScreenShare: optionalFlag(locks, "screen_share"),
			Chat:        optionalFlag(locks, "chat"),
			WaitingRoom: optionalFlag(locks, "waiting_room"),
		}
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.UpdateLocks(r.Context(), roomID, seatKey, change)
	})
}

// SetRole changes the role of a participant to co-host or guest.
func (s *Server) SetRole(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity, role := o.RequiredText("identity"), o.RequiredText("role")
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.SetRole(r.Context(), roomID, seatKey, identity, room.Role(role))
	})
}

// serveActionOn is serveAction for an action on one participant, whose identity
// is required.
func (s *Server) serveActionOn(w http.ResponseWriter, r *http.Request, roomID string,
	action func(ctx context.Context, roomID, seatKey, identity string) error) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := o.RequiredText("identity")
		if err := o.Err(); err != nil {
			return err
		}
		return action(r.Context(), roomID, seatKey, identity)
	})
}

// optionalFlag reads an optional boolean. It returns nil if the member is absent
// or null.
func optionalFlag(o *httpx.Object, name string) *bool {
	if !o.Has(name) {
		return nil
	}
	on := o.Flag(name)
	return &on
}
