package room

import (
	"context"
	"time"
)

// newMetadata returns the metadata of the session of a breakout room, or of the room
// itself if breakout is zero.
func newMetadata(r *Room, breakout Breakout, all []Breakout, hands []Seat, waiting int) Metadata {
	m := Metadata{
		RoomType:  r.Type,
		Breakout:  breakout.N,
		Breakouts: listOpenBreakouts(all),
		Locks:     r.Locks,
		Waiting:   waiting,
	}
	for _, seat := range hands {
		if seat.Breakout == breakout.N {
			m.Hands = append(m.Hands, seat.ID)
		}
	}
	m.HandsElsewhere = len(hands) - len(m.Hands)
	if endsAt := r.durationDeadline(); !endsAt.IsZero() {
		endsAt = endsAt.UTC()
		m.EndsAt = &endsAt
	}
	return m
}

// listOpenBreakouts returns the breakout rooms that are open.
func listOpenBreakouts(all []Breakout) []BreakoutInfo {
	var open []BreakoutInfo
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			open = append(open, BreakoutInfo{Number: b.N, Name: b.Name})
		}
	}
	return open
}

// publishMetadata sends the current metadata to all sessions of a room. A failure is
// only logged, because the next reconciliation repeats it.
func (s *core) publishMetadata(ctx context.Context, roomID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	s.logFailure(ctx, "update metadata of room", s.sendMetadata(ctx, roomID), "room_id", roomID)
}

// sendMetadata reads and sends the metadata under a lock for each room, so that an
// older state cannot arrive after a newer one.
func (s *core) sendMetadata(ctx context.Context, roomID string) error {
	defer s.metadataLocks.lock(roomID)()
	return s.eachSession(ctx, roomID, func(session string, _ *Room, m Metadata) error {
		return s.media.UpdateMetadata(ctx, session, m)
	})
}

// openSessions opens the live sessions of a room in the engine.
func (s *Presence) openSessions(ctx context.Context, roomID string) error {
	return s.eachSession(ctx, roomID, func(session string, r *Room, m Metadata) error {
		return s.media.Open(ctx, MediaSession{Name: session, Type: r.Type,
			MaxParticipants: r.MaxParticipants + maxHiddenParticipants, Metadata: m})
	})
}

// eachSession calls do for each live session of a room, the session of the room
// itself first.
func (s *core) eachSession(ctx context.Context, roomID string,
	do func(session string, r *Room, m Metadata) error,
) error {
	r, err := s.store.Room(ctx, roomID)
	if err != nil || !r.SessionLive {
		return err
	}
	all, err := s.store.Breakouts(ctx, roomID)
	if err != nil {
		return err
	}
	hands, err := s.store.RaisedHands(ctx, roomID)
	if err != nil {
		return err
	}
	waiting, err := s.waitingKnocks(ctx, r)
	if err != nil {
		return err
	}
	if err := do(SessionID(roomID, r.Session), r, newMetadata(r, Breakout{}, all, hands, len(waiting))); err != nil {
		return err
	}
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			if err := do(SessionID(roomID, b.Session), r, newMetadata(r, b, all, hands, len(waiting))); err != nil {
				return err
			}
		}
	}
	return nil
}
