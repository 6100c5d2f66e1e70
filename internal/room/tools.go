package room

import (
	"context"
	"errors"
	"time"

	"parley/internal/fault"
)

// The tools of hosts and co-hosts over people: a co-host has none over a host.
// What is decided is written on seats and on the room first, and then told to
// the engine; what fails there is made up for by the next look. Muting and
// asking are of the moment, and written nowhere.

var (
	errRemoved = fault.New(fault.Forbidden, "removed", "a host removed you from this room")
	errNobody  = fault.New(fault.NotFound, "seat_not_found", "there is nobody of that identity in this room")
)

// subject returns the seats of a host or co-host and of whom they mean.
func (s *Service) subject(ctx context.Context, r *Room, seatKey, identity string) (host, seat Seat, err error) {
	if host, err = s.hostSeat(ctx, r, seatKey); err != nil {
		return host, seat, err
	}
	seat, err = s.store.Seat(ctx, r.ID, identity)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && seat.Hidden:
		err = errNobody
	case err == nil && seat.Role == Host && host.Role != Host:
		err = fault.New(fault.Forbidden, "not_host", "a co-host may not do this to a host")
	}
	return host, seat, err
}

// another is subject for what nobody does to themselves.
func (s *Service) another(ctx context.Context, r *Room, seatKey, identity string) (Seat, error) {
	host, seat, err := s.subject(ctx, r, seatKey, identity)
	if err == nil && host.ID == seat.ID {
		err = fault.Invalidf("identity must be somebody else's, not your own")
	}
	return seat, err
}

// Remove takes somebody out of the room. Neither their browser nor, where it is
// known, their person comes in again, unless they are readmitted. Refusals:
// NotFound, Gone (over), Forbidden (not a host), Conflict (not open yet),
// Invalid.
func (s *Service) Remove(ctx context.Context, roomID, seatKey, identity string) error {
	var from []string
	err := s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		seat, err := s.another(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		if from, err = s.disconnect(ctx, r, &seat, now, LeftRemoved); err != nil {
			return err
		}
		seat.RemovedAt = now
		return s.store.UpdateSeat(ctx, seat)
	})
	for _, session := range from {
		s.note(ctx, "take out somebody who was removed", s.media.Remove(ctx, session, identity), "room_id", roomID)
	}
	return err
}

// Readmit lets somebody come in again who was removed. Refusals as Remove's.
func (s *Service) Readmit(ctx context.Context, roomID, seatKey, identity string) error {
	return s.change(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.another(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		seat.RemovedAt = time.Time{}
		return s.store.UpdateSeat(ctx, seat)
	})
}

// Mute silences somebody, or, with an empty identity, all guests. Their pages
// say by whom; they may unmute themselves. Refusals as Remove's, and
// Unavailable when the engine does not answer.
func (s *Service) Mute(ctx context.Context, roomID, seatKey, identity string) error {
	r, host, err := s.asHost(ctx, roomID, seatKey)
	if err != nil {
		return err
	}
	meant := func(seat Seat) bool { return seat.Role == Guest && !seat.Hidden }
	if identity != "" {
		if _, _, err := s.subject(ctx, r, seatKey, identity); err != nil {
			return err
		}
		meant = func(seat Seat) bool { return seat.ID == identity }
	}
	where, err := s.whereAre(ctx, r, meant)
	if err != nil {
		return err
	}
	for session, identities := range where {
		muted, err := s.media.Mute(ctx, session, identities)
		if err != nil {
			return engineAway(err)
		}
		if len(muted) > 0 {
			s.note(ctx, "say who muted", s.media.Tell(ctx, session, muted, Message{Kind: MessageMuted, From: host.Name}), "room_id", roomID)
		}
	}
	return nil
}

