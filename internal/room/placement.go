package room

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// This file limits every participant to the session that the seat is assigned to.
// Authorize refuses connections to other sessions. claimSeat ends the attendance of the
// earlier connection of the seat. After a move, enforcePlacement closes connections to the
// old session that the page did not close.

const (
	// moveTimeout is how long a participant may stay in the old session after
	// enforcePlacement first found them there. Finding and closing take up to a second and a
	// half each, so that it takes ten seconds after the move at most.
	moveTimeout = 7 * time.Second
	// departureTimeout replaces moveTimeout when the participant has a newer connection.
	departureTimeout = 3 * time.Second
)

// seatClaim is the result of claimSeat.
type seatClaim int

const (
	seatClaimed     seatClaim = iota // the connection is the one of its seat now
	alreadyRecorded                  // a row for this connection exists already
	newerRecorded                    // the seat has had a newer connection since
)

// claimSeat stores a connection as the only one of its seat: it ends the attendance of the
// others. The rows of a seat do not overlap and are in the order in which they were stored,
// so a join before the end or the beginning of the latest row is moved to it. A connection is
// not stored if a newer one was stored before it.
func (s *Presence) claimSeat(
	ctx context.Context, r *Room, seat Seat, a *Attendance, now time.Time,
) (seatClaim, error) {
	latest, err := s.store.LatestAttendance(ctx, seat)
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
		// Without the suffix: only the latest connection of a seat gets a second row.
		a.Connection = sid
	}
	earliest := later(latest.JoinedAt, latest.LeftAt)
	if overlap := earliest.Sub(a.JoinedAt); overlap > 0 && (overlap <= maxClockDifference || !earliest.After(now)) {
		a.JoinedAt = earliest
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
		switch {
		case other.Session != a.Session:
			reason = LeftMoved
		case other.Node != a.Node: // it gave the session away, or was lost
			reason = LeftServer
		}
		// The node of the old row is probably lost, but not declared lost yet: the visit ended
		// at the last heartbeat of that node.
		if alive, silent := s.silentSince(other.Node, now); silent && alive.Before(left) {
			left, reason = alive, LeftServer
		}
		if err := s.endAttendance(ctx, r, seat, other, left, now, reason); err != nil {
			return 0, err
		}
	}
	return seatClaimed, nil
}

// maxClockDifference is the largest difference between the clocks of two nodes for which
// claimSeat moves a join into the future. A larger one means that a clock was set back. Then the join keeps
// its time.
const maxClockDifference = time.Minute

