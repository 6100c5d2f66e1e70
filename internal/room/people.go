package room

import (
	"context"
	"slices"
)

// People is who there is around a room, as a host or co-host sees it.
type People struct {
	Seats   []Seat  // taken seats, each with the breakout room its holder belongs in; hidden ones left out
	Removed []Seat  // of those who were removed
	Waiting []Knock // who waits to be let in, who came first first
}

// People lists who there is around a room. Refusals: NotFound, Gone (over),
// Forbidden (not a host), Conflict (not open yet), Invalid.
func (s *Service) People(ctx context.Context, roomID, seatKey string) (p People, err error) {
	r, _, err := s.roomAsHost(ctx, roomID, seatKey)
	if err != nil {
		return People{}, err
	}
	if p.Seats, err = s.store.Seats(ctx, r.ID); err != nil {
		return People{}, err
	}
	p.Seats = slices.DeleteFunc(p.Seats, func(seat Seat) bool { return seat.Hidden })
	if p.Removed, err = s.store.RemovedSeats(ctx, r.ID); err != nil {
		return People{}, err
	}
	p.Waiting, err = s.waitingKnocks(ctx, r)
	return p, err
}
