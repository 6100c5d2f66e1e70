package room

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"parley/internal/fault"
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
}

// errTokenRequired means that a visitor's request takes a token of the limit of their address.
var errTokenRequired = errors.New("room: the request takes a token")

// reserveWithToken reserves a seat in a transaction, after it took the token that the request
// needs. The transaction may run more than once, the token is taken once, and a refused request
// reserves nothing and does not wait for the lock of the room.
func (s *Joining) reserveWithToken(ctx context.Context, roomID string, v JoinRequest) (out Admission, err error) {
	token, err := s.requiredToken(ctx, roomID, v)
	if err != nil {
		return Admission{}, err
	}
	for taken := false; ; token = tokenRequired {
		if !taken && token != noToken {
			over, retryAfter := s.options.JoinLimiter.RecordAttempt(v.ClientAddr)
			if over && token == tokenRequired {
				return Admission{}, tooManyJoins(retryAfter)
			}
			taken = !over
		}
		err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) (err error) {
			out, err = s.reserveSeat(ctx, r, v, taken, now)
			return err
		})
		if !errors.Is(err, errTokenRequired) { // the visitor's reservation may have expired
			return out, err
		}
	}
}

// requiredToken returns whether a request takes a token, as far as that is known without the
// lock of the room. A visitor who will be refused takes one too.
func (s *Joining) requiredToken(ctx context.Context, roomID string, v JoinRequest) (tokenUse, error) {
	if s.options.JoinLimiter == nil {
		return noToken, nil
	}
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return noToken, err
	}
	f, err := s.loadVisitor(ctx, r, v)
	if err != nil {
		return noToken, err
	}
	now := s.now()
	visitor, err := f.identify(v, now)
	switch {
	case err != nil:
		return noToken, nil // the transaction refuses the visitor
	case f.isNewcomer(visitor):
		return tokenRequired, nil
	case visitor.known && f.hold(&visitor.seat, now):
		return tokenOptional, nil
	}
	return noToken, nil
}

func tooManyJoins(retryAfter time.Duration) error {
	return &fault.Error{Kind: fault.Exhausted, Code: codeTooManyJoins, RetryAfter: retryAfter,
		Message: "too many people are joining from your network at once, try again in a moment"}
}
