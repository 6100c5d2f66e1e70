package room

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/fault"
)

const (
	sweepEvery     = time.Second
	reconcileEvery = 10 * time.Second
	sweepBatch     = 100
)

// Run makes happen what is due, until ctx ends: expiries, ends, seats given
// up, sessions closed. Due moments are rows, so what a stopped process missed
// happens when the next one runs.
func (s *Service) Run(ctx context.Context) {
	var others sync.WaitGroup
	defer others.Wait()
	// Whatever else takes its time, the other nodes hear of this one.
	others.Go(func() { s.runEvery(ctx, s.heartbeatInterval(), s.heartbeat) })
	if s.clustered {
		others.Go(func() { s.runEvery(ctx, clusterHeartbeat, s.watchNodes) })
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var reconciled, purged time.Time
	for {
		s.flushReports()
		s.sweep(ctx)
		s.deleteStaleKnocks(ctx)
		s.closeSessions(ctx)
		now := s.now()
		if now.Sub(purged) >= purgeInterval {
			purged = now
			s.logFailure(ctx, "forget old answers", s.Purge(ctx))
		}
		if now.Sub(reconciled) >= reconcileEvery {
			reconciled = now
			s.reconcile(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-tick.C:
		}
	}
}

// runEvery does something at once and then at every tick, until ctx ends.
func (s *Service) runEvery(ctx context.Context, every time.Duration, do func(ctx context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Purge deletes the answers that are kept no longer.
func (s *Service) Purge(ctx context.Context) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.DeleteExpiredIdempotencyRecords(ctx, s.now()) })
}

// noChange leaves a room to what is due.
func noChange(context.Context, *Room, time.Time) error { return nil }

func (s *Service) sweep(ctx context.Context) {
	for {
		due, err := s.store.DueRooms(ctx, s.now(), sweepBatch)
		if s.logFailure(ctx, "look for due rooms", err) {
			return
		}
		settled := 0
		for _, id := range due {
			err := s.updateRoom(ctx, id, noChange)
			if !s.logFailure(ctx, "settle a due room", err, "room_id", id) {
				settled++
			} else if fault.Is(err, fault.Unavailable) {
				return
			}
		}
		// A room that cannot be settled stays due, and must not be all that
		// is ever looked at.
		if len(due) < sweepBatch || settled == 0 {
			return
		}
	}
}

// closeSessions tells the media engine which sessions are over.
func (s *Service) closeSessions(ctx context.Context) {
	sessions, err := s.store.Sessions(ctx, SessionClosing)
	if s.logFailure(ctx, "look for sessions to close", err) {
		return
	}
	for _, session := range sessions {
		err := s.media.Close(ctx, SessionID(session.RoomID, session.N))
		if s.logFailure(ctx, "close a session", err, "room_id", session.RoomID) {
			continue
		}
		err = s.store.Write(ctx, func(ctx context.Context) error { return s.store.MarkSessionClosed(ctx, session) })
		s.logFailure(ctx, "write down that a session is closed", err, "room_id", session.RoomID)
	}
}

// reconcile compares who the rows say is in with who the engine says is in,
// and reports the differences as the engine should have. Each node looks after
// what it hosts, and after what it has said itself.
func (s *Service) reconcile(ctx context.Context) {
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if s.logFailure(ctx, "look for live sessions", err) {
		return
	}
	rooms := map[string][]int{}
	for _, session := range sessions {
		rooms[session.RoomID] = append(rooms[session.RoomID], session.N)
	}
	doubted := map[string]bool{}
	for id, live := range rooms {
		s.logFailure(ctx, "look who is in", s.reconcileRoom(ctx, id, live, doubted), "room_id", id)
	}
	s.unrecorded = doubted
}

func (s *Service) reconcileRoom(ctx context.Context, roomID string, live []int, doubted map[string]bool) error {
	// The rows are read first: whoever is in them was in the engine before, so
	// missing there now means having left.
	rows, err := s.store.CurrentAttendance(ctx, roomID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, a := range rows {
		known[engineConnectionID(a.Connection)] = true
		live = append(live, a.Session) // a session that is over may have left rows behind
	}
	slices.Sort(live)
	hosted := false
	var recorded []string // connections that are in the engine and in the rows
	for _, n := range slices.Compact(live) {
		name := SessionID(roomID, n)
		var there []Participant
		if s.media.IsLocal(name) {
			hosted = true
			if there, err = s.media.Participants(ctx, name); err != nil {
				return err
			}
			there = slices.DeleteFunc(there, func(p Participant) bool { return !p.Active })
		}
		for _, a := range rows {
			in := slices.ContainsFunc(there, func(p Participant) bool { return p.SID == engineConnectionID(a.Connection) })
			if a.Session == n && a.Node == s.nodeID && !in {
				s.ParticipantLeft(name, a.SeatID, a.Connection, s.now(), LeftLost)
			}
		}
		for _, p := range there {
			if known[p.SID] {
				recorded = append(recorded, p.SID)
				continue
			}
			connection, at := p.SID, p.JoinedAt
			if doubted[p.SID] = true; s.unrecorded[p.SID] {
				// Their leaving is written down, and yet they are in: the node was
				// taken for lost, say. The ledger has them come again.
				connection, at = connection+rejoinSeparator+s.newID(), s.now()
			}
			s.ParticipantJoined(name, p.Identity, connection, at)
		}
	}
	if !hosted {
		return nil
	}
	s.requestMoves(ctx, roomID)
	err = errors.Join(s.sendMetadata(ctx, roomID), s.updateSessionPermissions(ctx, roomID, s.media.IsLocal))
	if err == nil {
		for _, connection := range recorded {
			s.media.Admit(connection)
		}
	}
	return err
}

// rejoinSeparator parts the engine's id of a connection from what makes a second row for
// it another one.
const rejoinSeparator = "/"

// engineConnectionID returns the engine's own id of a connection.
func engineConnectionID(connection string) string {
	sid, _, _ := strings.Cut(connection, rejoinSeparator)
	return sid
}

// logFailure logs a failure of the background and reports whether there was one. A
// database that is away is said once a second at most, by the sweep's pace.
func (s *Service) logFailure(ctx context.Context, what string, err error, args ...any) bool {
	if err == nil {
		return false
	}
	if ctx.Err() == nil {
		level := s.log.Error
		if fault.Is(err, fault.Unavailable) {
			level = s.log.Warn
		}
		level("could not "+what, append(args, "error", err)...)
	}
	return true
}
