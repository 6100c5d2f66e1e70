package join

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/room"
)

// EndRoom ends the room for everybody; the seat key must be a host's.
func (s *Server) EndRoom(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		return s.moderation.EndByHost(r.Context(), roomID, seatKey)
	})
}

// CloseBreakouts closes all breakout rooms.
func (s *Server) CloseBreakouts(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		return s.moderation.CloseBreakouts(r.Context(), roomID, seatKey)
	})
}

// Move moves a participant to a breakout room, or back to the main room.
func (s *Server) Move(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		identity, to := httpx.OrZero(o.Text("identity")), o.RequiredInteger("to")
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.Move(r.Context(), roomID, seatKey, identity, to)
	})
}

// Broadcast sends a text to everybody in the room and its breakout rooms.
func (s *Server) Broadcast(w http.ResponseWriter, r *http.Request, roomID string) {
	s.serveAction(w, r, func(o *httpx.Object, seatKey string) error {
		text := o.RequiredText("text")
		if err := o.Err(); err != nil {
			return err
		}
		return s.moderation.Broadcast(r.Context(), roomID, seatKey, text)
	})
}

// OpenBreakouts opens breakout rooms and responds with their numbers and names.
func (s *Server) OpenBreakouts(w http.ResponseWriter, r *http.Request, roomID string) {
	opened, err := s.openBreakouts(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, opened)
}

func (s *Server) openBreakouts(w http.ResponseWriter, r *http.Request, roomID string) (Breakouts, error) {
	o, err := readObject(w, r)
	if err != nil {
		return Breakouts{}, err
	}
	seatKey := o.RequiredText("seat_key")
	req := room.OpenBreakoutsRequest{Names: o.Texts("names"), DistributeEvenly: o.Flag("evenly"),
		Assign: map[string]int{}}
	assign := o.Object("assign")
	for _, identity := range assign.Names() {
		req.Assign[identity] = assign.RequiredInteger(identity)
	}
	if err := o.Err(); err != nil {
		return Breakouts{}, err
	}
	opened, err := s.moderation.OpenBreakouts(r.Context(), roomID, seatKey, req)
	out := Breakouts{Breakouts: []Breakout{}}
	for _, b := range opened {
		out.Breakouts = append(out.Breakouts, Breakout{Number: b.N, Name: b.Name})
	}
	return out, err
}

// ListPeople responds with the people in the room, the removed ones and those in
// the waiting room.
func (s *Server) ListPeople(w http.ResponseWriter, r *http.Request, roomID string) {
	people, err := s.listPeople(w, r, roomID)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, people)
}

func (s *Server) listPeople(w http.ResponseWriter, r *http.Request, roomID string) (People, error) {
	o, err := readObject(w, r)
	if err != nil {
		return People{}, err
	}
	seatKey := o.RequiredText("seat_key")
	if err := o.Err(); err != nil {
		return People{}, err
	}
	all, err := s.moderation.People(r.Context(), roomID, seatKey)
	out := People{People: newPeople(all.Seats), Removed: newPeople(all.Removed), Waiting: []Waiting{}}
	for _, knock := range all.Waiting {
		out.Waiting = append(out.Waiting, Waiting{Identity: knock.ID, Name: knock.Name})
	}
	return out, err
}

func newPeople(seats []room.Seat) []Person {
	out := make([]Person, 0, len(seats))
	for _, seat := range seats {
		person := Person{Identity: seat.ID, Name: seat.Name, Role: Role(seat.Role), Breakout: seat.Breakout}
		if seat.HandOrder > 0 {
			person.Hand = &seat.HandOrder
		}
		out = append(out, person)
	}
	return out
}

// serveAction reads the body and its seat_key, runs action and responds with 204
// if action succeeds. The seat key identifies the caller, so the domain can check
// the caller's permissions.
func (s *Server) serveAction(w http.ResponseWriter, r *http.Request,
	action func(o *httpx.Object, seatKey string) error) {
	o, err := readObject(w, r)
	if err == nil {
		seatKey := o.RequiredText("seat_key")
		if err = o.Err(); err == nil {
			err = action(o, seatKey)
		}
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
