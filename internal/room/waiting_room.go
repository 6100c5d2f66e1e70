package room

import (
	"context"
	"errors"
	"time"

	"parley/internal/fault"
	"parley/internal/seal"
)

// While the waiting room is on, a guest without a personal invitation knocks and
// waits until a host lets them in. Until then the guest has no seat and no access
// token and is not counted. Accepting a knock creates a free seat for the guest,
// who is admitted with it from then on.

const (
	// knockRetryInterval is how often the page of a waiting visitor asks again.
	knockRetryInterval = 2 * time.Second
	// knockTTL is how long a knock is valid if the visitor does not ask again. Browsers run
	// a page in the background, or on a locked phone, once a minute.
	knockTTL = 2 * time.Minute
	// knockRenewal is how often the validity of a knock is stored again, so that not every
	// request of a waiting visitor writes.
	knockRenewal = 20 * time.Second
	// waitingRoomFullRetry is when a visitor may try again to get a place in a full waiting
	// room.
	waitingRoomFullRetry = 10 * time.Second
	// knockDenialTTL is how long a denied visitor cannot knock again. A page in the background
	// asks once a minute, so that it learns of the denial, and does not knock again by itself.
	knockDenialTTL = 2 * time.Minute
	// maxWaiting is the maximum number of visitors who wait for a room at once.
	maxWaiting = 100
	// maxWaitingPerNetwork is the maximum number of them from one network. A household has
	// two, IPv4 and IPv6, which must not fill the waiting room.
	maxWaitingPerNetwork = 40
)

// Knock is a visitor who waits to be let in, or whom a host denied recently.
type Knock struct {
	ID        string // of the visitor's seat, also of the one that an admission makes
	RoomID    string
	KeyHash   string // hash of the seat key; identifies the browser when it asks again
	Name      string
	Network   string // address prefix for maxWaitingPerNetwork
	Denied    bool
	CreatedAt time.Time // when the visitor began to wait
	ExpiresAt time.Time // when the knock expires, unless the visitor asks again
}

// isWaiting reports whether the visitor is still waiting at now.
func (k Knock) isWaiting(now time.Time) bool { return !k.Denied && k.ExpiresAt.After(now) }

// denial returns Forbidden (turned_away) if the visitor was denied and may not
// knock again yet.
func (k Knock) denial(now time.Time) error {
	wait := k.ExpiresAt.Sub(now)
	if !k.Denied || wait <= 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Forbidden, Code: "turned_away", RetryAfter: wait,
		Message: "the host did not admit you, you can ask again in two minutes"}
}

// StopWaiting forgets that the visitor with that seat key waits, because their page was closed or
// they changed their mind. It does nothing if the visitor does not wait, and a denial stays.
// Errors: NotFound, Invalid.
func (s *Joining) StopWaiting(ctx context.Context, roomID, seatKey string) error {
	if err := checkSeatKey(seatKey); err != nil {
		return err
	}
	keyHash := seal.Hash(seatKey)
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		return s.deleteKnocks(ctx, r, func(k Knock) bool { return k.KeyHash == keyHash && k.isWaiting(now) })
	})
}

// listKnocks returns the knocks of a room, including expired and denied ones.
func (s *Joining) listKnocks(ctx context.Context, r *Room) ([]Knock, error) {
	if !r.Locks.WaitingRoom {
		return nil, nil // clearWaitingRoom has deleted them
	}
	return s.store.Knocks(ctx, r.ID)
}

// waitingKnocks returns the visitors who are waiting, oldest first.
func (s *core) waitingKnocks(ctx context.Context, r *Room) ([]Knock, error) {
	if !r.Locks.WaitingRoom {
		return nil, nil
	}
	knocks, err := s.store.Knocks(ctx, r.ID)
	var waiting []Knock
	for _, k := range knocks {
		if k.isWaiting(s.now()) {
			waiting = append(waiting, k)
		}
	}
	return waiting, err
}

// Admit lets in the waiting visitor with that identity, or all of them if
// identity is empty. They join when their pages ask again. Errors: NotFound, Gone
// (over), Forbidden (not a host), Conflict (not open yet), Invalid.
func (s *Moderation) Admit(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if identity == "" {
			host, err := s.hostSeat(ctx, r, seatKey)
			if err != nil {
				return err
			}
			accepted, err := s.admitAllKnocks(ctx, r, now)
			if err != nil || accepted == 0 {
				return err
			}
			action := HostAction{Kind: HostAdmittedAll, By: actorOf(host)}
			action.Details.Count = accepted
			return s.recordHostAction(ctx, r, action, now)
		}
		host, k, err := s.findKnock(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		if err := s.admitKnock(ctx, r, k, now); err != nil {
			return err
		}
		return s.recordHostAction(ctx, r, HostAction{Kind: HostAdmitted, By: actorOf(host), Target: k.actor()}, now)
	})
}