// AskToUnmute has somebody's page ask them to speak. Refusals as Mute's, and
// Conflict where guests' microphones are locked.
func (s *Service) AskToUnmute(ctx context.Context, roomID, seatKey, identity string) error {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	host, seat, err := s.subject(ctx, r, seatKey, identity)
	if err != nil {
		return err
	}
	if !r.grants(seat.Role).Microphone {
		return fault.New(fault.Conflict, "microphone_locked", "guests may not use their microphones in this room: allow that first")
	}
	where, err := s.whereAre(ctx, r, func(other Seat) bool { return other.ID == seat.ID })
	if err != nil {
		return err
	}
	if len(where) == 0 {
		return errNobody
	}
	for session, identities := range where {
		if err := s.media.Tell(ctx, session, identities, Message{Kind: MessageUnmute, From: host.Name}); err != nil {
			return engineAway(err)
		}
	}
	return nil
}

// LockChange says what guests may not do from now on; what is nil stays as it
// is.
type LockChange struct{ Microphone, Camera, ScreenShare, Chat, WaitingRoom *bool }

// Lock changes what guests may do. What they send and may not any more is taken
// out, and who waits comes in when nobody has to wait. Refusals as Remove's.
func (s *Service) Lock(ctx context.Context, roomID, seatKey string, q LockChange) error {
	err := s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
			return err
		}
		if q.WaitingRoom != nil && !*q.WaitingRoom {
			if err := s.openDoors(ctx, r, now); err != nil {
				return err
			}
		}
		before := r.Locks
		for _, lock := range []struct {
			of *bool
			to *bool
		}{{&r.Locks.Microphone, q.Microphone}, {&r.Locks.Camera, q.Camera}, {&r.Locks.ScreenShare, q.ScreenShare}, {&r.Locks.Chat, q.Chat}, {&r.Locks.WaitingRoom, q.WaitingRoom}} {
			if lock.to != nil {
				*lock.of = *lock.to
			}
		}
		r.retold = r.retold || r.Locks != before
		return nil
	})
	if err == nil {
		s.enforce(ctx, roomID)
	}
	return err
}

// Appoint makes a guest a co-host, or takes that back; then no link makes them
// one again. Who is a host stays one. Refusals as Remove's.
func (s *Service) Appoint(ctx context.Context, roomID, seatKey, identity string, role Role) error {
	if role != Guest && role != CoHost {
		return fault.Invalidf("role must be cohost or guest")
	}
	err := s.change(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.another(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		if seat.Role == Host {
			return fault.New(fault.Forbidden, "not_host", "who is a host stays one")
		}
		seat.Demoted = role == Guest && (seat.Demoted || seat.Role == CoHost)
		seat.Role = role
		return s.store.UpdateSeat(ctx, seat)
	})
	if err == nil {
		s.enforce(ctx, roomID)
	}
	return err
}

// whereAre returns, by session, who of those who are meant is in.
func (s *Service) whereAre(ctx context.Context, r *Room, meant func(Seat) bool) (map[string][]string, error) {
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	present, err := s.store.Present(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	are := make(map[string]bool, len(seats))
	for _, seat := range seats {
		are[seat.ID] = meant(seat)
	}
	where := map[string][]string{}
	for _, a := range present {
		if are[a.SeatID] {
			session := SessionID(r.ID, a.Session)
			where[session] = append(where[session], a.SeatID)
		}
	}
	return where, nil
}

// enforce has the engine hold everybody in a room to what they may do now.
func (s *Service) enforce(ctx context.Context, roomID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s.note(ctx, "hold people to what they may do", s.allowAll(ctx, roomID, func(string) bool { return true }), "room_id", roomID)
}

// allowAll is enforce in those sessions of a room that are wanted.
func (s *Service) allowAll(ctx context.Context, roomID string, wanted func(session string) bool) error {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	seats, err := s.store.Seats(ctx, roomID)
	if err != nil {
		return err
	}
	by := make(map[string]Seat, len(seats))
	for _, seat := range seats {
		by[seat.ID] = seat
	}
	present, err := s.store.Present(ctx, roomID)
	if err != nil {
		return err
	}
	for _, a := range present {
		seat, taken := by[a.SeatID]
		if session := SessionID(roomID, a.Session); taken && wanted(session) {
			err = errors.Join(err, s.media.Allow(ctx, session, seat.ID, seat.Role, r.grants(seat.Role)))
		}
	}
	return err
}
