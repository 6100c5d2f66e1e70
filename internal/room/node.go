package room

import (
	"context"
	"errors"
	"time"
)

// Node is a process that runs this service, and when it was last known to.
type Node struct {
	ID        string
	LastAlive time.Time
}

const (
	beatAlone  = 5 * time.Second // how often a node without others notes that it runs
	beatShared = time.Second     // and one that others may have to replace
	// lostAfter is how long a node may be silent before another takes over.
	lostAfter = 4 * time.Second
	// forgetAfter is how long before it is taken off the list: until then it
	// may turn out that it was only slow.
	forgetAfter = time.Minute
)

// sighting is when another node was last seen to have moved on. Only this
// node's clock is asked, so clocks that differ do no harm.
type sighting struct {
	alive time.Time // what that node wrote
	at    time.Time // when it was seen to be new
	lost  bool
}

// Share says that other nodes may run on the same database, so that a node
// that is silent may be none of this one's earlier lives. Call it before
// Recover.
func (s *Service) Share() { s.shared = true }

// Node returns this process's name among others.
func (s *Service) Node() string { return s.node }

// Recover takes up what an earlier process left: whoever was in is noted as
// gone at the last moment that process was known to run and keeps the seat for
// a while, and rooms that were live are live again in the media engine, under
// the same session, before anybody knocks. Where there are other nodes, it is
// Run that finds out who of them is lost.
func (s *Service) Recover(ctx context.Context) error {
	if !s.shared {
		nodes, err := s.store.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if err := s.takeOver(ctx, n, s.now()); err != nil {
				return err
			}
			if err := s.forget(ctx, n.ID); err != nil {
				return err
			}
		}
	}
	sessions, err := s.store.Sessions(ctx, SessionLive)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if session.Breakout > 0 {
			continue // with its room
		}
		// Whatever came due meanwhile comes first.
		if err := s.change(ctx, session.RoomID, nothing); err != nil {
			return err
		}
		if err := s.openSessions(ctx, session.RoomID); err != nil {
			return err
		}
	}
	return s.writeBeat(ctx)
}

// takeOver writes down that whoever a lost node had in has left it, at the
// last moment that node was known to run, and has their pages come back.
// Nobody can have come back before the moment unheard. A room that cannot be
// taken over holds up no other.
func (s *Service) takeOver(ctx context.Context, lost Node, unheard time.Time) error {
	rooms, err := s.store.RoomsOfNode(ctx, lost.ID)
	for _, id := range rooms {
		err = errors.Join(err, s.takeOverRoom(ctx, lost, unheard, id))
	}
	return err
}

func (s *Service) takeOverRoom(ctx context.Context, lost Node, unheard time.Time, id string) error {
	err := s.change(ctx, id, func(ctx context.Context, r *Room, now time.Time) error {
		present, err := s.store.Present(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, a := range present {
			if a.Node != lost.ID {
				continue
			}
			if err := s.depart(ctx, r, a, lost.LastAlive, now, LeftServer); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.log.Info("room goes on here", "room_id", id, "lost_node", lost.ID)
	if err := s.openSessions(ctx, id); err != nil {
		return err
	}
	return s.eachSession(ctx, id, func(session string, _ *Room, _ Info) error {
		s.media.HangUp(session, unheard)
		return nil
	})
}

// forget takes a node off the list, unless it says that somebody is somewhere.
func (s *Service) forget(ctx context.Context, node string) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.RemoveNode(ctx, node) })
}

// watch takes over from nodes that do not run any more.
func (s *Service) watch(ctx context.Context) {
	now := s.now()
	nodes, err := s.store.Nodes(ctx)
	if s.note(ctx, "look for other nodes", err) {
		return
	}
	if now.Sub(s.watched) >= lostAfter/2 {
		// This node saw nothing for a while, and maybe nobody could write:
		// silence counts from now.
		clear(s.sightings)
	}
	s.watched = now
	seen := map[string]*sighting{}
	for _, n := range nodes {
		if n.ID == s.node {
			continue
		}
		last := s.sightings[n.ID]
		if last == nil || !last.alive.Equal(n.LastAlive) {
			last = &sighting{alive: n.LastAlive, at: now}
		}
		seen[n.ID] = last
		silent := now.Sub(last.at)
		if silent < lostAfter {
			continue
		}
		if !last.lost {
			last.lost = true
			s.log.Warn("a node is lost; its rooms go on here", "node", n.ID, "last_alive", n.LastAlive)
		}
		if !s.note(ctx, "take over from a lost node", s.takeOver(ctx, n, last.at.Add(beatShared)), "node", n.ID) && silent >= forgetAfter {
			s.note(ctx, "forget a lost node", s.forget(ctx, n.ID), "node", n.ID)
		}
	}
	s.sightings = seen
}

func (s *Service) beatEvery() time.Duration {
	if s.shared {
		return beatShared
	}
	return beatAlone
}

// beat notes that this node runs.
func (s *Service) beat(ctx context.Context) {
	s.note(ctx, "write down that the service runs", s.writeBeat(ctx))
}

func (s *Service) writeBeat(ctx context.Context) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.Beat(ctx, s.node, s.now()) })
}

// Leave takes this node off the list, after the last report of the engine, so
// that nobody has to find out that it is gone.
func (s *Service) Leave(ctx context.Context) error { return s.forget(ctx, s.node) }
