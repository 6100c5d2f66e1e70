package room

import (
	"context"
	"slices"
)

// People lists the people of a room as a host or co-host sees them.
type People struct {
	Seats   []Seat  // taken seats, without hidden ones
	Removed []Seat  // seats of removed participants
	Waiting []Knock // visitors in the waiting room, oldest first
}

// People returns the people of a room. The caller must be a host or co-host.
// Errors: NotFound, Gone (over), Forbidden (not a host), Conflict (not open yet),
// Invalid.
func (s *Moderation) People(ctx context.Context, roomID, seatKey string) (p People, err error) {
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
