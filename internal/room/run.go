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
	others.Go(func() { s.each(ctx, s.beatEvery(), s.beat) })
	if s.shared {
		others.Go(func() { s.each(ctx, beatShared, s.watch) })
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var reconciled, purged time.Time
	for {
		s.catchUp()
		s.sweep(ctx)
		s.forgetStale(ctx)
		s.closeSessions(ctx)
		now := s.now()
		if now.Sub(purged) >= purgeEvery {
			purged = now
			s.note(ctx, "forget old answers", s.Purge(ctx))
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

// each does something at once and then at every tick, until ctx ends.
func (s *Service) each(ctx context.Context, every time.Duration, do func(ctx context.Context)) {
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
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.PurgeAnswers(ctx, s.now()) })
}

// nothing leaves a room to what is due.
func nothing(context.Context, *Room, time.Time) error { return nil }

func (s *Service) sweep(ctx context.Context) {
	for {
		due, err := s.store.DueRooms(ctx, s.now(), sweepBatch)
		if s.note(ctx, "look for due rooms", err) {
			return
		}
		settled := 0
		for _, id := range due {
			err := s.change(ctx, id, nothing)
			if !s.note(ctx, "settle a due room", err, "room_id", id) {
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
	if s.note(ctx, "look for sessions to close", err) {
		return
	}
	for _, session := range sessions {
		err := s.media.Close(ctx, SessionID(session.RoomID, session.N))
		if s.note(ctx, "close a session", err, "room_id", session.RoomID) {
			continue
		}
		err = s.store.Write(ctx, func(ctx context.Context) error { return s.store.SessionClosed(ctx, session) })
		s.note(ctx, "write down that a session is closed", err, "room_id", session.RoomID)
	}
}

// reconcile compares who the rows say is in with who the engine says is in,
// and reports the differences as the engine should have. Each node looks after
// what it hosts, and after what it has said itself.
func (s *Service) reconcile(ctx context.Context) {
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if s.note(ctx, "look for live sessions", err) {
		return
	}
	rooms := map[string][]int{}
	for _, session := range sessions {
		rooms[session.RoomID] = append(rooms[session.RoomID], session.N)
	}
	doubted := map[string]bool{}
	for id, live := range rooms {
		s.note(ctx, "look who is in", s.look(ctx, id, live, doubted), "room_id", id)
	}
	s.doubted = doubted
}

func (s *Service) look(ctx context.Context, roomID string, live []int, doubted map[string]bool) error {
	// The rows are read first: whoever is in them was in the engine before, so
	// missing there now means having left.
	rows, err := s.store.Present(ctx, roomID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, a := range rows {
		known[ofEngine(a.Connection)] = true
		live = append(live, a.Session) // a session that is over may have left rows behind
	}
	slices.Sort(live)
	hosted := false
	var recorded []string // connections that are in the engine and in the rows
	for _, n := range slices.Compact(live) {
		name := SessionID(roomID, n)
		var there []Present
		if s.media.Hosts(name) {
			hosted = true
			if there, err = s.media.Participants(ctx, name); err != nil {
				return err
			}
			there = slices.DeleteFunc(there, func(p Present) bool { return !p.Active })
		}
		for _, a := range rows {
			in := slices.ContainsFunc(there, func(p Present) bool { return p.SID == ofEngine(a.Connection) })
			if a.Session == n && a.Node == s.node && !in {
				s.ParticipantLeft(name, a.SeatID, a.Connection, s.now(), LeftLost)
			}
		}
		for _, p := range there {
			if known[p.SID] {
				recorded = append(recorded, p.SID)
				continue
			}
			connection, at := p.SID, p.JoinedAt
			if doubted[p.SID] = true; s.doubted[p.SID] {
				// Their leaving is written down, and yet they are in: the node was
				// taken for lost, say. The ledger has them come again.
				connection, at = connection+again+s.newID(), s.now()
			}
			s.ParticipantJoined(name, p.Identity, connection, at)
		}
	}
	if !hosted {
		return nil
	}
	s.callMoved(ctx, roomID)
	err = errors.Join(s.tellPages(ctx, roomID), s.allowAll(ctx, roomID, s.media.Hosts))
	if err == nil {
		for _, connection := range recorded {
			s.media.Admit(connection)
		}
	}
	return err
}

// again parts the engine's id of a connection from what makes a second row for
// it another one.
const again = "/"

// ofEngine returns the engine's own id of a connection.
func ofEngine(connection string) string {
	sid, _, _ := strings.Cut(connection, again)
	return sid
}

// note logs a failure of the background and reports whether there was one. A
// database that is away is said once a second at most, by the sweep's pace.
func (s *Service) note(ctx context.Context, what string, err error, args ...any) bool {
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
