package room

import (
	"context"
	"slices"
)

// People lists the taken seats of a room, as a host or co-host sees them: each
// with the breakout room its holder belongs in, and hidden ones left out.
// Refusals: NotFound, Gone (over), Forbidden (not a host), Conflict (not open
// yet), Invalid.
func (s *Service) People(ctx context.Context, roomID, seatKey string) ([]Seat, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, err
	}
	if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
		return nil, err
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(seats, func(seat Seat) bool { return seat.Hidden }), nil
}
