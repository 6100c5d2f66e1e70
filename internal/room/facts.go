package room

import (
	"context"
	"crypto/subtle"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
)

// loadVisitor reads what is known about a visitor: link, seats, and the waiting room.
func (s *Joining) loadVisitor(ctx context.Context, r *Room, v JoinRequest) (f facts, err error) {
	f = facts{room: r, limited: s.options.JoinLimiter != nil}
	if err := s.loadLink(ctx, &f, v.LinkToken); err != nil {
		return f, err
	}
	if f.browserSeat, err = orNone(s.store.SeatByKey(ctx, r.ID, v.keyHash())); err != nil {
		return f, err
	}
	if f.link.UserID != "" {
		if f.personSeat, err = orNone(s.store.SeatByUser(ctx, r.ID, f.link.UserID)); err != nil {
			return f, err
		}
	}
	if seat := f.browserSeat; r.Locks.WaitingRoom && seat.ID != "" && !seat.unused() && seat.anonymous() {
		last, err := s.store.LatestAttendance(ctx, seat)
		if err != nil {
			return f, err
		}
		f.leftAt = last.LeftAt
	}
	f.knocks, err = s.listKnocks(ctx, r)
	return f, err
}

// loadFacts releases the expired reservations, and reads what is known about a visitor and a
// locked room.
func (s *Joining) loadFacts(ctx context.Context, r *Room, v JoinRequest, now time.Time) (facts, error) {
	o, err := s.occupancy(ctx, r, now)
	if err != nil {
		return facts{}, err
	}
	f, err := s.loadVisitor(ctx, r, v)
	if err != nil {
		return f, err
	}
	f.occupancy = o
	if o.Taken >= r.MaxParticipants {
		if f.taken, err = s.store.Seats(ctx, r.ID); err != nil {
			return f, err
		}
	}
	f.project, err = s.store.Project(ctx, r.ProjectID)
	return f, err
}

// loadLink reads the link with a token.
func (s *Joining) loadLink(ctx context.Context, f *facts, token string) (err error) {
	if token == "" {
		return nil
	}
	hash := seal.Hash(token)
	if subtle.ConstantTimeCompare([]byte(hash), []byte(f.room.CreatorLinkHash)) == 1 {
		f.link, f.linkFound = f.room.creatorLink(), true
		return nil
	}
	f.link, err = s.store.LinkByHash(ctx, f.room.ID, hash)
	if fault.Is(err, fault.NotFound) {
		f.link, f.linkFound, err = s.signedLink(ctx, f.room, token)
		return err
	}
	if err != nil {
		return err
	}
	f.linkFound = true
	if f.link.CreatedBy == "" || f.link.RedeemedBy != "" {
		return nil
	}
	creator, err := s.store.Seat(ctx, f.room.ID, f.link.CreatedBy)
	if err != nil {
		return err
	}
	f.linkRevoked = creator.Role == Guest || !creator.RemovedAt.IsZero()
	return nil
}

// orNone returns the zero Seat instead of NotFound.
func orNone(seat Seat, err error) (Seat, error) {
	if fault.Is(err, fault.NotFound) {
		return Seat{}, nil
	}
	return seat, err
}
