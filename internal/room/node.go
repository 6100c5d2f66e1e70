package room

import (
	"context"
	"errors"
	"time"
)

// Node is a process that runs this service.
type Node struct {
	ID        string
	LastAlive time.Time // last heartbeat, by the node's own clock
}

const (
	singleNodeHeartbeat = 5 * time.Second // interval of heartbeats without a cluster
	clusterHeartbeat    = time.Second     // interval of heartbeats in a cluster
	// nodeTimeout is the time without a heartbeat after which other nodes take over.
	nodeTimeout = 4 * time.Second
	// nodeRemovalDelay is the time without a heartbeat after which a lost node is
	// deleted. Until then it may turn out that the node was only slow.
	nodeRemovalDelay = time.Minute
)

// lastSeen records when this node last saw a new heartbeat of another node. It uses
// only this node's clock, so that clock differences between nodes do not matter.
type lastSeen struct {
	heartbeat time.Time // as written by the other node
	seenAt    time.Time // when this node first saw that heartbeat
	lost      bool
}

// NodeID returns the id that identifies this process in the cluster.
func (s *Service) NodeID() string { return s.nodeID }

// Recover continues the rooms of an earlier process. It ends the attendance that
// the process recorded, at the process's last heartbeat, holds the seats for
// rejoinTimeout, and opens live sessions in the media engine again under their old
// names. Call it before visitors are served. In a cluster, Run detects lost nodes
// instead.
func (s *Service) Recover(ctx context.Context) error {
	if !s.options.Clustered {
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
			continue // openSessions opens it with its room
		}
		// Transitions that came due while no process was running are applied first.
		if err := s.updateRoom(ctx, session.RoomID, noChange); err != nil {
			return err
		}
		if err := s.openSessions(ctx, session.RoomID); err != nil {
			return err
		}
	}
	return s.writeHeartbeat(ctx)
}

// failover takes over the rooms of a lost node. It ends the attendance that the
// node recorded, at the node's last heartbeat, and makes the pages reconnect.
// Connections relayed before silentSince are dropped, because they lead to the
// lost node. A failure in one room does not stop the others.
func (s *Service) failover(ctx context.Context, lost Node, silentSince time.Time) error {
	rooms, err := s.store.RoomsOfNode(ctx, lost.ID)
	for _, id := range rooms {
		err = errors.Join(err, s.failoverRoom(ctx, lost, silentSince, id))
	}
	return err
}

func (s *Service) failoverRoom(ctx context.Context, lost Node, silentSince time.Time, id string) error {
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
	s.log.Info("took over room of lost node", "room_id", id, "node", lost.ID)
	if err := s.openSessions(ctx, id); err != nil {
		return err
	}
	return s.eachSession(ctx, id, func(session string, _ *Room, _ Metadata) error {
		s.media.DropRelayedConnections(session, silentSince)
		return nil
	})
}

// removeNode deletes a node unless it has unended attendance.
func (s *Service) removeNode(ctx context.Context, node string) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.RemoveNode(ctx, node) })
}

// watchNodes detects lost nodes by their missing heartbeats and takes over their
// rooms.
func (s *Service) watchNodes(ctx context.Context) {
	now := s.now()
	nodes, err := s.store.Nodes(ctx)
	if s.logFailure(ctx, "list nodes", err) {
		return
	}
	if now.Sub(s.lastWatch) >= nodeTimeout/2 {
		// This node could not read for a while, and perhaps the others could not
		// write either. Therefore their timeouts start again.
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
			s.log.Warn("node lost, taking over its rooms", "node", n.ID, "last_alive", n.LastAlive)
		}
		err := s.failover(ctx, n, last.seenAt.Add(clusterHeartbeat))
		if !s.logFailure(ctx, "take over rooms of lost node", err, "node", n.ID) && silent >= nodeRemovalDelay {
			s.logFailure(ctx, "delete lost node", s.removeNode(ctx, n.ID), "node", n.ID)
		}
	}
	s.lastSeen = seen
}

func (s *Service) heartbeatInterval() time.Duration {
	if s.options.Clustered {
		return clusterHeartbeat
	}
	return singleNodeHeartbeat
}

func (s *Service) heartbeat(ctx context.Context) {
	s.logFailure(ctx, "write heartbeat", s.writeHeartbeat(ctx))
}

func (s *Service) writeHeartbeat(ctx context.Context) error {
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.RecordHeartbeat(ctx, s.nodeID, s.now()) })
}

// Deregister deletes this node, so that the others do not have to detect that it
// stopped. Call it after the last report of the engine.
func (s *Service) Deregister(ctx context.Context) error { return s.removeNode(ctx, s.nodeID) }
