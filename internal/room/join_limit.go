package room

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
)

// Every visitor who knows the URL of a room can reserve seats under new keys.
// Three rules keep one address from taking all seats: new seats and knocks are
// limited per address, a seat is released soon if no connection follows, and a
// host gets a guest's seat if the room is full.

const (
	// codeTooManyJoins is the error code for an address that takes too many new seats.
	codeTooManyJoins = "too_many_joins"
	// CodePreflightBusy is the error code when all preflight slots are in use.
	CodePreflightBusy = "check_busy"
	// connectTimeout is how long a seat is held for its first connection.
	connectTimeout = 20 * time.Second
	// renewalWindow is the end of that time, in which asking again renews it.
	renewalWindow = connectTimeout / 2
)

// JoinLimiter limits the number of new seats and knocks per address.
type JoinLimiter interface {
	// RecordAttempt counts one attempt. If the address has none left, it reports
	// over and when to try again.
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
	// Exhausted reports the same without counting an attempt.
	Exhausted(a netip.Addr) (over bool, retryAfter time.Duration)
}

// SetJoinLimiter sets the limit on new seats and knocks. Call it before the first
// join. Without it there is no limit.
func (s *Service) SetJoinLimiter(n JoinLimiter) { s.joinLimiter = n }

// joinAttempt is one request for a seat. Its transaction may run more than once,
// but the limit counts it once.
type joinAttempt struct {
	JoinRequest
	counted bool
}

// countJoin counts the attempt against the limit of the visitor's address. It
// returns Exhausted if the address is over its limit.
func (s *Service) countJoin(a *joinAttempt) error {
	if s.joinLimiter == nil || a.counted {
		return nil
	}
	if over, retryAfter := s.joinLimiter.RecordAttempt(a.ClientAddr); over {
		return tooManyJoins(retryAfter)
	}
	a.counted = true
	return nil
}

func tooManyJoins(retryAfter time.Duration) error {
	return &fault.Error{Kind: fault.Exhausted, Code: codeTooManyJoins, RetryAfter: retryAfter,
		Message: "too many people are joining from your network at once, try again in a moment"}
}

// isNewcomer reports whether a visitor counts against the limit of their address:
// they have no seat, are not in the waiting room yet, and are not trusted.
func (r *Room) isNewcomer(visitor resolvedIdentity, link Link, keyHash string, knocks []Knock) bool {
	waiting := func(k Knock) bool { return k.KeyHash == keyHash }
	return !visitor.known && !isTrusted(visitor, link) && !slices.ContainsFunc(knocks, waiting)
}

// isTrusted reports whether a visitor was invited personally: they are a host or
// co-host, or their link is for one person or makes them hidden.
func isTrusted(visitor resolvedIdentity, link Link) bool {
	return visitor.role != Guest || link.SingleUse || link.UserID != "" || link.Hidden
}

// checkJoinLimit returns Exhausted for a newcomer whose address is over its limit.
// It runs before the room is locked, so that a flood of requests does not delay
// other writers.
func (s *Service) checkJoinLimit(ctx context.Context, roomID string, v JoinRequest) error {
	if s.joinLimiter == nil {
		return nil
	}
	over, retryAfter := s.joinLimiter.Exhausted(v.ClientAddr)
	if !over {
		return nil
	}
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	keyHash := seal.Hash(v.SeatKey)
	link, _, err := s.resolveLink(ctx, r, v.LinkToken, keyHash, s.now())
	if err != nil {
		return err
	}
	visitor, err := s.resolveIdentity(ctx, r, keyHash, link)
	if err != nil {
		return err
	}
	knocks, err := s.listKnocks(ctx, r)
	if err == nil && r.isNewcomer(visitor, link, keyHash, knocks) {
		err = tooManyJoins(retryAfter)
	}
	return err
}

// extendReservation holds a seat for the connection that the page is about to make.
// A visitor who never connects cannot hold a seat forever by asking again, because
// that renews the reservation only in its last ten seconds, and each renewal
// counts against the limit of the address.
func (s *Service) extendReservation(seat *Seat, a *joinAttempt, now time.Time) {
	if !seat.unused() {
		seat.HeldUntil = now.Add(rejoinTimeout)
		return
	}
	fresh := !seat.HeldUntil.After(now)
	if fresh || seat.HeldUntil.Sub(now) < renewalWindow && s.countJoin(a) == nil {
		seat.HeldUntil = now.Add(connectTimeout)
	}
}

// unused reports whether no participant has ever connected with the seat.
func (seat *Seat) unused() bool { return seat.Connection == "" && seat.State != Joined }

// anonymous reports whether the seat belongs to a guest without a personal
// invitation, whom no host has demoted or removed.
func (seat *Seat) anonymous() bool {
	return seat.Role == Guest && !seat.Invited && seat.UserID == "" && !seat.Demoted && seat.RemovedAt.IsZero()
}

// releaseSeat frees a seat. It deletes the row if an anonymous guest never
// connected, so that strangers cannot fill the database.
func (s *Service) releaseSeat(ctx context.Context, seat Seat) error {
	if seat.unused() && seat.anonymous() && !s.reportQueue.hasPending(seat.ID) {
		deleted, err := s.store.DeleteUnusedSeat(ctx, seat.ID)
		if err != nil || deleted {
			return err
		}
	}
	seat.State, seat.HeldUntil = Free, time.Time{}
	return s.store.UpdateSeat(ctx, seat)
}

// displacedGuest is a guest whose seat was given to another visitor.
type displacedGuest struct {
	identity string
	sessions []string // sessions in which the engine may hold a connection of the guest
}

// ensureCapacity returns Conflict (room_full) if there is no seat for one more
// participant. If the room is full and has no host or co-host, it frees the seat
// of an anonymous guest for a host or co-host: the oldest seat that was never
// connected to, or else the seat of the guest who came last. For a guest with a
// personal link it frees only a seat that was never connected to, and only if all
// visible seats belong to anonymous guests.
func (s *Service) ensureCapacity(ctx context.Context, r *Room, seat Seat, now time.Time) (displacedGuest, error) {
	full := s.checkCapacity(ctx, r, seat)
	if fault.From(full).Code != codeRoomFull || full == nil || seat.Hidden || seat.anonymous() {
		return displacedGuest{}, full
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return displacedGuest{}, err
	}
	guest, found := seat.chooseDisplaced(seats)
	if !found {
		return displacedGuest{}, full
	}
	out := displacedGuest{identity: guest.ID}
	r.lowerHand(&guest)
	if guest.unused() {
		out.sessions = []string{SessionID(r.ID, r.Session)}
		return out, s.releaseSeat(ctx, guest)
	}
	out.sessions, err = s.disconnect(ctx, r, &guest, now, LeftRemoved)
	return out, err
}

// chooseDisplaced returns the seat to free for a visitor in a full room, if any.
func (seat Seat) chooseDisplaced(taken []Seat) (guest Seat, found bool) {
	isHost := seat.Role != Guest
	for _, other := range taken {
		switch {
		case other.Hidden:
		case other.Role != Guest, !isHost && !other.anonymous():
			return Seat{}, false
		case other.anonymous() && (isHost || other.unused()) && (!found || other.displacedBefore(guest)):
			guest, found = other, true
		}
	}
	return guest, found
}

// displacedBefore reports whether a seat is freed before another: unused seats
// first, the oldest of them first; of the others the newest first.
func (seat Seat) displacedBefore(other Seat) bool {
	if seat.unused() != other.unused() {
		return seat.unused()
	}
	return seat.CreatedAt.Before(other.CreatedAt) == seat.unused()
}
