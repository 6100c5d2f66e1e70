package room

import (
	"context"
	"time"

	"parley/internal/fault"
)

// Raised hands. Their order is the server's: each hand that goes up takes the
// next number, under the lock of its room, and keeps it while its holder comes
// back to their seat. It goes down with the seat, and with a move to a breakout
// room or back: a hand is raised among those who see it.

// RaiseHand puts the caller's own hand up. One that is up keeps its place.
// Refusals: NotFound, Gone (over), Forbidden (not in the room, or hidden),
// Conflict (not open yet), Exhausted (too often), Invalid.
func (s *Service) RaiseHand(ctx context.Context, roomID, seatKey string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		seat, err := s.visibleSeat(ctx, r, seatKey, now)
		if err != nil || seat.HandOrder > 0 {
			return err
		}
		hands, err := s.store.RaisedHands(ctx, r.ID)
		if err != nil {
			return err
		}
		seat.HandOrder = 1
		if n := len(hands); n > 0 {
			seat.HandOrder = hands[n-1].HandOrder + 1
		}
		r.metadataChanged = true
		return s.store.UpdateSeat(ctx, seat)
	})
}

// LowerHand puts a hand down: one's own, or, as a host or co-host, anybody's.
// An empty identity is the caller's own. One that is down already stays down.
func (s *Service) LowerHand(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.ownSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		if identity != "" && identity != seat.ID {
			if seat.Role == Guest {
				return errNotHost
			}
			if seat, err = s.store.Seat(ctx, r.ID, identity); err != nil {
				return err
			}
		}
		if seat.HandOrder == 0 {
			return nil
		}
		r.lowerHand(&seat)
		return s.store.UpdateSeat(ctx, seat)
	})
}

// LowerHands puts all hands down where the caller is, in the room or in one
// of its breakout rooms, as a host or co-host wishes.
func (s *Service) LowerHands(ctx context.Context, roomID, seatKey string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		host, err := s.hostSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		hands, err := s.store.RaisedHands(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, seat := range hands {
			if seat.Breakout != host.Breakout {
				continue
			}
			r.lowerHand(&seat)
			if err := s.store.UpdateSeat(ctx, seat); err != nil {
				return err
			}
		}
		return nil
	})
}

// lowerHand puts a hand down, and has the pages read it.
func (r *Room) lowerHand(seat *Seat) {
	if seat.HandOrder > 0 {
		seat.HandOrder, r.metadataChanged = 0, true
	}
}

// visibleSeat returns the caller's seat for something that others are shown: who
// is hidden shows nothing, and nobody shows too much at once.
func (s *Service) visibleSeat(ctx context.Context, r *Room, seatKey string, now time.Time) (Seat, error) {
	seat, err := s.ownSeat(ctx, r, seatKey)
	if err != nil {
		return Seat{}, err
	}
	if seat.Hidden {
		return Seat{}, fault.New(fault.Forbidden, "hidden", "who watches hidden shows nothing to the others")
	}
	if wait := s.reactionLimiter.acquire(r.ID, seat.ID, now); wait > 0 {
		return Seat{}, &fault.Error{Kind: fault.Exhausted, Code: "too_often", Message: "this was too often, try again in a moment", RetryAfter: wait}
	}
	return seat, nil
}