// isOlder reports whether a connection is older than the latest recorded one of its seat,
// although its join is reported later. The times of the joins are not sufficient, because
// the clocks of nodes differ.
func (s *Presence) isOlder(ctx context.Context, r *Room, seat Seat, a, latest Attendance, now time.Time) (bool, error) {
	if latest.LeftAt.IsZero() {
		if a.Session == latest.Session {
			if _, gave := s.gaveAway(SessionID(r.ID, a.Session), a.JoinedAt); gave && latest.Node != s.nodeID {
				return true, nil
			}
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
	// This node reports the join late, because its process was suspended or could not reach
	// the database, and another node has recorded a later join.
	return latest.Node != s.nodeID && latest.JoinedAt.After(a.JoinedAt) && now.Sub(a.JoinedAt) >= nodeTimeout/2, nil
}

// assignedSession returns the session of the breakout room that a seat is assigned to, or of
// the room itself.
func (s *Presence) assignedSession(ctx context.Context, r *Room, seat Seat) (int, error) {
	breakout, err := s.openBreakout(ctx, r, seat.Breakout)
	return cmp.Or(breakout.Session, r.Session), err
}

// hasMoved reports whether a taken seat is assigned to another session than the one
// that the participant was connected to.
func (s *Presence) hasMoved(ctx context.Context, r *Room, seat Seat, from Attendance) (bool, error) {
	assigned, err := s.assignedSession(ctx, r, seat)
	return seat.State != Free && assigned != from.Session, err
}

// placement says where the participants of a room are, and where they belong.
type placement struct {
	present  []Attendance   // where they are
	assigned map[string]int // session by seat, for the taken seats
}

func (s *core) loadPlacement(ctx context.Context, roomID string) (p placement, err error) {
	r, err := s.store.Room(ctx, roomID)
	if err != nil {
		return p, err
	}
	all, err := s.store.Breakouts(ctx, roomID)
	if err != nil {
		return p, err
	}
	if p.present, err = s.store.CurrentAttendance(ctx, roomID); err != nil {
		return p, err
	}
	seats, err := s.store.Seats(ctx, roomID)
	p.assigned = map[string]int{}
	for _, seat := range seats {
		p.assigned[seat.ID] = r.Session
		i := slices.IndexFunc(all, func(b Breakout) bool { return b.N == seat.Breakout && b.ClosedAt.IsZero() })
		if i >= 0 {
			p.assigned[seat.ID] = all[i].Session
		}
	}
	return p, err
}

// isSuperseded reports whether the seat has a recorded connection other than this one. That
// does not depend on the session that the seat is assigned to now, so that moving to and fro
// does not keep two connections.
func (p placement) isSuperseded(identity, connection string) bool {
	return slices.ContainsFunc(p.present, func(a Attendance) bool {
		return a.SeatID == identity && engineConnectionID(a.Connection) != connection
	})
}

// enforcePlacement closes the connections of this process that are in another session than
// the assigned one or have been superseded, after the pages had time to follow a move. Only
// rooms with breakout rooms have several sessions. It also closes sessions that are over.
func (s *Presence) enforcePlacement(ctx context.Context) {
	hosted := s.media.LocalSessions() // first, because a session is stored before it is opened
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if s.logFailure(ctx, "list live sessions", err) {
		return
	}
	s.closeForgotten(ctx, hosted, sessions)
	local, hasBreakouts := map[string][]int{}, map[string]bool{} // by room
	for _, session := range sessions {
		if s.media.IsLocal(SessionID(session.RoomID, session.N)) {
			local[session.RoomID] = append(local[session.RoomID], session.N)
		}
		hasBreakouts[session.RoomID] = hasBreakouts[session.RoomID] || session.Breakout > 0
	}
	misplaced := map[string]time.Time{}
	for id, numbers := range local {
		if hasBreakouts[id] {
			err := s.enforcePlacementIn(ctx, id, numbers, misplaced)
			s.logFailure(ctx, "close connections to other breakout rooms", err, "room_id", id)
		}
	}
	s.misplaced = misplaced
}

// closeForgotten closes the sessions of this process that are not live. While this process stood
// still, another node may have opened them again, and have closed them when the room ended.
func (s *Presence) closeForgotten(ctx context.Context, hosted []string, live []Session) {
	isLive := map[string]bool{}
	for _, session := range live {
		isLive[SessionID(session.RoomID, session.N)] = true
	}
	for _, name := range hosted {
		// The session of connection checks is in no room.
		if id, _, ok := ParseSessionID(name); ok && !isLive[name] {
			s.logFailure(ctx, "close a session that is over", s.media.Close(ctx, name), "room_id", id)
		}
	}
}

// enforcePlacementIn does the same for the sessions of one room, and adds the connections
// that have to end with the time when they were first found.
func (s *Presence) enforcePlacementIn(
	ctx context.Context, roomID string, sessions []int, misplaced map[string]time.Time,
) error {
	placed, err := s.loadPlacement(ctx, roomID)
	if err != nil {
		return err
	}
	now := s.now()
	for _, n := range sessions {
		session := SessionID(roomID, n)
		participants, err := s.media.Participants(ctx, session)
		if err != nil {
			return err
		}
		for _, p := range participants {
			assigned, taken := placed.assigned[p.Identity]
			// The attendance of a connection begins with its media. Before that, it is the new one.
			superseded := p.Active && placed.isSuperseded(p.Identity, p.SID)
			if !taken || assigned == n && !superseded {
				continue
			}
			since, found := s.misplaced[p.SID]
			if !found {
				since = now
			}
			misplaced[p.SID] = since
			limit := moveTimeout
			if superseded {
				limit = departureTimeout
			}
			if now.Sub(since) >= limit {
				s.log.Info("closing a connection that is not the one of its seat",
					"session", session, "identity", p.Identity)
				s.media.CloseConnection(session, p.Identity, p.SID)
			}
		}
	}
	return nil
}
