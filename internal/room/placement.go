package room

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"parley/internal/fault"
)

// This file keeps every participant in one session: a seat has one connection in the
// attendance, in the session that it is assigned to. The engine refuses connections to
// another session (see Authorize), claimSeat ends the attendance of the connection before,
// and enforcePlacement closes what a page has not closed by itself.

const (
	// placementEvery is the interval of enforcePlacement.
	placementEvery = 2 * time.Second
	// moveTimeout is how long a participant may stay in the old session after a move, and
	// placementEvery more.
	moveTimeout = 8 * time.Second
	// departureTimeout is how long a page may keep the connection to the old session after it
	// has connected to the new one.
	departureTimeout = 3 * time.Second
)

// seatClaim is the result of claimSeat.
type seatClaim int

const (
	seatClaimed     seatClaim = iota // the connection is the one of its seat now
	alreadyRecorded                  // it was before
	newerRecorded                    // the seat has had a newer connection since
)

// claimSeat stores a connection as the only one of its seat: it ends the attendance of
// the others. Attendance of a seat never overlaps, so a join that comes before the end of
// the latest attendance is moved to that end. A connection is not stored if a newer one was
// stored before it.
func (s *Service) claimSeat(
	ctx context.Context, r *Room, seat Seat, a *Attendance, now time.Time,
) (seatClaim, error) {
	latest, err := s.store.LatestAttendance(ctx, seat.ID)
	if err != nil {
		return 0, err
	}
	sid := engineConnectionID(a.Connection)
	isLatest := latest.ID == "" || engineConnectionID(latest.Connection) == sid
	if isLatest && latest.ID != "" && latest.LeftAt.IsZero() {
		return alreadyRecorded, nil
	}
	if !isLatest {
		older, err := s.isOlder(ctx, r, seat, *a, latest, now)
		if err != nil || older {
			return newerRecorded, err
		}
		a.Connection = sid // a connection returns only if there was none since
	}
	if early := latest.LeftAt.Sub(a.JoinedAt); early > 0 && early <= maxClockDifference {
		a.JoinedAt = latest.LeftAt
	}
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return 0, err
	}
	inserted, err := s.store.InsertAttendance(ctx, *a, now)
	switch {
	case err != nil:
		return 0, err
	case !inserted && isLatest:
		return alreadyRecorded, nil
	case !inserted:
		return newerRecorded, nil
	}
	for _, other := range present {
		if other.SeatID != seat.ID {
			continue
		}
		left, reason := a.JoinedAt, LeftReplaced
		if other.Session != a.Session {
			reason = LeftMoved
		}
		// The participant comes back from a lost node before it counts as lost.
		if alive, silent := s.silentSince(other.Node, now); silent && alive.Before(left) {
			left, reason = alive, LeftServer
		}
		if err := s.endAttendance(ctx, r, other, later(left, other.JoinedAt), now, reason); err != nil {
			return 0, err
		}
	}
	return seatClaimed, nil
}

// maxClockDifference is the largest difference between the clocks of two nodes that the
// attendance of a seat makes up for. A larger one comes from a clock that was set back, and
// then a visit must not wait until the clock has caught up.
const maxClockDifference = time.Minute

// isOlder reports whether a connection is older than the latest recorded one of its seat,
// although its join is reported later. Times do not say this, because clocks differ.
func (s *Service) isOlder(ctx context.Context, r *Room, seat Seat, a, latest Attendance, now time.Time) (bool, error) {
	if latest.LeftAt.IsZero() {
		if a.Session == latest.Session {
			// The engine has one connection of a participant in a session, the newest.
			if s.media.Connection(SessionID(r.ID, a.Session), seat.ID) == engineConnectionID(latest.Connection) {
				return true, nil
			}
		} else {
			assigned, err := s.assignedSession(ctx, r, seat)
			if err != nil || latest.Session == assigned {
				return err == nil, err
			}
		}
	}
	// The node of the connection stood still, or could not reach the database.
	return latest.Node != s.nodeID && latest.JoinedAt.After(a.JoinedAt) && now.Sub(a.JoinedAt) >= nodeTimeout/2, nil
}

// assignedSession returns the session of the breakout room that a seat is assigned to, or of
// the room itself.
func (s *Service) assignedSession(ctx context.Context, r *Room, seat Seat) (int, error) {
	breakout, err := s.openBreakout(ctx, r, seat.Breakout)
	return cmp.Or(breakout.Session, r.Session), err
}

// hasMoved reports whether a taken seat is assigned to another session than the one
// that the participant was connected to.
func (s *Service) hasMoved(ctx context.Context, r *Room, seat Seat, from Attendance) (bool, error) {
	assigned, err := s.assignedSession(ctx, r, seat)
	return seat.State != Free && assigned != from.Session, err
}

// enforcePlacement closes the connections of this process in other sessions than the
// assigned ones, after the pages had time to follow a move. Only rooms with breakout rooms
// have several sessions.
func (s *Service) enforcePlacement(ctx context.Context) {
	misplaced := map[string]time.Time{}
	s.breakoutRooms.Range(func(id, _ any) bool {
		err := s.enforcePlacementIn(ctx, id.(string), misplaced)
		s.logFailure(ctx, "enforce the assignment to breakout rooms", err, "room_id", id)
		return ctx.Err() == nil
	})
	s.misplaced = misplaced
}

// enforcePlacementIn does the same for one room, and adds the misplaced connections with the
// time when they were first found.
func (s *Service) enforcePlacementIn(ctx context.Context, roomID string, misplaced map[string]time.Time) error {
	r, err := s.store.Room(ctx, roomID)
	if fault.Is(err, fault.NotFound) {
		s.breakoutRooms.Delete(roomID)
		return nil
	}
	if err != nil {
		return err
	}
	all, err := s.store.Breakouts(ctx, roomID)
	if err != nil {
		return err
	}
	assigned := map[int]int{0: r.Session} // session by breakout room
	for _, b := range all {
		if assigned[b.N] = r.Session; b.ClosedAt.IsZero() {
			assigned[b.N] = b.Session
		}
	}
	if !r.SessionLive || len(listOpenBreakouts(all)) == 0 {
		s.breakoutRooms.Delete(roomID)
		return nil
	}
	seats, err := s.store.Seats(ctx, roomID)
	if err != nil {
		return err
	}
	present, err := s.store.CurrentAttendance(ctx, roomID)
	if err != nil {
		return err
	}
	now := s.now()
	for _, n := range slices.Compact(slices.Sorted(maps.Values(assigned))) {
		session := SessionID(roomID, n)
		if !s.media.IsLocal(session) {
			continue
		}
		participants, err := s.media.Participants(ctx, session)
		if err != nil {
			return err
		}
		for _, p := range participants {
			i := slices.IndexFunc(seats, func(seat Seat) bool { return seat.ID == p.Identity })
			if i < 0 || assigned[seats[i].Breakout] == n {
				continue
			}
			since, found := s.misplaced[p.SID]
			if !found {
				since = now
			}
			misplaced[p.SID] = since
			limit := moveTimeout
			if slices.ContainsFunc(present, func(a Attendance) bool {
				return a.SeatID == p.Identity && a.Session == assigned[seats[i].Breakout]
			}) {
				limit = departureTimeout
			}
			if now.Sub(since) >= limit {
				s.log.Info("participant did not follow a move, closing the connection", "session", session,
					"identity", p.Identity)
				s.media.CloseConnection(session, p.Identity, p.SID)
			}
		}
	}
	return nil
}
