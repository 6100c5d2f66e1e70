package room

import (
	"context"
	"errors"
	"time"

	"parley/internal/fault"
)

// This file contains the actions of hosts and co-hosts on participants. A co-host
// cannot act on a host. Changes are stored first and then sent to the engine; the
// next reconciliation repeats what fails there. Muting and asking to unmute are not
// stored.

var (
	errRemoved      = fault.New(fault.Forbidden, "removed", "a host removed you from this room")
	errTargetIsHost = fault.New(fault.Forbidden, "not_host", "a co-host may not do this to a host")
	errSeatNotFound = fault.New(fault.NotFound, "seat_not_found", "no participant in this room has this identity")
)

// targetSeat returns the seat of the calling host or co-host and the seat with that
// identity. Errors: NotFound for an unknown or hidden seat, Forbidden if the caller
// is not a host or co-host, or is a co-host and the target is a host.
func (s *Moderation) targetSeat(ctx context.Context, r *Room, seatKey, identity string) (host, seat Seat, err error) {
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

// otherSeat returns the same seats as targetSeat, and Invalid if it is the caller's
// own.
func (s *Moderation) otherSeat(ctx context.Context, r *Room, seatKey, identity string) (host, seat Seat, err error) {
	host, seat, err = s.targetSeat(ctx, r, seatKey, identity)
	if err == nil && host.ID == seat.ID {
		err = fault.Invalidf("identity must be that of another participant, not your own")
	}
	return host, seat, err
}

// Remove removes a participant from the room. Neither the browser nor the person, if
// the seat has a user id, can join again before Readmit. Errors: NotFound, Gone
// (over), Forbidden (not a host), Conflict (not open yet), Invalid.
func (s *Moderation) Remove(ctx context.Context, roomID, seatKey, identity string) error {
	_, err := s.remove(ctx, roomID, identity, func(ctx context.Context, r *Room) (HostActor, Seat, error) {
		host, seat, err := s.otherSeat(ctx, r, seatKey, identity)
		return actorOf(host), seat, err
	})
	return err
}

// remove removes the participant with a seat, makes guests of those who got the co-host role
// through that participant, and reports whether a connection of the
// participant has ended. find returns who removes the participant, and the seat.
func (s *core) remove(
	ctx context.Context, roomID, seatID string, find func(ctx context.Context, r *Room) (HostActor, Seat, error),
) (connected bool, err error) {
	var sessions []string
	var removed Seat
	err = s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		by, seat, err := find(ctx, r)
		if err != nil {
			return err
		}
		removed = seat
		if seat.Role == CoHost {
			if err := s.demoteGained(ctx, r, seat, by.SeatID); err != nil {
				return err
			}
		}
		action := HostAction{Kind: HostRemoved, By: by, Target: actorOf(seat)}
		if err := s.recordHostAction(ctx, r, action, now); err != nil {
			return err
		}
		ended, err := s.disconnect(ctx, r, &seat, now, LeftRemoved)
		if err != nil {
			return err
		}
		// All live sessions, because the engine may hold a connection that is not
		// recorded as attendance yet.
		if sessions, err = s.liveSessions(ctx, r); err != nil {
			return err
		}
		connected = len(ended) > 0
		if err := s.recordRemoval(ctx, r, seat, connected, now); err != nil {
			return err
		}
		seat.RemovedAt = now
		return s.store.UpdateSeat(ctx, seat)
	})
	if err != nil {
		return false, err
	}
	for _, session := range sessions {
		s.logFailure(ctx, "remove participant", s.media.Remove(ctx, session, seatID), "room_id", roomID)
	}
	if removed.Role == CoHost {
		s.pushPermissions(ctx, roomID)
	}
	return connected, nil
}

// Readmit allows a removed participant to join again. It returns the same errors as
// Remove.
func (s *Moderation) Readmit(ctx context.Context, roomID, seatKey, identity string) error {
	return s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, seat, err := s.otherSeat(ctx, r, seatKey, identity)
		if err != nil || seat.RemovedAt.IsZero() {
			return err
		}
		seat.RemovedAt, seat.Invited = time.Time{}, true
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
		return s.recordHostAction(ctx, r, HostAction{Kind: HostReadmitted, By: actorOf(host), Target: actorOf(seat)}, now)
	})
}