// Deny refuses the waiting visitor with that identity, who may knock again
// after two minutes. It returns the same errors as Admit.
func (s *Moderation) Deny(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, k, err := s.findKnock(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		k.Denied, k.ExpiresAt, r.metadataChanged = true, now.Add(knockDenialTTL), true
		if err := s.store.UpsertKnock(ctx, k); err != nil {
			return err
		}
		return s.recordHostAction(ctx, r, HostAction{Kind: HostDenied, By: actorOf(host), Target: k.actor()}, now)
	})
}

// actor returns the visitor as the target of a HostAction.
func (k Knock) actor() HostActor { return HostActor{SeatID: k.ID, Name: k.Name, Role: Guest} }

// findKnock returns the seat of the calling host or co-host, and the waiting visitor with
// that identity, or NotFound.
func (s *Moderation) findKnock(ctx context.Context, r *Room, seatKey, identity string) (host Seat, k Knock, err error) {
	if host, err = s.hostSeat(ctx, r, seatKey); err != nil {
		return host, k, err
	}
	waiting, err := s.waitingKnocks(ctx, r)
	for _, k := range waiting {
		if k.ID == identity {
			return host, k, nil
		}
	}
	if err == nil {
		err = errSeatNotFound
	}
	return host, k, err
}

// admitKnock replaces a knock by a free seat for the visitor, or marks the seat that the
// visitor has as one of a person who was let in.
func (s *Moderation) admitKnock(ctx context.Context, r *Room, k Knock, now time.Time) error {
	r.metadataChanged = true
	if seat, err := s.store.SeatByKey(ctx, r.ID, k.KeyHash); err == nil {
		seat.Invited = true
		return errors.Join(s.store.UpdateSeat(ctx, seat), s.store.DeleteKnock(ctx, k.ID))
	} else if !fault.Is(err, fault.NotFound) {
		return err
	}
	seat := Seat{
		ID:        k.ID,
		RoomID:    r.ID,
		KeyHash:   k.KeyHash,
		Name:      k.Name,
		Role:      Guest,
		Invited:   true,
		State:     Free,
		CreatedAt: now,
	}
	if err := s.store.InsertSeat(ctx, seat); err != nil {
		return err
	}
	return s.store.DeleteKnock(ctx, k.ID)
}

func (s *Moderation) admitAllKnocks(ctx context.Context, r *Room, now time.Time) (accepted int, err error) {
	waiting, err := s.waitingKnocks(ctx, r)
	if err != nil {
		return 0, err
	}
	for _, k := range waiting {
		if err := s.admitKnock(ctx, r, k, now); err != nil {
			return 0, err
		}
	}
	return len(waiting), nil
}

// clearWaitingRoom accepts all waiting visitors and deletes all other knocks. It
// runs when the waiting room is turned off.
func (s *Moderation) clearWaitingRoom(ctx context.Context, r *Room, now time.Time) error {
	if _, err := s.admitAllKnocks(ctx, r, now); err != nil {
		return err
	}
	return s.deleteKnocks(ctx, r, func(Knock) bool { return true })
}

// deleteKnocks deletes the knocks of a room for which match returns true.
func (s *core) deleteKnocks(ctx context.Context, r *Room, match func(Knock) bool) error {
	if !r.Locks.WaitingRoom {
		return nil // clearWaitingRoom has deleted them
	}
	knocks, err := s.store.Knocks(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, k := range knocks {
		if !match(k) {
			continue
		}
		r.metadataChanged = true
		if err := s.store.DeleteKnock(ctx, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// deleteStaleKnocks deletes the expired knocks of all rooms, waiting and denied.
func (s *Presence) deleteStaleKnocks(ctx context.Context) {
	rooms, err := s.store.RoomsWithStaleKnocks(ctx, s.now())
	if s.logFailure(ctx, "list rooms with stale knocks", err) {
		return
	}
	for _, id := range rooms {
		err := s.updateRoom(ctx, id, func(ctx context.Context, r *Room, now time.Time) error {
			return s.deleteKnocks(ctx, r, func(k Knock) bool { return !k.ExpiresAt.After(now) })
		})
		s.logFailure(ctx, "delete stale knocks", err, "room_id", id)
	}
}
