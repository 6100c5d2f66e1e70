package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/fault"
)

const (
	sweepEvery     = time.Second
	reconcileEvery = 10 * time.Second
	// recheckDelay is the time from a reconciliation until the second look at the connections
	// that it found in the engine only, or in the attendance only.
	recheckDelay = 3 * time.Second
	sweepBatch   = 100
	// sweepGivesUpAfter is the number of rooms in a row that are not updated because the database is unavailable, after
	// which a sweep ends.
	sweepGivesUpAfter = 3
)

// Run applies transitions that are due until ctx ends: it opens, ends and expires
// rooms, releases seats, closes sessions, deletes stale rows and reconciles
// attendance with the media engine. Due times are stored, so that the next process
// applies those that a stopped process missed.
func (s *Presence) Run(ctx context.Context) {
	var background sync.WaitGroup
	defer background.Wait()
	defer s.simulations.stop()
	// Heartbeats have their own goroutine, so that slow work below cannot delay them.
	background.Go(func() { s.runEvery(ctx, s.heartbeatInterval(), s.heartbeat) })
	// So has the closing of sessions, which waits for other nodes and for Redis.
	background.Go(func() { s.closeSessionsUntil(ctx) })
	if s.options.Clustered {
		background.Go(func() { s.runEvery(ctx, clusterHeartbeat, s.watchNodes) })
		background.Go(func() { s.runEvery(ctx, drainInterval, s.handOver) })
		background.Go(func() { s.runEvery(ctx, drainInterval, s.endRelays) })
	}
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	var reconciled, purged time.Time
	for {
		began := s.now()
		_ = s.flushReports(context.Background()) // which logs its error
		s.options.Swept(s.sweep(ctx))
		s.deleteStaleKnocks(ctx)
		s.enforcePlacement(ctx)
		s.recheck(ctx)
		now := s.now()
		if now.Sub(purged) >= purgeInterval {
			purged = now
			s.logFailure(ctx, "delete expired idempotency records", s.Purge(ctx))
		}
		if now.Sub(reconciled) >= reconcileEvery {
			reconciled = now
			s.reconcile(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// Round removes the monotonic clock, which stops while a machine is suspended. A pass of a
		// slow database may take as long; then the comparison is only early.
		if s.now().Round(0).Sub(began.Round(0)) >= nodeTimeout-clusterHeartbeat {
			// This process stood still, and its participants may have connected elsewhere.
			reconciled = time.Time{}
		}
	}
}

// runEvery calls do at once and then at every interval, until ctx ends.
func (s *Presence) runEvery(ctx context.Context, interval time.Duration, do func(ctx context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// purgeBatch is the maximum number of records that a transaction of Purge deletes.
const purgeBatch = 500

// Purge deletes expired idempotency records, in short transactions because many expire while
// the service is down.
func (s *Presence) Purge(ctx context.Context) error {
	for {
		deleted := 0
		err := s.store.Write(ctx, func(ctx context.Context) (err error) {
			deleted, err = s.store.DeleteExpiredIdempotencyRecords(ctx, s.now(), purgeBatch)
			return err
		})
		if err != nil || deleted < purgeBatch {
			return err
		}
	}
}

// noChange makes updateRoom apply only the transitions that are due.
func noChange(context.Context, *Room, time.Time) error { return nil }

// sweep applies the due transitions of all rooms. One room that cannot be stored in time does not stop the others;
// several in a row mean that the database is unavailable. It logs all errors, and returns the first one.
func (s *Presence) sweep(ctx context.Context) (first error) {
	for {
		due, err := s.store.DueRooms(ctx, s.now(), sweepBatch)
		if s.logFailure(ctx, "list due rooms", err) {
			return err
		}
		updated, unavailable := 0, 0
		for _, id := range due {
			err := s.updateRoom(ctx, id, noChange)
			if !s.logFailure(ctx, "update due room", err, "room_id", id) {
				updated, unavailable = updated+1, 0
				continue
			}
			if first == nil {
				first = fmt.Errorf("room %s: %w", id, err)
			}
			if fault.Is(err, fault.Unavailable) {
				if unavailable++; unavailable == sweepGivesUpAfter {
					return first
				}
			}
		}
		// A room that cannot be updated stays due. If the whole batch failed, the
		// next query would return the same rooms.
		if len(due) < sweepBatch || updated == 0 {
			return first
		}
	}
}

// closeSessionsUntil closes ended sessions as soon as there are any, and every second, until ctx ends.
func (s *Presence) closeSessionsUntil(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		s.closeSessions(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-ticker.C:
		}
	}
}

// closeSessions closes ended sessions in the media engine. Those of this process come first, because the others may
// have to wait for their nodes.
func (s *Presence) closeSessions(ctx context.Context) {
	sessions, err := s.store.Sessions(ctx, SessionClosing)
	if s.logFailure(ctx, "list closing sessions", err) {
		return
	}
	remote := map[Session]int{}
	for _, session := range sessions {
		if !s.media.IsLocal(SessionID(session.RoomID, session.N)) {
			remote[session] = 1
		}
	}
	slices.SortStableFunc(sessions, func(a, b Session) int { return cmp.Compare(remote[a], remote[b]) })
	for _, session := range sessions {
		err := s.media.Close(ctx, SessionID(session.RoomID, session.N))
		if s.logFailure(ctx, "close session", err, "room_id", session.RoomID) {
			continue
		}
		err = s.store.Write(ctx, func(ctx context.Context) error { return s.store.MarkSessionClosed(ctx, session) })
		s.logFailure(ctx, "mark session closed", err, "room_id", session.RoomID)
	}
}

// reconcile compares the stored attendance with the participants in the engine and
// handles each difference like a report of the engine. Each node reconciles the
// sessions that it hosts and the attendance that it recorded.
func (s *Presence) reconcile(ctx context.Context) {
	if s.isStopping() {
		return
	}
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if s.logFailure(ctx, "list live sessions", err) {
		return
	}
	rooms := map[string][]int{}
	for _, session := range sessions {
		rooms[session.RoomID] = append(rooms[session.RoomID], session.N)
	}
	found := differences{unrecorded: map[string]string{}, missing: map[string]missingConnection{}}
	for id, live := range rooms {
		s.logFailure(ctx, "reconcile room", s.reconcileRoom(ctx, id, live, found), "room_id", id)
	}
	s.found, s.recheckAt = found, s.now().Add(recheckDelay)
}

// differences are what a reconciliation found, for the second look.
type differences struct {
	unrecorded map[string]string            // sessions of the connections that are in the engine only
	missing    map[string]missingConnection // those that are in the attendance only, by its ID
}

// missingConnection is a recorded connection that the engine does not have.
type missingConnection struct {
	session string
	since   time.Time // when the reconciliation noticed it first
}

// recheck looks a second time at the connections that the last reconciliation found in the engine only, so that a
// participant who has connected again elsewhere does not keep two connections until the next reconciliation, and at
// those that it found in the attendance only.
func (s *Presence) recheck(ctx context.Context) {
	if s.recheckAt.IsZero() || s.now().Before(s.recheckAt) || s.isStopping() {
		return
	}
	s.recheckAt = time.Time{}
	sessions := map[string]bool{}
	for _, session := range s.found.unrecorded {
		sessions[session] = true
	}
	for _, missing := range s.found.missing {
		sessions[missing.session] = true
	}
	for session := range sessions {
		s.logFailure(ctx, "look again at connections", s.recheckSession(ctx, session), "session", session)
	}
}

func (s *Presence) recheckSession(ctx context.Context, session string) error {
	roomID, _, _ := ParseSessionID(session)
	rows, err := s.store.CurrentAttendance(ctx, roomID)
	if err != nil {
		return err
	}
	participants, err := s.activeParticipants(ctx, session)
	if err != nil {
		return err
	}
	recorded, connected := map[string]bool{}, map[string]bool{}
	for _, a := range rows {
		recorded[engineConnectionID(a.Connection)] = true
	}
	for _, p := range participants {
		connected[p.SID] = true
		if s.found.unrecorded[p.SID] == session && !recorded[p.SID] {
			s.recordAgain(session, p)
		}
	}
	for _, a := range rows {
		if s.found.missing[a.ID].session == session && !connected[engineConnectionID(a.Connection)] {
			s.endMissing(session, a, s.found.missing)
		}
	}
	return nil
}

// activeParticipants returns the participants of a session whose media is connected. A session of another node has
// none.
func (s *Presence) activeParticipants(ctx context.Context, session string) ([]Participant, error) {
	if !s.media.IsLocal(session) {
		return nil, nil
	}
	participants, err := s.media.Participants(ctx, session)
	return slices.DeleteFunc(participants, func(p Participant) bool { return !p.Active }), err
}

// endMissing handles a recorded connection of this node that the engine does not have. The engine usually reports its
// end, with the right time and reason, but removes the participant first, and the report may wait for those before it.
// So the end is recorded at the second look, at the time of the first one, if the engine is not about to report it.
// Until then the connection is added to missing.
func (s *Presence) endMissing(session string, a Attendance, missing map[string]missingConnection) {
	if at, gave := s.gaveAway(session, a.JoinedAt); gave {
		s.ParticipantLeft(session, a.SeatID, a.Connection, at, LeftServer)
		return
	}
	now := s.now()
	m, again := s.found.missing[a.ID]
	if !again {
		m = missingConnection{session, now}
	}
	if now.Sub(m.since) < recheckDelay || s.media.IsReporting(engineConnectionID(a.Connection)) {
		missing[a.ID] = m
		return
	}
	s.ParticipantLeft(session, a.SeatID, a.Connection, m.since, LeftLost)
}

// recordAgain handles a connection whose attendance has ended although the participant is
// connected, for example because this node was considered lost. It is recorded as a second
// connection, or closed if the participant has connected again elsewhere.
func (s *Presence) recordAgain(session string, p Participant) {
	s.ParticipantJoined(session, p.Identity, p.SID+rejoinSeparator+s.newID(), s.now())
}

// reconcileRoom reconciles the live sessions of a room and adds to found what needs a second look.
func (s *Presence) reconcileRoom(ctx context.Context, roomID string, live []int, found differences) error {
	// Attendance is read before the engine's participants. A recorded participant was
	// in the engine at that time, and therefore has left if the engine has them no more.
	rows, err := s.store.CurrentAttendance(ctx, roomID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, a := range rows {
		known[engineConnectionID(a.Connection)] = true
		live = append(live, a.Session) // attendance may remain from a session that is over
	}
	slices.Sort(live)
	hosted := false
	var changedQualities []Attendance
	var recorded []string // connections that are both in the engine and recorded
	connected := map[string]bool{}
	for _, n := range slices.Compact(live) {
		name := SessionID(roomID, n)
		hosted = hosted || s.media.IsLocal(name)
		participants, err := s.activeParticipants(ctx, name)
		if err != nil {
			return err
		}
		for _, p := range participants {
			connected[p.SID] = true
			if known[p.SID] {
				recorded = append(recorded, p.SID)
				if a, changed := updatedQuality(rows, p.SID, s.media.Quality(name, p.Identity)); changed {
					changedQualities = append(changedQualities, a)
				}
				continue
			}
			found.unrecorded[p.SID] = name
			if s.found.unrecorded[p.SID] == name {
				s.recordAgain(name, p)
			} else {
				s.ParticipantJoined(name, p.Identity, p.SID, p.JoinedAt)
			}
		}
	}
	// The joins come first, because a join ends the connection before it at the right time.
	for _, a := range rows {
		if a.Node != s.nodeID || connected[engineConnectionID(a.Connection)] || s.simulations.isConnected(a.Connection) {
			continue
		}
		s.endMissing(SessionID(roomID, a.Session), a, found.missing)
	}
	if !hosted {
		return nil
	}
	s.requestMoves(ctx, roomID)
	s.logFailure(ctx, "store connection qualities", s.storeQualities(ctx, changedQualities), "room_id", roomID)
	err = errors.Join(s.sendMetadata(ctx, roomID), s.updateSessionPermissions(ctx, roomID, s.media.IsLocal))
	if err == nil {
		for _, connection := range recorded {
			s.media.Admit(connection)
		}
	}
	return err
}

// updatedQuality returns the attendance of a connection with its current quality, and whether a
// column changed.
func updatedQuality(rows []Attendance, sid string, q ConnectionQuality) (a Attendance, changed bool) {
	i := slices.IndexFunc(rows, func(a Attendance) bool { return engineConnectionID(a.Connection) == sid })
	if i < 0 || q == QualityUnknown {
		return Attendance{}, false
	}
	a = rows[i]
	poor := q == QualityPoor || q == QualityLost
	changed = poor || a.Quality != q
	a.Quality = q
	if poor {
		a.PoorFor += reconcileEvery
	}
	return a, changed
}

// storeQualities stores the qualities of connections in one transaction.
func (s *Presence) storeQualities(ctx context.Context, changed []Attendance) error {
	if len(changed) == 0 {
		return nil
	}
	return s.store.Write(ctx, func(ctx context.Context) error {
		for _, a := range changed {
			if err := s.store.UpdateQuality(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// rejoinSeparator separates the engine's id of a connection from a suffix. The
// suffix makes the id unique if the same connection is recorded a second time.
const rejoinSeparator = "/"

// engineConnectionID returns the engine's id of a recorded connection.
func engineConnectionID(connection string) string {
	sid, _, _ := strings.Cut(connection, rejoinSeparator)
	return sid
}

// logFailure logs a failed background operation, unless ctx has ended, and reports
// whether err is not nil. An unavailable database is logged as a warning. The handler of
// the log leaves out most of the lines of a long outage.
func (s *core) logFailure(ctx context.Context, operation string, err error, args ...any) bool {
	if err == nil {
		return false
	}
	if ctx.Err() == nil {
		log := s.log.Error
		if fault.Is(err, fault.Unavailable) {
			log = s.log.Warn
		}
		log(operation+" failed", append(args, "error", err)...)
	}
	return true
}
