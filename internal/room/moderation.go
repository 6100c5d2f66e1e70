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
	errRemoved      = fault.New(fault.Forbidden, "removed", "a host removed you from this room")
	errTargetIsHost = fault.New(fault.Forbidden, "not_host", "a co-host may not do this to a host")
	errSeatNotFound = fault.New(fault.NotFound, "seat_not_found", "there is nobody of that identity in this room")
)

// targetSeat returns the seats of a host or co-host and of whom they mean.
func (s *Service) targetSeat(ctx context.Context, r *Room, seatKey, identity string) (host, seat Seat, err error) {
	if host, err = s.hostSeat(ctx, r, seatKey); err != nil {
		return host, seat, err
	}
	seat, err = s.store.Seat(ctx, r.ID, identity)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && seat.Hidden:
		err = errSeatNotFound
	case err == nil && seat.Role == Host && host.Role != Host:
		err = errTargetIsHost
	}
	return host, seat, err
}

// otherSeat is subject for what nobody does to themselves.
func (s *Service) otherSeat(ctx context.Context, r *Room, seatKey, identity string) (Seat, error) {
	host, seat, err := s.targetSeat(ctx, r, seatKey, identity)
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
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		seat, err := s.otherSeat(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		if _, err = s.disconnect(ctx, r, &seat, now, LeftRemoved); err != nil {
			return err
		}
		// Also where attendance does not tell of them: the engine may hold a
		// connection that is not recorded yet.
		if from, err = s.liveSessions(ctx, r); err != nil {
			return err
		}
		seat.RemovedAt = now
		return s.store.UpdateSeat(ctx, seat)
	})
	for _, session := range from {
		s.logFailure(ctx, "take out somebody who was removed", s.media.Remove(ctx, session, identity), "room_id", roomID)
	}
	return err
}

// Readmit lets somebody come in again who was removed. Refusals as Remove's.
func (s *Service) Readmit(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.otherSeat(ctx, r, seatKey, identity)
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
	r, host, err := s.roomAsHost(ctx, roomID, seatKey)
	if err != nil {
		return err
	}
	meant := func(seat Seat) bool { return seat.Role == Guest && !seat.Hidden }
	if identity != "" {
		if _, _, err := s.targetSeat(ctx, r, seatKey, identity); err != nil {
			return err
		}
		meant = func(seat Seat) bool { return seat.ID == identity }
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	var identities []string
	for _, seat := range seats {
		if meant(seat) {
			identities = append(identities, seat.ID)
		}
	}
	sessions, err := s.liveSessions(ctx, r)
	if err != nil || len(identities) == 0 {
		return err
	}
	for _, session := range sessions {
		muted, err := s.media.Mute(ctx, session, identities)
		if err != nil {
			return mediaUnavailable(err)
		}
		if len(muted) > 0 {
			s.logFailure(ctx, "say who muted", s.media.SendMessage(ctx, session, muted, Message{Kind: MessageMuted, From: host.Name}), "room_id", roomID)
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
	host, seat, err := s.targetSeat(ctx, r, seatKey, identity)
	if err != nil {
		return err
	}
	if !r.grants(seat.Role).Microphone {
		return fault.New(fault.Conflict, "microphone_locked", "guests may not use their microphones in this room: allow that first")
	}
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return err
	}
	err = errSeatNotFound
	for _, a := range present {
		if a.SeatID != seat.ID {
			continue
		}
		session, message := SessionID(r.ID, a.Session), Message{Kind: MessageUnmute, From: host.Name}
		if err = s.media.SendMessage(ctx, session, []string{seat.ID}, message); err != nil {
			return mediaUnavailable(err)
		}
	}
	return err
}

// LockChange says what guests may not do from now on; what is nil stays as it
// is.
type LockChange struct{ Microphone, Camera, ScreenShare, Chat, WaitingRoom *bool }

// UpdateLocks changes what guests may do. What they send and may not any more is taken
// out, and who waits comes in when nobody has to wait. Refusals as Remove's.
func (s *Service) UpdateLocks(ctx context.Context, roomID, seatKey string, q LockChange) error {
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		if _, err := s.hostSeat(ctx, r, seatKey); err != nil {
			return err
		}
		if q.WaitingRoom != nil && !*q.WaitingRoom {
			if err := s.clearWaitingRoom(ctx, r, now); err != nil {
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
		r.metadataChanged = r.metadataChanged || r.Locks != before
		return nil
	})
	if err == nil {
		s.pushPermissions(ctx, roomID)
	}
	return err
}

// SetRole makes a guest a co-host, or takes that back; then no link makes them
// one again. Who is a host stays one. Refusals as Remove's.
func (s *Service) SetRole(ctx context.Context, roomID, seatKey, identity string, role Role) error {
	if role != Guest && role != CoHost {
		return fault.Invalidf("role must be cohost or guest")
	}
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, _ time.Time) error {
		seat, err := s.otherSeat(ctx, r, seatKey, identity)
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
		s.pushPermissions(ctx, roomID)
	}
	return err
}

// liveSessions returns the names of the live sessions of a room, its own and
// those of its open breakout rooms.
func (s *Service) liveSessions(ctx context.Context, r *Room) ([]string, error) {
	if !r.SessionLive {
		return nil, nil
	}
	sessions := []string{SessionID(r.ID, r.Session)}
	if r.LastSession == r.Session {
		return sessions, nil // there are no breakout rooms
	}
	all, err := s.store.Breakouts(ctx, r.ID)
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			sessions = append(sessions, SessionID(r.ID, b.Session))
		}
	}
	return sessions, err
}

