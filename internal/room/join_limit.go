package room

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
)

// Anybody with the address of a room may take a seat under a fresh key. What
// keeps one address from taking all of them is here: a limit on new seats and
// knocks per address, seats that are given up soon when nobody connects to
// them, and a seat for the host in a room that is full.

const (
	// codeTooManyJoins is what an address is told that takes too many new seats.
	codeTooManyJoins = "too_many_joins"
	// CodePreflightBusy is what somebody is told who finds no place in the check.
	CodePreflightBusy = "check_busy"
	// connectTimeout is how long a seat waits for its first connection.
	connectTimeout = 20 * time.Second
	// renewalWindow is how much of that time is left when asking again renews it.
	renewalWindow = connectTimeout / 2
)

// JoinLimiter limits how many new seats and knocks each address takes.
type JoinLimiter interface {
	// Failed takes one, or reports that the address has none left, and when
	// the next is earned.
	RecordAttempt(a netip.Addr) (over bool, retryAfter time.Duration)
	// Exhausted reports the same and takes none.
	Exhausted(a netip.Addr) (over bool, retryAfter time.Duration)
}

// SetJoinLimiter sets the limit on new seats and knocks. Call it before the
// first visitor; without it there is none.
func (s *Service) SetJoinLimiter(n JoinLimiter) { s.joinLimiter = n }

// joinAttempt is one request for a seat. Its transaction may run more than once;
// what it takes of the limit is taken once.
type joinAttempt struct {
	JoinRequest
	counted bool
}

// countJoin takes one newcomer off the limit of the visitor's address.
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

// isNewcomer reports whether a visitor counts against the limit of their
// address: they have no seat here, do not wait already, and nobody stands for
// them.
func (r *Room) isNewcomer(mine resolvedIdentity, link Link, keyHash string, knocks []Knock) bool {
	return !mine.known && !isTrusted(mine, link) && !slices.ContainsFunc(knocks, func(k Knock) bool { return k.KeyHash == keyHash })
}

// isTrusted reports whether somebody stands for a visitor: their link makes them
// more than a guest, is for one person or hides them.
func isTrusted(mine resolvedIdentity, link Link) bool {
	return mine.role != Guest || link.SingleUse || link.UserID != "" || link.Hidden
}

// checkJoinLimit refuses a newcomer whose address is over its limit before the room
// is locked: a flood of them must not hold up those who write.
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
	mine, err := s.resolveIdentity(ctx, r, keyHash, link)
	if err != nil {
		return err
	}
	knocks, err := s.listKnocks(ctx, r)
	if err == nil && r.isNewcomer(mine, link, keyHash, knocks) {
		err = tooManyJoins(retryAfter)
	}
	return err
}

// extendReservation reserves a seat for the connection that its holder is about to make.
// Nobody who has never connected holds a seat for ever by asking again: that
// renews the reservation only in its last ten seconds, and costs a newcomer.
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

// unused reports whether nobody has ever connected to a seat.
func (seat *Seat) unused() bool { return seat.Connection == "" && seat.State != Joined }

// anonymous reports whether nobody stands for a seat's holder.
func (seat *Seat) anonymous() bool {
	return seat.Role == Guest && !seat.Invited && seat.UserID == "" && !seat.Demoted && seat.RemovedAt.IsZero()
}

// releaseSeat leaves a seat to whoever asks next. The row of an anonymous guest
// who never came is deleted, so that strangers do not fill the database.
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

// displacedGuest is a guest whose seat a host was given.
type displacedGuest struct {
	identity string
	sessions []string // where the engine may have them
}

// ensureCapacity fails when there is no seat left for one more. In a full room
// without a host, a host is given the seat of an anonymous guest: of the one
// who has kept a seat without connecting for longest, or else of the guest who
// came last. Somebody with a link for one person is given the former only, and
// only in a room without a host or anybody like themselves.
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

// chooseDisplaced returns whose seat makes way for a visitor in a full room.
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

// displacedBefore reports whether a seat makes way before another: the unused ones
// first, of these the oldest, of the others the newest.
func (seat Seat) displacedBefore(other Seat) bool {
	if seat.unused() != other.unused() {
		return seat.unused()
	}
	return seat.CreatedAt.Before(other.CreatedAt) == seat.unused()
}
