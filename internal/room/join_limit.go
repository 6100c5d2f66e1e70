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

// tokenError rolls back a transaction whose decision needs a token that was not asked for.
type tokenError struct{ use tokenUse }

func (tokenError) Error() string { return "room: the request needs a token" }

// reserveWithToken reserves a seat in a transaction. Tokens are asked for outside of it, because it
// may run more than once. A newcomer whose address has no token left does not wait for the lock of
// the room.
func (s *Joining) reserveWithToken(ctx context.Context, roomID string, v JoinRequest) (out Admission, err error) {
	use, err := s.expectedToken(ctx, roomID, v)
	if err != nil {
		return Admission{}, err
	}
	for token := tokenNotAsked; ; {
		if use != noToken {
			over, retryAfter := s.options.JoinLimiter.RecordAttempt(v.ClientAddr)
			switch {
			case !over:
				token = tokenTaken
			case use == tokenRequired:
				return Admission{}, tooManyJoins(retryAfter)
			default:
				token = tokenRefused
			}
		}
		err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) (err error) {
			out, err = s.reserveSeat(ctx, r, v, token, now)
			return err
		})
		var needed tokenError
		if !errors.As(err, &needed) {
			return out, err
		}
		use = needed.use
	}
}

// expectedToken returns whether the visitor is a newcomer, as far as that is known without the lock
// of the room. A newcomer who will be refused takes a token too.
func (s *Joining) expectedToken(ctx context.Context, roomID string, v JoinRequest) (tokenUse, error) {
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
	// The transaction refuses a visitor who was removed.
	if visitor, err := f.identify(v, s.now()); err == nil && f.isNewcomer(visitor) {
		return tokenRequired, nil
	}
	return noToken, nil
}

func tooManyJoins(retryAfter time.Duration) error {
	return &fault.Error{Kind: fault.Exhausted, Code: codeTooManyJoins, RetryAfter: retryAfter,
		Message: "too many people are joining from your network at once, try again in a moment"}
}
