package join

import (
	"context"
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// What hosts and co-hosts do with the others.

func (s *Server) Mute(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := valueOrEmpty(o.Text("identity"))
		if err := o.Err(); err != nil {
			return err
		}
		return s.rooms.Mute(r.Context(), roomID, seatKey, identity)
	})
}

func (s *Server) AskToUnmute(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.rooms.AskToUnmute)
}

func (s *Server) RemovePerson(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.rooms.Remove)
}

func (s *Server) Readmit(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveActionOn(w, r, roomID, s.rooms.Readmit)
}

func (s *Server) Lock(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		locks := o.RequiredObject("locks")
		q := room.LockChange{Microphone: optionalFlag(locks, "microphone"), Camera: optionalFlag(locks, "camera"),
			ScreenShare: optionalFlag(locks, "screen_share"), Chat: optionalFlag(locks, "chat"), WaitingRoom: optionalFlag(locks, "waiting_room")}
		if err := o.Err(); err != nil {
			return err
		}
		return s.rooms.UpdateLocks(r.Context(), roomID, seatKey, q)
	})
}

func (s *Server) Appoint(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity, role := o.RequiredText("identity"), o.RequiredText("role")
		if err := o.Err(); err != nil {
			return err
		}
		return s.rooms.SetRole(r.Context(), roomID, seatKey, identity, room.Role(role))
	})
}

// serveActionOn is act for what is done to one person.
func (s *Server) serveActionOn(w http.ResponseWriter, r *http.Request, roomID string, do func(ctx context.Context, roomID, seatKey, identity string) error) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity := o.RequiredText("identity")
		if err := o.Err(); err != nil {
			return err
		}
		return do(r.Context(), roomID, seatKey, identity)
	})
}

// optionalFlag reads a flag that may be absent.
func optionalFlag(o *httpx.Object, name string) *bool {
	if !o.Has(name) {
		return nil
	}
	on := o.Flag(name)
	return &on
}
