package room

import (
	"context"
	"time"

	"parley/internal/fault"
	"parley/internal/network"
)

// The waiting room: while it is on, whoever comes as a guest without a right
// of their own knocks, and waits until a host lets them in. They have no seat
// and no pass then, and count nowhere. To be let in is to be given a seat that
// nobody sits in yet: whoever has one is known, and comes in from then on.

const (
	// knockRetryInterval is how often a page asks again that was told to wait.
	knockRetryInterval = 2 * time.Second
	// knockTTL is how long somebody still waits who does not ask again.
	knockTTL = 10 * time.Second
	// knockDenialTTL is how long somebody who was turned away cannot knock again.
	knockDenialTTL = time.Minute
	// maxWaiting is how many may wait for a room at once.
	maxWaiting = 50
	// maxWaitingPerNetwork is how many of them may come from one network.
	maxWaitingPerNetwork = 40
)

// Knock is somebody who waits to be let in, or was turned away a moment ago.
type Knock struct {
	ID        string // becomes the id of their seat
	RoomID    string
	KeyHash   string // recognises who asks again
	Name      string
	Network   string // which limits count it as
	Denied    bool
	CreatedAt time.Time // since when they wait
	ExpiresAt time.Time // when it is forgotten, unless they ask again
}

// isWaiting reports whether somebody still waits at now.
func (k Knock) isWaiting(now time.Time) bool { return !k.Denied && k.ExpiresAt.After(now) }

// denial refuses somebody who was turned away and may not knock again yet.
func (k Knock) denial(now time.Time) error {
	wait := k.ExpiresAt.Sub(now)
	if !k.Denied || wait <= 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Forbidden, Code: "turned_away", Message: "you were not let in, ask again in a minute", RetryAfter: wait}
}

// mustWait says whether somebody at the door waits until they are let in. Who
// has a seat already was let in once; a link that makes more than a guest, or is
// for one person alone, is somebody's word for whoever brings it; and who is
// hidden is not shown to hosts.
func (r *Room) mustWait(mine resolvedIdentity, link Link) bool {
	return r.Locks.WaitingRoom && !mine.known && !isTrusted(mine, link)
}

// recordKnock notes that somebody waits, or still does.
func (s *Service) recordKnock(ctx context.Context, r *Room, knocks []Knock, keyHash string, v JoinRequest, now time.Time) error {
	own := Knock{ID: s.newID(), RoomID: r.ID, KeyHash: keyHash, Network: network.ClientPrefix(v.ClientAddr).String()}
	others, neighbours := 0, 0
	for _, k := range knocks {
		if k.KeyHash == keyHash {
			own = k
		} else if k.isWaiting(now) {
			others++
			if k.Network == own.Network {
				neighbours++
			}
		}
	}
	if err := own.denial(now); err != nil {
		return err
	}
	if !own.isWaiting(now) {
		if others >= maxWaiting || s.joinLimiter != nil && neighbours >= maxWaitingPerNetwork {
			return &fault.Error{Kind: fault.Conflict, Code: "waiting_room_full", RetryAfter: knockTTL,
				Message: "too many people wait for this room already, try again in a moment"}
		}
		own.Denied, own.CreatedAt = false, now
	}
	r.metadataChanged = r.metadataChanged || !own.CreatedAt.Before(now)
	own.Name, own.ExpiresAt = v.Name, now.Add(knockTTL)
	return s.store.UpsertKnock(ctx, own)
}

// listKnocks returns those at the door of a room that has a waiting room.
func (s *Service) listKnocks(ctx context.Context, r *Room) ([]Knock, error) {
	if !r.Locks.WaitingRoom {
		return nil, nil // then there are none
	}
	return s.store.Knocks(ctx, r.ID)
}

// checkNotDenied refuses a look to somebody who was turned away a moment ago.
func (s *Service) checkNotDenied(ctx context.Context, r *Room, keyHash string) error {
	knocks, err := s.store.Knocks(ctx, r.ID)
	for _, k := range knocks {
		if k.KeyHash == keyHash {
			return k.denial(s.now())
		}
	}
	return err
}

