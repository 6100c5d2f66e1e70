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
	// knockEvery is how often a page asks again that was told to wait.
	knockEvery = 2 * time.Second
	// knockKept is how long somebody still waits who does not ask again.
	knockKept = 10 * time.Second
	// outFor is how long somebody who was turned away cannot knock again.
	outFor = time.Minute
	// maxWaiting is how many may wait for a room at once.
	maxWaiting = 50
	// maxWaitingFrom is how many of them may come from one network.
	maxWaitingFrom = 40
)

// Knock is somebody who waits to be let in, or was turned away a moment ago.
type Knock struct {
	ID         string // becomes the id of their seat
	RoomID     string
	KeyHash    string // recognises who asks again
	Name       string
	Network    string // which limits count it as
	TurnedAway bool
	CreatedAt  time.Time // since when they wait
	KeptUntil  time.Time // when it is forgotten, unless they ask again
}

// waits reports whether somebody still waits at now.
func (k Knock) waits(now time.Time) bool { return !k.TurnedAway && k.KeptUntil.After(now) }

// out refuses somebody who was turned away and may not knock again yet.
func (k Knock) out(now time.Time) error {
	wait := k.KeptUntil.Sub(now)
	if !k.TurnedAway || wait <= 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Forbidden, Code: "turned_away", Message: "you were not let in, ask again in a minute", RetryAfter: wait}
}

// mustWait says whether somebody at the door waits until they are let in. Who
// has a seat already was let in once; a link that makes more than a guest, or is
// for one person alone, is somebody's word for whoever brings it; and who is
// hidden is not shown to hosts.
func (r *Room) mustWait(mine claim, link Link) bool {
	return r.Locks.WaitingRoom && !mine.known && !vouched(mine, link)
}

// knock notes that somebody waits, or still does.
func (s *Service) knock(ctx context.Context, r *Room, knocks []Knock, keyHash string, v Visit, now time.Time) error {
	own := Knock{ID: s.newID(), RoomID: r.ID, KeyHash: keyHash, Network: network.Of(v.Client).String()}
	others, neighbours := 0, 0
	for _, k := range knocks {
		if k.KeyHash == keyHash {
			own = k
		} else if k.waits(now) {
			others++
			if k.Network == own.Network {
				neighbours++
			}
		}
	}
	if err := own.out(now); err != nil {
		return err
	}
	if !own.waits(now) {
		if others >= maxWaiting || s.newcomers != nil && neighbours >= maxWaitingFrom {
			return &fault.Error{Kind: fault.Conflict, Code: "waiting_room_full", RetryAfter: knockKept,
				Message: "too many people wait for this room already, try again in a moment"}
		}
		own.TurnedAway, own.CreatedAt = false, now
	}
	r.retold = r.retold || !own.CreatedAt.Before(now)
	own.Name, own.KeptUntil = v.Name, now.Add(knockKept)
	return s.store.PutKnock(ctx, own)
}

// knocks returns those at the door of a room that has a waiting room.
func (s *Service) knocks(ctx context.Context, r *Room) ([]Knock, error) {
	if !r.Locks.WaitingRoom {
		return nil, nil // then there are none
	}
	return s.store.Knocks(ctx, r.ID)
}

// notOut refuses a look to somebody who was turned away a moment ago.
func (s *Service) notOut(ctx context.Context, r *Room, keyHash string) error {
	knocks, err := s.store.Knocks(ctx, r.ID)
	for _, k := range knocks {
		if k.KeyHash == keyHash {
			return k.out(s.now())
		}
	}
	return err
}

// waiting returns who waits for a room, who came first first.
func (s *Service) waiting(ctx context.Context, r *Room) ([]Knock, error) {
	if !r.Locks.WaitingRoom {
		return nil, nil
	}
	knocks, err := s.store.Knocks(ctx, r.ID)
	var waiting []Knock
	for _, k := range knocks {
		if k.waits(s.now()) {
			waiting = append(waiting, k)
		}
	}
	return waiting, err
}

// LetIn lets somebody in who waits, or, with an empty identity, all of them:
// their pages come in when they ask again. Refusals: NotFound, Gone (over),
// Forbidden (not a host), Conflict (not open yet), Invalid.
func (s *Service) LetIn(ctx context.Context, roomID, seatKey, identity string) error {
	return s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if identity == "" {
			if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
				return err
			}
			return s.letAllIn(ctx, r, now)
		}
		k, err := s.knocker(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		return s.letIn(ctx, r, k, now)
	})
}

// TurnAway tells somebody who waits that they are not let in. They may knock
// again after a minute. Refusals as LetIn's.
func (s *Service) TurnAway(ctx context.Context, roomID, seatKey, identity string) error {
	return s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		k, err := s.knocker(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		k.TurnedAway, k.KeptUntil, r.retold = true, now.Add(outFor), true
		return s.store.PutKnock(ctx, k)
	})
}

// knocker returns whom a host or co-host means of those who wait.
func (s *Service) knocker(ctx context.Context, r *Room, seatKey, identity string) (Knock, error) {
	if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
		return Knock{}, err
	}
	waiting, err := s.waiting(ctx, r)
	for _, k := range waiting {
		if k.ID == identity {
			return k, nil
		}
	}
	if err == nil {
		err = errNobody
	}
	return Knock{}, err
}

// letIn gives somebody who waits a seat to come to.
func (s *Service) letIn(ctx context.Context, r *Room, k Knock, now time.Time) error {
	r.retold = true
	seat := Seat{ID: k.ID, RoomID: r.ID, KeyHash: k.KeyHash, Name: k.Name, Role: Guest, Invited: true, State: Free, CreatedAt: now}
	if err := s.store.InsertSeat(ctx, seat); err != nil {
		return err
	}
	return s.store.DeleteKnock(ctx, k.ID)
}

func (s *Service) letAllIn(ctx context.Context, r *Room, now time.Time) error {
	waiting, err := s.waiting(ctx, r)
	if err != nil {
		return err
	}
	for _, k := range waiting {
		if err := s.letIn(ctx, r, k, now); err != nil {
			return err
		}
	}
	return nil
}

// openDoors is what becomes of those at the door when the waiting room is
// turned off: they are all in, and forgotten.
func (s *Service) openDoors(ctx context.Context, r *Room, now time.Time) error {
	if err := s.letAllIn(ctx, r, now); err != nil {
		return err
	}
	return s.forgetKnocks(ctx, r, func(Knock) bool { return true })
}

// forgetKnocks deletes those knocks of a room that are meant.
func (s *Service) forgetKnocks(ctx context.Context, r *Room, meant func(Knock) bool) error {
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
		r.retold = true
		if err := s.store.DeleteKnock(ctx, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// forgetStale forgets who has stopped asking, and who was turned away long
// enough ago.
func (s *Service) forgetStale(ctx context.Context) {
	rooms, err := s.store.StaleKnocks(ctx, s.now())
	if s.note(ctx, "look for those who stopped waiting", err) {
		return
	}
	for _, id := range rooms {
		err := s.change(ctx, id, func(ctx context.Context, r *Room, now time.Time) error {
			return s.forgetKnocks(ctx, r, func(k Knock) bool { return !k.KeptUntil.After(now) })
		})
		s.note(ctx, "forget those who stopped waiting", err, "room_id", id)
	}
}