// pushPermissions has the engine hold everybody in a room to their present permissions.
// What fails is tried again by the next look.
func (s *Service) pushPermissions(ctx context.Context, roomID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	all := func(string) bool { return true }
	s.logFailure(ctx, "set permissions of participants", s.updateSessionPermissions(ctx, roomID, all), "room_id", roomID)
}

// updateSessionPermissions is enforce in those sessions of a room that are wanted. The engine
// says who is there, because attendance does not know of participants whose
// media is not connected yet. It reads and sets permissions in one turn for each
// room, so that what was read first does not arrive last.
func (s *Service) updateSessionPermissions(ctx context.Context, roomID string, wanted func(session string) bool) error {
	defer s.permissionLocks.lock(roomID)()
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	sessions, err := s.liveSessions(ctx, r)
	if err != nil {
		return err
	}
	seats, err := s.store.Seats(ctx, roomID)
	if err != nil {
		return err
	}
	taken := make(map[string]Seat, len(seats))
	for _, seat := range seats {
		taken[seat.ID] = seat
	}
	for _, session := range sessions {
		if !wanted(session) {
			continue
		}
		people, failed := s.media.Participants(ctx, session)
		err = errors.Join(err, failed)
		for _, p := range people {
			if seat, ok := taken[p.Identity]; ok {
				err = errors.Join(err, s.media.UpdatePermissions(ctx, session, seat.ID, seat.Role, r.grants(seat.Role)))
			} else {
				err = errors.Join(err, s.updateUnseatedPermissions(ctx, r, session, p.Identity))
			}
		}
	}
	return err
}

// updateUnseatedPermissions sets the permissions of a participant whose seat is not taken:
// its reservation ran out while it connects. Whoever would not be admitted now
// is disconnected.
func (s *Service) updateUnseatedPermissions(ctx context.Context, r *Room, session, identity string) error {
	seat, admitted, err := s.connectingSeat(ctx, r, identity)
	switch {
	case err != nil:
		return err
	case !admitted:
		return s.media.Remove(ctx, session, identity)
	}
	return s.media.UpdatePermissions(ctx, session, seat.ID, seat.Role, r.grants(seat.Role))
}

// updatePermissions sets the present permissions of one participant.
func (s *Service) updatePermissions(ctx context.Context, roomID, session, identity string) error {
	defer s.permissionLocks.lock(roomID)()
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	seat, err := s.store.Seat(ctx, roomID, identity)
	if err != nil {
		return err
	}
	return s.media.UpdatePermissions(ctx, session, identity, seat.Role, r.grants(seat.Role))
}
