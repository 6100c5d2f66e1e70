package room

import (
	"context"
	"time"

	"parley/internal/fault"
)

// The server orders raised hands: each one gets the next number under the lock of
// its room, and keeps it while the participant reconnects. A hand is lowered when
// its seat is released, and on a move to a breakout room or back, because the
// participants there did not see it being raised.

// RaiseHand raises the caller's hand. A raised hand keeps its position. Errors:
// NotFound, Gone (over), Forbidden (not in the room, or hidden), Conflict (not open
// yet), Exhausted (too often), Invalid.
func (s *Moderation) RaiseHand(ctx context.Context, roomID, seatKey string) error {
	if _, _, err := s.reactingSeat(ctx, roomID, seatKey); err != nil {
		return err
	}
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.visibleSeat(ctx, r, seatKey)
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

// LowerHand lowers the caller's hand or, for a host or co-host, the hand of any
// participant. An empty identity means the caller's own. It does nothing if the hand
// is not raised.
func (s *Moderation) LowerHand(ctx context.Context, roomID, seatKey, identity string) error {
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

// LowerHands lowers all hands in the room or breakout room of the caller, who must
// be a host or co-host.
func (s *Moderation) LowerHands(ctx context.Context, roomID, seatKey string) error {
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

// lowerHand lowers the hand of a seat and marks the metadata as changed.
func (r *Room) lowerHand(seat *Seat) {
	if seat.HandOrder > 0 {
		seat.HandOrder, r.metadataChanged = 0, true
	}
}

// visibleSeat returns the caller's seat for an action that other participants see.
// It returns Forbidden for a hidden participant.
func (s *Moderation) visibleSeat(ctx context.Context, r *Room, seatKey string) (Seat, error) {
	seat, err := s.ownSeat(ctx, r, seatKey)
	if err != nil {
		return Seat{}, err
	}
	if seat.Hidden {
		return Seat{}, fault.New(fault.Forbidden, "hidden", "hidden participants cannot react or raise a hand")
	}
	return seat, nil
}

// reactingSeat returns the caller's seat and its room. It takes a token of the limits of the
// participant and of the room, and returns Exhausted if there is none. It must not run in a
// transaction, which may run twice.
func (s *Moderation) reactingSeat(ctx context.Context, roomID, seatKey string) (*Room, Seat, error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return nil, Seat{}, err
	}
	seat, err := s.visibleSeat(ctx, r, seatKey)
	if err != nil {
		return nil, Seat{}, err
	}
	if wait := s.reactionLimiter.acquire(r.ID, seat.ID, s.now()); wait > 0 {
		return nil, Seat{}, &fault.Error{Kind: fault.Exhausted, Code: "too_often", RetryAfter: wait,
			Message: "too many reactions and raised hands, try again in a moment"}
	}
	return r, seat, nil
}
