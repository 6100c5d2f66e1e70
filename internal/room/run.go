package room

import (
	"context"
	"time"

	"parley/internal/fault"
)

const (
	sweepEvery     = time.Second
	aliveEvery     = 5 * time.Second
	reconcileEvery = 10 * time.Second
	sweepBatch     = 100
)

// Recover takes up what an earlier process left: whoever was in is noted as
// gone at the last moment that process was known to run and keeps the seat for
// a while, and rooms that were live are live again in the media engine, under
// the same session, before anybody knocks.
func (s *Service) Recover(ctx context.Context) error {
	alive, err := s.store.LastAlive(ctx)
	if err != nil {
		return err
	}
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		var room *Room
		err := s.change(ctx, session.RoomID, func(ctx context.Context, r *Room, now time.Time) error {
			room = r
			present, err := s.store.Present(ctx, r.ID)
			if err != nil {
				return err
			}
			for _, a := range present {
				if err := s.depart(ctx, r, a, alive, now, LeftServer); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if !room.SessionLive {
			continue
		}
		if err := s.media.Open(ctx, MediaSession{Name: SessionID(room.ID, room.Session), Type: room.Type, MaxParticipants: room.MaxParticipants}); err != nil {
			return err
		}
		s.log.Info("room is live again", "room_id", room.ID, "session", room.Session)
	}
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.SetLastAlive(ctx, s.now()) })
}

// Run makes happen what is due, until ctx ends: expiries, ends, seats given
// up, sessions closed. Due moments are rows, so what a stopped process missed
// happens when the next one runs.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var alive, reconciled, purged time.Time
	for {
		s.sweep(ctx)
		s.closeSessions(ctx)
		now := s.now()
		if now.Sub(alive) >= aliveEvery {
			alive = now
			err := s.store.Write(ctx, func(ctx context.Context) error { return s.store.SetLastAlive(ctx, now) })
			s.note(ctx, "write down that the service runs", err)
		}
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

// Purge deletes the answers that are kept no longer.
func (s *Service) Purge(ctx context.Context) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.PurgeAnswers(ctx, s.now()) })
}

func (s *Service) sweep(ctx context.Context) {
	for {
		due, err := s.store.DueRooms(ctx, s.now(), sweepBatch)
		if s.note(ctx, "look for due rooms", err) {
			return
		}
		settled := 0
		for _, id := range due {
			err := s.change(ctx, id, func(context.Context, *Room, time.Time) error { return nil })
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
		session.State = SessionClosed
		err = s.store.Write(ctx, func(ctx context.Context) error { return s.store.SetSessionState(ctx, session, s.now()) })
		s.note(ctx, "write down that a session is closed", err, "room_id", session.RoomID)
	}
}

// reconcile compares who the rows say is in with who the engine says is in,
// and reports the differences as the engine should have.
func (s *Service) reconcile(ctx context.Context) {
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if s.note(ctx, "look for live sessions", err) {
		return
	}
	for _, session := range sessions {
		// The rows are read first: whoever is in them was in the engine
		// before, so missing there now means having left.
		rows, err := s.store.Present(ctx, session.RoomID)
		if s.note(ctx, "read attendance", err, "room_id", session.RoomID) {
			return
		}
		name := SessionID(session.RoomID, session.N)
		there, err := s.media.Participants(ctx, name)
		if s.note(ctx, "list participants", err, "room_id", session.RoomID) {
			return
		}
		in := map[string]bool{}
		for _, p := range there {
			in[p.SID] = true
		}
		known := map[string]bool{}
		for _, a := range rows {
			known[a.Connection] = true
			if !in[a.Connection] {
				s.ParticipantLeft(name, a.SeatID, a.Connection, s.now(), LeftLost)
			}
		}
		for _, p := range there {
			if !known[p.SID] {
				s.ParticipantJoined(name, p.Identity, p.SID, p.JoinedAt)
			}
		}
	}
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
