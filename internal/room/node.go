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
	singleNodeHeartbeat = 5 * time.Second // how often a node without others notes that it runs
	clusterHeartbeat    = time.Second     // and one that others may have to replace
	// nodeTimeout is how long a node may be silent before another takes over.
	nodeTimeout = 4 * time.Second
	// nodeRemovalDelay is how long before it is taken off the list: until then it
	// may turn out that it was only slow.
	nodeRemovalDelay = time.Minute
)

// lastSeen is when another node was last seen to have moved on. Only this
// node's clock is asked, so clocks that differ do no harm.
type lastSeen struct {
	heartbeat time.Time // what that node wrote
	seenAt    time.Time // when it was seen to be new
	lost      bool
}

// EnableCluster says that other nodes may run on the same database, so that a node
// that is silent may be none of this one's earlier lives. Call it before
// Recover.
func (s *Service) EnableCluster() { s.clustered = true }

// NodeID returns this process's name among others.
func (s *Service) NodeID() string { return s.nodeID }

// Recover takes up what an earlier process left: whoever was in is noted as
// gone at the last moment that process was known to run and keeps the seat for
// a while, and rooms that were live are live again in the media engine, under
// the same session, before anybody knocks. Where there are other nodes, it is
// Run that finds out who of them is lost.
func (s *Service) Recover(ctx context.Context) error {
	if !s.clustered {
		nodes, err := s.store.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if err := s.failover(ctx, n, s.now()); err != nil {
				return err
			}
			if err := s.removeNode(ctx, n.ID); err != nil {
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
		if err := s.updateRoom(ctx, session.RoomID, noChange); err != nil {
			return err
		}
		if err := s.openSessions(ctx, session.RoomID); err != nil {
			return err
		}
	}
	return s.writeHeartbeat(ctx)
}

// failover writes down that whoever a lost node had in has left it, at the
// last moment that node was known to run, and has their pages come back.
// Nobody can have come back before the moment unheard. A room that cannot be
// taken over holds up no other.
func (s *Service) failover(ctx context.Context, lost Node, unheard time.Time) error {
	rooms, err := s.store.RoomsOfNode(ctx, lost.ID)
	for _, id := range rooms {
		err = errors.Join(err, s.failoverRoom(ctx, lost, unheard, id))
	}
	return err
}

func (s *Service) failoverRoom(ctx context.Context, lost Node, unheard time.Time, id string) error {
	err := s.updateRoom(ctx, id, func(ctx context.Context, r *Room, now time.Time) error {
		present, err := s.store.CurrentAttendance(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, a := range present {
			if a.Node != lost.ID {
				continue
			}
			if err := s.endConnection(ctx, r, a, lost.LastAlive, now, LeftServer); err != nil {
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
	return s.eachSession(ctx, id, func(session string, _ *Room, _ Metadata) error {
		s.media.DropRelayedConnections(session, unheard)
		return nil
	})
}

// removeNode takes a node off the list, unless it says that somebody is somewhere.
func (s *Service) removeNode(ctx context.Context, node string) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.RemoveNode(ctx, node) })
}

// watchNodes takes over from nodes that do not run any more.
func (s *Service) watchNodes(ctx context.Context) {
	now := s.now()
	nodes, err := s.store.Nodes(ctx)
	if s.logFailure(ctx, "look for other nodes", err) {
		return
	}
	if now.Sub(s.lastWatch) >= nodeTimeout/2 {
		// This node saw nothing for a while, and maybe nobody could write:
		// silence counts from now.
		clear(s.lastSeen)
	}
	s.lastWatch = now
	seen := map[string]*lastSeen{}
	for _, n := range nodes {
		if n.ID == s.nodeID {
			continue
		}
		last := s.lastSeen[n.ID]
		if last == nil || !last.heartbeat.Equal(n.LastAlive) {
			last = &lastSeen{heartbeat: n.LastAlive, seenAt: now}
		}
		seen[n.ID] = last
		silent := now.Sub(last.seenAt)
		if silent < nodeTimeout {
			continue
		}
		if !last.lost {
			last.lost = true
			s.log.Warn("a node is lost; its rooms go on here", "node", n.ID, "last_alive", n.LastAlive)
		}
		if !s.logFailure(ctx, "take over from a lost node", s.failover(ctx, n, last.seenAt.Add(clusterHeartbeat)), "node", n.ID) && silent >= nodeRemovalDelay {
			s.logFailure(ctx, "forget a lost node", s.removeNode(ctx, n.ID), "node", n.ID)
		}
	}
	s.lastSeen = seen
}

func (s *Service) heartbeatInterval() time.Duration {
	if s.clustered {
		return clusterHeartbeat
	}
	return singleNodeHeartbeat
}

// heartbeat notes that this node runs.
func (s *Service) heartbeat(ctx context.Context) {
	s.logFailure(ctx, "write down that the service runs", s.writeHeartbeat(ctx))
}

func (s *Service) writeHeartbeat(ctx context.Context) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.RecordHeartbeat(ctx, s.nodeID, s.now()) })
}

// Deregister takes this node off the list, after the last report of the engine, so
// that nobody has to find out that it is gone.
func (s *Service) Deregister(ctx context.Context) error { return s.removeNode(ctx, s.nodeID) }
