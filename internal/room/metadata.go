package room

import (
	"context"
	"time"
)

// newMetadata is what the pages of a room, or of one of its breakout rooms, read.
func newMetadata(r *Room, here Breakout, all []Breakout, hands []Seat, waiting int) Metadata {
	i := Metadata{RoomType: r.Type, Breakout: here.N, Breakouts: listOpenBreakouts(all), Locks: r.Locks, Waiting: waiting}
	for _, seat := range hands {
		if seat.Breakout == here.N {
			i.Hands = append(i.Hands, seat.ID)
		}
	}
	if ends := r.durationDeadline(); !ends.IsZero() {
		ends = ends.UTC()
		i.EndsAt = &ends
	}
	return i
}

// listOpenBreakouts lists the breakout rooms that are open.
func listOpenBreakouts(all []Breakout) []BreakoutInfo {
	var open []BreakoutInfo
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			open = append(open, BreakoutInfo{Number: b.N, Name: b.Name})
		}
	}
	return open
}

// publishMetadata has every page in a room read what is true of it now. What fails
// here is made up for by the next look.
func (s *Service) publishMetadata(ctx context.Context, roomID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	s.logFailure(ctx, "tell pages of a room", s.sendMetadata(ctx, roomID), "room_id", roomID)
}

// sendMetadata reads and tells in one turn for each room: what was read first must
// not arrive last.
func (s *Service) sendMetadata(ctx context.Context, roomID string) error {
	defer s.metadataLocks.lock(roomID)()
	return s.eachSession(ctx, roomID, func(session string, _ *Room, i Metadata) error { return s.media.UpdateMetadata(ctx, session, i) })
}

// openSessions makes the live sessions of a room ready in the engine.
func (s *Service) openSessions(ctx context.Context, roomID string) error {
	return s.eachSession(ctx, roomID, func(session string, r *Room, i Metadata) error {
		return s.media.Open(ctx, MediaSession{Name: session, Type: r.Type, MaxParticipants: r.MaxParticipants + maxHiddenParticipants, Metadata: i})
	})
}

// eachSession calls do for the live sessions of a room, its own first.
func (s *Service) eachSession(ctx context.Context, roomID string, do func(session string, r *Room, i Metadata) error) error {
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