// Mute mutes a participant or, if identity is empty, all guests. Their pages show
// who muted them, and they can unmute themselves. It returns the same errors as
// Remove, and Unavailable if the engine does not respond.
func (s *Moderation) Mute(ctx context.Context, roomID, seatKey, identity string) error {
	r, host, err := s.roomAsHost(ctx, roomID, seatKey)
	if err != nil {
		return err
	}
	action := HostAction{Kind: HostMutedGuests, By: actorOf(host)}
	match := func(seat Seat) bool { return seat.Role == Guest && !seat.Hidden }
	if identity != "" {
		_, target, err := s.targetSeat(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		action.Kind, action.Target = HostMuted, actorOf(target)
		match = func(seat Seat) bool { return seat.ID == identity }
	}
	seats, err := s.store.Seats(ctx, r.ID)
	if err != nil {
		return err
	}
	var identities []string
	for _, seat := range seats {
		if match(seat) {
			identities = append(identities, seat.ID)
		}
	}
	sessions, err := s.liveSessions(ctx, r)
	if err != nil || len(identities) == 0 {
		return err
	}
	defer func() {
		if action.Details.Count > 0 {
			s.recordDoneAction(ctx, roomID, action)
		}
	}()
	for _, session := range sessions {
		muted, err := s.media.Mute(ctx, session, identities)
		action.Details.Count += len(muted)
		if err != nil {
			return mediaUnavailable(err)
		}
		if len(muted) > 0 {
			err := s.media.SendMessage(ctx, session, muted, Message{Kind: MessageMuted, From: host.Name})
			s.logFailure(ctx, "notify muted participants", err, "room_id", roomID)
		}
	}
	return nil
}

// AskToUnmute asks a participant to unmute. It returns the same errors as Mute, and
// Conflict if the participant is a guest and the microphones of guests are locked.
func (s *Moderation) AskToUnmute(ctx context.Context, roomID, seatKey, identity string) error {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return err
	}
	host, seat, err := s.targetSeat(ctx, r, seatKey, identity)
	if err != nil {
		return err
	}
	if !r.grants(seat.Role).Microphone {
		return fault.New(fault.Conflict, "microphone_locked",
			"the microphones of guests are locked in this room: unlock them first")
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

// LockChange contains new values of locks. Nil fields are left unchanged.
type LockChange struct{ Microphone, Camera, ScreenShare, Chat, WaitingRoom *bool }

// UpdateLocks changes the locks of the room. Tracks that guests may no longer publish
// are removed, and waiting visitors are admitted if the waiting room is turned off.
// It returns the same errors as Remove.
func (s *Moderation) UpdateLocks(ctx context.Context, roomID, seatKey string, q LockChange) error {
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, err := s.hostSeat(ctx, r, seatKey)
		if err != nil {
			return err
		}
		if q.WaitingRoom != nil && !*q.WaitingRoom {
			if err := s.clearWaitingRoom(ctx, r, now); err != nil {
				return err
			}
		}
		before := r.Locks
		setIfGiven(&r.Locks.Microphone, q.Microphone)
		setIfGiven(&r.Locks.Camera, q.Camera)
		setIfGiven(&r.Locks.ScreenShare, q.ScreenShare)
		setIfGiven(&r.Locks.Chat, q.Chat)
		setIfGiven(&r.Locks.WaitingRoom, q.WaitingRoom)
		if r.Locks == before {
			return nil
		}
		r.metadataChanged = true
		action := HostAction{Kind: HostChangedLocks, By: actorOf(host)}
		action.Details.Locks = changedLocks(before, r.Locks)
		return s.recordHostAction(ctx, r, action, now)
	})
	if err == nil {
		s.pushPermissions(ctx, roomID)
	}
	return err
}

// SetRole makes a guest a co-host or a co-host a guest. A co-host who becomes a guest
// is demoted: no link makes them a co-host again. The role of a host cannot be
// changed. It returns the same errors as Remove.
func (s *Moderation) SetRole(ctx context.Context, roomID, seatKey, identity string, role Role) error {
	if role != Guest && role != CoHost {
		return fault.Invalidf("role must be cohost or guest")
	}
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		host, seat, err := s.otherSeat(ctx, r, seatKey, identity)
		if err != nil {
			return err
		}
		if seat.Role == Host {
			return fault.New(fault.Forbidden, "not_host", "the role of a host cannot be changed")
		}
		if role == CoHost && seat.Demoted && host.Role != Host {
			return fault.New(fault.Forbidden, "not_host", "only a host may make this participant a co-host again")
		}
		if role == Guest && seat.Role == CoHost {
			if err := s.demoteGained(ctx, r, seat, host.ID); err != nil {
				return err
			}
		}
		if seat.Role != role {
			seat.PromotedBy = ""
			if role == CoHost && host.Role == CoHost {
				seat.PromotedBy = host.ID
			}
		}
		seat.Demoted = role == Guest && (seat.Demoted || seat.Role == CoHost)
		action := HostAction{Kind: HostChangedRole, By: actorOf(host), Target: actorOf(seat)}
		action.Details.Role = role
		changed := seat.Role != role
		seat.Role = role
		if err := s.store.UpdateSeat(ctx, seat); err != nil || !changed {
			return err
		}
		return s.recordHostAction(ctx, r, action, now)
	})
	if err == nil {
		s.pushPermissions(ctx, roomID)
	}
	return err
}

