package room

import (
	"context"
	"slices"
)

// People lists the taken seats of a room, as a host or co-host sees them: each
// with the breakout room its holder belongs in, and hidden ones left out; and
// the seats of those who were removed. Refusals: NotFound, Gone (over),
// Forbidden (not a host), Conflict (not open yet), Invalid.
func (s *Service) People(ctx context.Context, roomID, seatKey string) (in, removed []Seat, err error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
		return nil, nil, err
	}
	if in, err = s.store.Seats(ctx, r.ID); err != nil {
		return nil, nil, err
	}
	removed, err = s.store.RemovedSeats(ctx, r.ID)
	return slices.DeleteFunc(in, func(seat Seat) bool { return seat.Hidden }), removed, err
}
