package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
)

// What the media engine reports (report.go) meets the rows here. Each report
// may come late, twice or never: the rows recognise a connection by its id, and
// the look in run.go reports what was missed.

func (s *Service) recordJoin(session, identity, connection string, at time.Time) error {
	ctx := context.Background()
	roomID, n, ok := ParseSessionID(session)
	if !ok {
		return fault.Invalidf("%q is no session of ours", session)
	}
	unwelcome := false
	err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		live, err := s.isLive(ctx, r, n)
		if unwelcome = !live; unwelcome || err != nil {
			return err
		}
		seat, admitted, err := s.connectingSeat(ctx, r, identity)
		if unwelcome = !admitted; unwelcome || err != nil {
			return err
		}
		if seat.State == Free {
			r.lowerHand(&seat)
		}
		a := Attendance{ID: s.newID(), RoomID: r.ID, Session: n, SeatID: seat.ID, Connection: connection,
			Hidden: seat.Hidden, Node: s.nodeID, JoinedAt: at}
		fresh, err := s.store.InsertAttendance(ctx, a)
		if err != nil || !fresh {
			return err
		}
		seat.State, seat.Connection, seat.HeldUntil = Joined, connection, time.Time{}
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
		if !seat.Hidden {
			r.markStarted(at)
			r.emit(event.ParticipantJoined, at, participant(seat, a, ""))
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		unwelcome, err = true, nil
	}
	switch {
	case err != nil:
		return err
	case unwelcome:
		return s.media.Remove(ctx, session, identity)
	}
	// Permissions may have changed while the participant connected.
	if err := s.updatePermissions(ctx, roomID, session, identity); err != nil {
		// The next look tries again, and admits them.
		s.log.Warn("set permissions of a participant failed", "session", session, "identity", identity, "error", err)
		return nil
	}
	s.media.Admit(engineConnectionID(connection))
	return nil
}

// Authorize implements MediaAuthorizer: tokens outlive what they were made for.
// Whether the session is live is the engine's to say.
func (s *Service) Authorize(ctx context.Context, session, identity string) (Authorization, error) {
	roomID, _, ok := ParseSessionID(session)
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
	return Authorization{Admitted: true, Name: seat.Name, Role: seat.Role, Type: r.Type, Grants: r.grants(seat.Role),
		Hidden: seat.Hidden}, nil
}

// connectingSeat returns the seat of a participant that connects, and whether it is
// admitted: not without a seat, not after a host removed it, and not into a
// full room once its seat was released. Where the project admits nobody, only
// those come back who were in before and kept their seat.
func (s *Service) connectingSeat(ctx context.Context, r *Room, identity string) (seat Seat, admitted bool, err error) {
	seat, err = s.store.Seat(ctx, r.ID, identity)
	if err == nil && seat.RemovedAt.IsZero() && (seat.State == Free || seat.Connection == "") {
		_, err = s.checkProject(ctx, r)
	}
	if err == nil && seat.RemovedAt.IsZero() && seat.State == Free {
		err = s.checkCapacity(ctx, r, seat)
	}
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Conflict), fault.Is(err, fault.Forbidden):
		return seat, false, nil
	case err != nil:
		return seat, false, err
	}
	return seat, seat.RemovedAt.IsZero(), nil
}

// isLive reports whether session n of a room is, its own or a breakout room's.
func (s *Service) isLive(ctx context.Context, r *Room, n int) (bool, error) {
	if r.Over() || !r.SessionLive || n > r.LastSession {
		return false, nil
	}
	if n == r.Session {
		return true, nil
	}
	all, err := s.store.Breakouts(ctx, r.ID)
	return slices.ContainsFunc(all, func(b Breakout) bool { return b.Session == n && b.ClosedAt.IsZero() }), err
}

func (s *Service) recordLeave(session, identity, connection string, at time.Time, reason LeaveReason) error {
	roomID, _, ok := ParseSessionID(session)
	if !ok {
		return fault.Invalidf("%q is no session of ours", session)
	}
	err := s.updateRoom(context.Background(), roomID, func(ctx context.Context, r *Room, now time.Time) error {
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

// hasMoved reports whether a seat is in another place of its room than the
// one where somebody was.
func (s *Service) hasMoved(ctx context.Context, r *Room, seat Seat, from Attendance) (bool, error) {
	place, err := s.openBreakout(ctx, r, seat.Breakout)
	return seat.State != Free && cmp.Or(place.Session, r.Session) != from.Session, err
}

// endConnection ends an attendance and decides what becomes of its seat: who said
// goodbye gives it up, who was lost may return to it for a while.
func (s *Service) endConnection(ctx context.Context, r *Room, a Attendance, at, now time.Time, reason LeaveReason) error {
	seat, err := s.store.Seat(ctx, r.ID, a.SeatID)
	if err != nil {
		return err
	}
	latest := seat.Connection == a.Connection
	if goodbye := latest && !seat.HeldUntil.After(now); reason == LeftRoomOver || reason == LeftByChoice && !goodbye {
		moved, err := s.hasMoved(ctx, r, seat, a)
		if err != nil {
			return err
		}
		if moved {
			reason = LeftMoved
		}
	}
	at = later(at, a.JoinedAt) // nobody leaves before coming
	if err := s.endAttendance(ctx, r, a, at, reason); err != nil {
		return err
	}
	if latest {
		present, err := s.store.CurrentAttendance(ctx, r.ID)
		if err != nil {
			return err
		}
		// What came and went may be heard of after what is there now: a look was quicker.
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

// attachLatest leaves a seat to the latest of its holder's connections that are there;
// false when there is none.
func (seat *Seat) attachLatest(present []Attendance) bool {
	kept := false
	for _, a := range present {
		if a.SeatID == seat.ID {
			seat.State, seat.Connection, kept = Joined, a.Connection, true
		}
	}
	return kept
}

// vacate decides what becomes of a seat whose holder's connection has ended.
// Who has asked for the seat anew meanwhile is waited for in any case, unless
// they were taken out.
func (seat *Seat) vacate(reason LeaveReason, now time.Time) {
	until := seat.HeldUntil
	switch reason {
	case LeftRemoved:
		until = time.Time{}
	case LeftByChoice:
	case LeftServer:
		until = now.Add(rejoinTimeout)
	default:
		until = later(until, now.Add(reconnectTimeout))
	}
	seat.State, seat.HeldUntil = Reserved, until
	if !until.After(now) {
		seat.State, seat.HeldUntil = Free, time.Time{}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
