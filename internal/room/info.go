package room

import (
	"context"
	"time"
)

// info is what the pages of a room, or of one of its breakout rooms, read.
func info(r *Room, here Breakout, all []Breakout, hands []Seat, waiting int) Info {
	i := Info{RoomType: r.Type, Breakout: here.N, Breakouts: places(all), Locks: r.Locks, Waiting: waiting}
	for _, seat := range hands {
		if seat.Breakout == here.N {
			i.Hands = append(i.Hands, seat.ID)
		}
	}
	if ends := r.endOfDuration(); !ends.IsZero() {
		ends = ends.UTC()
		i.EndsAt = &ends
	}
	return i
}

// places lists the breakout rooms that are open.
func places(all []Breakout) []Place {
	var open []Place
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			open = append(open, Place{Number: b.N, Name: b.Name})
		}
	}
	return open
}

// announce has every page in a room read what is true of it now. What fails
// here is made up for by the next look.
func (s *Service) announce(ctx context.Context, roomID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	s.note(ctx, "tell pages of a room", s.tellPages(ctx, roomID), "room_id", roomID)
}

// tellPages reads and tells in one turn for each room: what was read first must
// not arrive last.
func (s *Service) tellPages(ctx context.Context, roomID string) error {
	defer s.telling.take(roomID)()
	return s.eachSession(ctx, roomID, func(session string, _ *Room, i Info) error { return s.media.Announce(ctx, session, i) })
}

// openSessions makes the live sessions of a room ready in the engine.
func (s *Service) openSessions(ctx context.Context, roomID string) error {
	return s.eachSession(ctx, roomID, func(session string, r *Room, i Info) error {
		return s.media.Open(ctx, MediaSession{Name: session, Type: r.Type, MaxParticipants: r.MaxParticipants + maxHidden, Info: i})
	})
}

// eachSession calls do for the live sessions of a room, its own first.
func (s *Service) eachSession(ctx context.Context, roomID string, do func(session string, r *Room, i Info) error) error {
	r, err := s.store.Room(ctx, roomID)
	if err != nil || !r.SessionLive {
		return err
	}
	all, err := s.store.Breakouts(ctx, roomID)
	if err != nil {
		return err
	}
	hands, err := s.store.Hands(ctx, roomID)
	if err != nil {
		return err
	}
	waiting, err := s.waiting(ctx, r)
	if err != nil {
		return err
	}
	if err := do(SessionID(roomID, r.Session), r, info(r, Breakout{}, all, hands, len(waiting))); err != nil {
		return err
	}
	for _, b := range all {
		if b.ClosedAt.IsZero() {
			if err := do(SessionID(roomID, b.Session), r, info(r, b, all, hands, len(waiting))); err != nil {
				return err
			}
		}
	}
	return nil
}
