package room

import (
	"context"
	"slices"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
)

// This file stores the media engine's reports (see report_queue.go). A report may
// come late, twice or never. Duplicates are detected by the connection's id, and
// the reconciliation in run.go makes up for missing reports.

// recordJoin stores that a participant connected, and admits the connection. It
// removes a participant who may not be in the session.
func (s *Presence) recordJoin(ctx context.Context, session, identity, connection string, at time.Time) error {
	roomID, n, ok := ParseSessionID(session)
	if !ok {
		return fault.Invalidf("%q is not a session of this server", session)
	}
	rejected, superseded := false, false
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		live, err := s.isLive(ctx, r, n)
		if rejected = !live; rejected || err != nil {
			return err
		}
		seat, admitted, err := s.connectingSeat(ctx, r, identity)
		if rejected = !admitted; rejected || err != nil {
			return err
		}
		if seat.State == Free {
			r.lowerHand(&seat)
		}
		a := Attendance{
			ID:             CompactID(s.newID()),
			RoomID:         r.ID,
			Session:        n,
			SeatID:         seat.ID,
			Connection:     connection,
			Hidden:         seat.Hidden,
			Node:           s.nodeID,
			JoinedAt:       at,
			ConnectionType: s.media.ConnectionType(session, identity),
		}
		result, err := s.claimSeat(ctx, r, seat, &a, now)
		if superseded = result == newerRecorded; err != nil || result != seatClaimed {
			return err
		}
		seat.State, seat.Connection, seat.HeldUntil, seat.Network = Joined, a.Connection, time.Time{}, ""
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
		if !seat.Hidden {
			r.markStarted(a.JoinedAt)
			r.emit(event.ParticipantJoined, a.JoinedAt, participant(seat, a, ""))
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		rejected, err = true, nil
	}
	switch {
	case err != nil:
		return err
	case rejected:
		return s.media.Remove(ctx, session, identity)
	case superseded:
		s.media.CloseConnection(session, identity, engineConnectionID(connection))
		return nil
	}
	// Permissions may have changed while the participant connected.
	if err := s.updatePermissions(ctx, roomID, session, identity); err != nil {
		s.log.Warn("update permissions of participant failed, will retry",
			"session", session, "identity", identity, "error", err)
		return nil
	}
	s.media.Admit(engineConnectionID(connection))
	return nil
}

// Authorize decides whether the holder of an access token may connect now, because
// a token can outlive the seat for which it was issued, and a host may have moved the
// participant to another session. It does not check whether the session is live; the
// engine does.
func (s *Presence) Authorize(ctx context.Context, session, identity string) (Authorization, error) {
	roomID, n, ok := ParseSessionID(session)
	if !ok {
		return Authorization{}, nil
	}
	r, err := s.store.Room(ctx, roomID)
	if fault.Is(err, fault.NotFound) {
		return Authorization{}, nil
	}
	if err != nil {
		return Authorization{}, err
	}
	seat, admitted, err := s.connectingSeat(ctx, r, identity)
	if err != nil || !admitted {
		return Authorization{}, err
	}
	if assigned, err := s.assignedSession(ctx, r, seat); err != nil || assigned != n {
		return Authorization{}, err
	}
	return Authorization{
		Admitted: true,
		Name:     seat.Name,
		Role:     seat.Role,
		Type:     r.Type,
		Grants:   r.grants(seat.Role),
		Hidden:   seat.Hidden,
	}, nil
}

// connectingSeat returns the seat of a connecting participant, and whether the
// participant is admitted. A participant is rejected without a seat, after removal
// by a host, and if the seat was released and the room is full. If the project
// does not allow joins, only participants who were connected before and still have
// their seat are admitted.
func (s *core) connectingSeat(ctx context.Context, r *Room, identity string) (seat Seat, admitted bool, err error) {
	seat, err = s.store.Seat(ctx, r.ID, identity)
	if err == nil && seat.RemovedAt.IsZero() && (seat.State == Free || seat.Connection == "") {
		_, err = s.checkProject(ctx, r)
	}
	if err == nil && seat.RemovedAt.IsZero() && seat.State == Free {
		var o Occupancy
		if o, err = s.store.Occupancy(ctx, r.ID); err == nil {
			err = r.checkCapacity(seat, o)
		}
	}
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Conflict), fault.Is(err, fault.Forbidden):
		return seat, false, nil
	case err != nil:
		return seat, false, err
	}
	return seat, seat.RemovedAt.IsZero(), nil
}

// isLive reports whether session n of a room or of one of its breakout rooms is
// live.
func (s *Presence) isLive(ctx context.Context, r *Room, n int) (bool, error) {
	if r.Over() || !r.SessionLive || n > r.LastSession {
		return false, nil
	}
	if n == r.Session {
		return true, nil
	}
	all, err := s.store.Breakouts(ctx, r.ID)
	return slices.ContainsFunc(all, func(b Breakout) bool { return b.Session == n && b.ClosedAt.IsZero() }), err
}

// recordLeave stores that a connection ended. It does nothing if the connection is
// not recorded.
func (s *Presence) recordLeave(
	ctx context.Context, session, identity, connection string, at time.Time, reason LeaveReason,
) error {
	roomID, _, ok := ParseSessionID(session)
	if !ok {
		return fault.Invalidf("%q is not a session of this server", session)
	}
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		present, err := s.store.CurrentAttendance(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, a := range present {
			if a.SeatID == identity && (a.Connection == connection || engineConnectionID(a.Connection) == connection) {
				return s.endConnection(ctx, r, a, at, now, reason)
			}
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// endConnection ends an attendance and updates its seat: the seat is freed if the
// participant left, and held for a while if the connection was lost.
func (s *Presence) endConnection(
	ctx context.Context, r *Room, a Attendance, at, now time.Time, reason LeaveReason,
) error {
	seat, err := s.store.Seat(ctx, r.ID, a.SeatID)
	if err != nil {
		return err
	}
	latest := seat.Connection == a.Connection
	if final := latest && !seat.HeldUntil.After(now); reason == LeftRoomOver || reason == LeftByChoice && !final {
		moved, err := s.hasMoved(ctx, r, seat, a)
		if err != nil {
			return err
		}
		if moved {
			reason = LeftMoved
		}
	}
	at = r.leaveTime(a, at)
	if err := s.endAttendance(ctx, r, seat, a, at, now, reason); err != nil {
		return err
	}
	if latest {
		present, err := s.store.CurrentAttendance(ctx, r.ID)
		if err != nil {
			return err
		}
		// Reports may arrive after reconciliation recorded a newer connection, so the
		// seat may still have one.
		if !seat.attachLatest(present) {
			seat.vacate(reason, now)
		}
		if seat.State == Free {
			r.lowerHand(&seat)
		}
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
	}
	o, err := s.store.Occupancy(ctx, r.ID)
	if err != nil {
		return err
	}
	if o.Joined == 0 {
		r.markEmpty(at)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
