package room

import (
	"context"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
)

// What the media engine reports meets the rows here. Each report may come
// late, twice or never: the rows recognise a connection by its id, and the
// sweep in run.go reports what was missed.

// ParticipantJoined implements MediaObserver. Somebody whose seat is gone, in
// a room that is full by now or over, is taken out again.
func (s *Service) ParticipantJoined(session, identity, connection string, at time.Time) {
	if err := s.joined(session, identity, connection, at); err != nil {
		s.log.Error("a join could not be written down; the sweep will try again", "session", session, "identity", identity, "error", err)
	}
}

func (s *Service) joined(session, identity, connection string, at time.Time) error {
	ctx := context.Background()
	roomID, n, ok := ParseSessionID(session)
	if !ok {
		return fault.Invalidf("%q is no session of ours", session)
	}
	unwelcome := false
	err := s.change(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
		unwelcome = r.Over() || !r.SessionLive || r.Session != n
		if unwelcome {
			return nil
		}
		seat, err := s.store.Seat(ctx, r.ID, identity)
		if fault.Is(err, fault.NotFound) {
			unwelcome = true
			return nil
		}
		if err != nil {
			return err
		}
		if seat.State == Free {
			o, err := s.store.Occupancy(ctx, r.ID)
			if err != nil {
				return err
			}
			if unwelcome = o.Taken >= r.MaxParticipants; unwelcome {
				return nil
			}
		}
		a := Attendance{ID: s.newID(), RoomID: r.ID, Session: n, SeatID: seat.ID, Connection: connection, JoinedAt: at}
		fresh, err := s.store.InsertAttendance(ctx, a)
		if err != nil || !fresh {
			return err
		}
		seat.State, seat.Connection, seat.HeldUntil = Joined, connection, time.Time{}
		if err := s.store.UpdateSeat(ctx, seat); err != nil {
			return err
		}
		r.started(at)
		r.emit(event.ParticipantJoined, at, participant(seat, a, ""))
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		unwelcome, err = true, nil
	}
	if err != nil || !unwelcome {
		return err
	}
	return s.media.Remove(ctx, session, identity)
}

// ParticipantLeft implements MediaObserver.
func (s *Service) ParticipantLeft(session, identity, connection string, at time.Time, reason LeaveReason) {
	if err := s.left(session, identity, connection, at, reason); err != nil {
		s.log.Error("a leave could not be written down; the sweep will try again", "session", session, "identity", identity, "error", err)
	}
}

func (s *Service) left(session, identity, connection string, at time.Time, reason LeaveReason) error {
	roomID, _, ok := ParseSessionID(session)
	if !ok {
		return fault.Invalidf("%q is no session of ours", session)
	}
	err := s.change(context.Background(), roomID, func(ctx context.Context, r *Room, now time.Time) error {
		present, err := s.store.Present(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, a := range present {
			if a.SeatID == identity && a.Connection == connection {
				return s.depart(ctx, r, a, at, now, reason)
			}
		}
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// depart ends an attendance and decides what becomes of its seat: who said
// goodbye gives it up, who was lost may return to it for a while.
func (s *Service) depart(ctx context.Context, r *Room, a Attendance, at, now time.Time, reason LeaveReason) error {
	at, err := s.leave(ctx, r, a, at, reason)
	if err != nil {
		return err
	}
	seat, err := s.store.Seat(ctx, r.ID, a.SeatID)
	if err != nil {
		return err
	}
	if seat.Connection == a.Connection {
		switch reason {
		case LeftByChoice, LeftRemoved, LeftRoomOver:
			seat.State, seat.HeldUntil = Free, time.Time{}
		case LeftServer:
			seat.State, seat.HeldUntil = Reserved, now.Add(reserveFor)
		default:
			seat.State, seat.HeldUntil = Reserved, now.Add(returnWithin)
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
		r.emptied(at)
	}
	return nil
}