// demoteGained makes guests of the co-hosts who got the role from a co-host, directly or
// through a link, and of those who got it from them in turn. Otherwise a co-host could keep
// the role in a second browser. The one who does that, the participant with the seat by, keeps
// the role, so that a room does not lose its only moderator.
func (s *core) demoteGained(ctx context.Context, r *Room, giver Seat, by string) error {
	gained, err := s.store.PromotedSeats(ctx, r.ID, giver.ID)
	if err != nil {
		return err
	}
	hashes, err := s.store.RedeemedLinks(ctx, r.ID, giver.ID)
	if err != nil {
		return err
	}
	for _, keyHash := range hashes {
		seat, err := orNone(s.store.SeatByKey(ctx, r.ID, keyHash))
		if err != nil {
			return err
		}
		gained = append(gained, seat)
	}
	for _, seat := range gained {
		if seat.Role != CoHost || seat.ID == by {
			continue
		}
		seat.Role, seat.Demoted, seat.PromotedBy = Guest, true, ""
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
		if err := s.demoteGained(ctx, r, seat, by); err != nil {
			return err
		}
	}
	return nil
}

// liveSessions returns the names of the live sessions of a room and of its open
// breakout rooms.
func (s *core) liveSessions(ctx context.Context, r *Room) ([]string, error) {
	if !r.SessionLive {
		return nil, nil
	}
	sessions := []string{SessionID(r.ID, r.Session)}
	if r.LastSession == r.Session {
		return sessions, nil // the room has no breakout rooms
	}
	all, err := s.store.Breakouts(ctx, r.ID)
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			sessions = append(sessions, SessionID(r.ID, b.Session))
		}
	}
	return sessions, err
}

// pushPermissions sends the current permissions of all participants of a room to the
// engine. A failure is only logged, because the next reconciliation repeats it.
func (s *core) pushPermissions(ctx context.Context, roomID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	all := func(string) bool { return true }
	err := s.updateSessionPermissions(ctx, roomID, all)
	s.logFailure(ctx, "update permissions of participants", err, "room_id", roomID)
}

// updateSessionPermissions updates the permissions of the participants in those live
// sessions of a room for which match returns true. It lists the participants of the
// engine, because attendance lacks those whose media is not connected yet. It reads
// and sets permissions under a lock for each room, so that an older state cannot
// arrive after a newer one.
func (s *core) updateSessionPermissions(ctx context.Context, roomID string, match func(session string) bool) error {
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
		if !match(session) {
			continue
		}
		participants, listErr := s.media.Participants(ctx, session)
		err = errors.Join(err, listErr)
		for _, p := range participants {
			if seat, ok := taken[p.Identity]; ok {
				err = errors.Join(err, s.media.UpdatePermissions(ctx, session, seat.ID, seat.Role, r.grants(seat.Role)))
			} else {
				err = errors.Join(err, s.updateUnseatedPermissions(ctx, r, session, p.Identity))
			}
		}
	}
	return err
}

// updateUnseatedPermissions updates the permissions of a participant whose seat is
// not taken, because its reservation expired while the participant was connecting.
// It disconnects a participant who would not be admitted now.
func (s *core) updateUnseatedPermissions(ctx context.Context, r *Room, session, identity string) error {
	seat, admitted, err := s.connectingSeat(ctx, r, identity)
	switch {
	case err != nil:
		return err
	case !admitted:
		return s.media.Remove(ctx, session, identity)
	}
	return s.media.UpdatePermissions(ctx, session, seat.ID, seat.Role, r.grants(seat.Role))
}

// updatePermissions sends the current permissions of one participant to the engine.
func (s *Presence) updatePermissions(ctx context.Context, roomID, session, identity string) error {
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
