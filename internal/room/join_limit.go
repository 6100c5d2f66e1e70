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

// joinAttempt is one request for a seat. Its transaction may run more than once,
// but the limit counts it once.
type joinAttempt struct {
	JoinRequest
	counted bool
}

// countJoin counts the attempt against the limit of the visitor's address. It
// returns Exhausted if the address is over its limit.
func (s *Service) countJoin(a *joinAttempt) error {
	if s.options.JoinLimiter == nil || a.counted {
		return nil
	}
	if over, retryAfter := s.options.JoinLimiter.RecordAttempt(a.ClientAddr); over {
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
	if s.options.JoinLimiter == nil {
		return nil
	}
	over, retryAfter := s.options.JoinLimiter.Exhausted(v.ClientAddr)
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