// waitingKnocks returns who waits for a room, who came first first.
func (s *Service) waitingKnocks(ctx context.Context, r *Room) ([]Knock, error) {
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

// AcceptKnock lets somebody in who waits, or, with an empty identity, all of them:
// their pages come in when they ask again. Refusals: NotFound, Gone (over),
// Forbidden (not a host), Conflict (not open yet), Invalid.
func (s *Service) AcceptKnock(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if identity == "" {
			if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
				return err
			}
			return s.acceptAllKnocks(ctx, r, now)
		}
		k, err := s.findKnock(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		return s.acceptKnock(ctx, r, k, now)
	})
}

// DenyKnock tells somebody who waits that they are not let in. They may knock
// again after a minute. Refusals as AcceptKnock's.
func (s *Service) DenyKnock(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		k, err := s.findKnock(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		k.Denied, k.ExpiresAt, r.metadataChanged = true, now.Add(knockDenialTTL), true
		return s.store.UpsertKnock(ctx, k)
	})
}

// findKnock returns whom a host or co-host means of those who wait.
func (s *Service) findKnock(ctx context.Context, r *Room, seatKey, identity string) (Knock, error) {
	if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
		return Knock{}, err
	}
	waiting, err := s.waitingKnocks(ctx, r)
	for _, k := range waiting {
		if k.ID == identity {
			return k, nil
		}
	}
	if err == nil {
		err = errSeatNotFound
	}
	return Knock{}, err
}

// acceptKnock gives somebody who waits a seat to come to.
func (s *Service) acceptKnock(ctx context.Context, r *Room, k Knock, now time.Time) error {
	r.metadataChanged = true
	seat := Seat{ID: k.ID, RoomID: r.ID, KeyHash: k.KeyHash, Name: k.Name, Role: Guest, Invited: true, State: Free, CreatedAt: now}
	if err := s.store.InsertSeat(ctx, seat); err != nil {
		return err
	}
	return s.store.DeleteKnock(ctx, k.ID)
}

func (s *Service) acceptAllKnocks(ctx context.Context, r *Room, now time.Time) error {
	waiting, err := s.waitingKnocks(ctx, r)
	if err != nil {
		return err
	}
	for _, k := range waiting {
		if err := s.acceptKnock(ctx, r, k, now); err != nil {
			return err
		}
	}
	return nil
}

// clearWaitingRoom is what becomes of those at the door when the waiting room is
// turned off: they are all in, and forgotten.
func (s *Service) clearWaitingRoom(ctx context.Context, r *Room, now time.Time) error {
	if err := s.acceptAllKnocks(ctx, r, now); err != nil {
		return err
	}
	return s.deleteKnocks(ctx, r, func(Knock) bool { return true })
}

// deleteKnocks deletes those knocks of a room that are meant.
func (s *Service) deleteKnocks(ctx context.Context, r *Room, meant func(Knock) bool) error {
	if !r.Locks.WaitingRoom {
		return nil // then there are none
	}
	knocks, err := s.store.Knocks(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, k := range knocks {
		if !meant(k) {
			continue
		}
		r.metadataChanged = true
		if err := s.store.DeleteKnock(ctx, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// deleteStaleKnocks forgets who has stopped asking, and who was turned away long
// enough ago.
func (s *Service) deleteStaleKnocks(ctx context.Context) {
	rooms, err := s.store.RoomsWithStaleKnocks(ctx, s.now())
	if s.logFailure(ctx, "look for those who stopped waiting", err) {
		return
	}
	for _, id := range rooms {
		err := s.updateRoom(ctx, id, func(ctx context.Context, r *Room, now time.Time) error {
			return s.deleteKnocks(ctx, r, func(k Knock) bool { return !k.ExpiresAt.After(now) })
		})
		s.logFailure(ctx, "forget those who stopped waiting", err, "room_id", id)
	}
}
