package room

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

// Node is a process that runs this service.
type Node struct {
	ID        string
	Version   string     // of the program; empty for one of an earlier release
	StartedAt time.Time  // zero for a program of an earlier release
	LastAlive time.Time  // last heartbeat, by the node's own clock
	Redis     RedisState // empty for a program of an earlier release
	Drain     Drain      // a heartbeat does not change it
	// RelayedPeople is how many people in sessions of other nodes have their media relayed by this node's TURN server.
	RelayedPeople int
	// Findings is what is wrong with the node, as overview.EncodeFindings writes it; empty for nothing.
	Findings string
	// KnowsDrain says whether its program does what Drain says. Every heartbeat sets it.
	KnowsDrain bool
}

// canHost reports whether new sessions may start on the node, as far as it knows.
func (n Node) canHost() bool { return !n.Drain.Active() && n.Redis != RedisUnavailable }

// RedisState says whether a node reaches Redis.
type RedisState string

// The states of Redis.
const (
	RedisNone        RedisState = "none" // one process without Redis
	RedisOK          RedisState = "ok"
	RedisUnavailable RedisState = "unavailable"
)

// NodeStatus is a node with what it hosts.
type NodeStatus struct {
	Node
	Own  bool // it is this process
	Lost bool // it sends no heartbeats
	NodeLoad
	// ClockOffset is how far the clock of a node is ahead of this node's, to about a
	// second; nil if it is not known.
	ClockOffset *time.Duration
}

// NodeLoad is what a node hosts.
type NodeLoad struct {
	Sessions int // with people, breakout rooms included
	People   int // connections, hidden ones included
}

const (
	singleNodeHeartbeat = 5 * time.Second // interval of heartbeats without a cluster
	clusterHeartbeat    = time.Second     // interval of heartbeats in a cluster
	// nodeTimeout is the time without a heartbeat after which other nodes take over.
	nodeTimeout = 4 * time.Second
	// nodeRemovalDelay is the time without a heartbeat after which a lost node is
	// deleted. Until then it may turn out that the node was only slow.
	nodeRemovalDelay = time.Minute
	// endConnectionsBatch is the number of connections of a lost node that one transaction ends.
	endConnectionsBatch = 25
	// deregisterRetryInterval is the time between attempts to store that this node has stopped.
	deregisterRetryInterval = 200 * time.Millisecond
)

// lastSeen records when this node last saw a new heartbeat of another node. It uses
// only this node's clock, so that clock differences between nodes do not matter.
type lastSeen struct {
	heartbeat time.Time // as written by the other node
	seenAt    time.Time // when this node first saw that heartbeat
	since     time.Time // when this node first saw any heartbeat of the other node
	lost      bool
	rooms     map[string]struct{} // to take over once it is lost; only watchNodes uses it
}

// NodeID returns the id that identifies this process in the cluster.
func (s *Presence) NodeID() string { return s.nodeID }

// Register makes this node known to the others, which take over its rooms if it is lost. Call it before the media
// engine accepts participants, and Recover soon after it, which sends the next heartbeats.
func (s *Presence) Register(ctx context.Context) error { return s.writeHeartbeat(ctx) }

// Recover continues the rooms of an earlier process. It ends the attendance that
// the process recorded, at the process's last heartbeat, holds the seats for
// rejoinTimeout, and opens live sessions in the media engine again under their old
// names. Call it before visitors are served. In a cluster, Run detects lost nodes
// instead.
func (s *Presence) Recover(ctx context.Context) error {
	beating, stop := context.WithCancel(ctx)
	var heartbeats sync.WaitGroup
	heartbeats.Go(func() { s.runEvery(beating, s.heartbeatInterval(), s.heartbeat) })
	defer heartbeats.Wait()
	defer stop()
	if !s.options.Clustered {
		nodes, err := s.store.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.ID == s.nodeID {
				continue
			}
			if err := s.failover(ctx, n, s.now(), map[string]struct{}{}); err != nil {
				return err
			}
			if err := s.removeLostNode(ctx, n); err != nil {
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
// lost node. A failure in one room does not stop the others. rooms are the rooms to take over. The caller keeps it
// between attempts, because the attendance no longer shows a room after the first step, here or on another node.
// failover removes each room that is done.
func (s *Presence) failover(ctx context.Context, lost Node, silentSince time.Time, rooms map[string]struct{}) error {
	failed := s.addRoomsOf(ctx, lost, rooms)
	for _, id := range slices.Sorted(maps.Keys(rooms)) {
		err := s.failoverRoom(ctx, lost, silentSince, id)
		if err == nil || fault.Is(err, fault.NotFound) {
			delete(rooms, id)
			continue
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// addRoomsOf adds the rooms in which a node has participants.
func (s *Presence) addRoomsOf(ctx context.Context, n Node, rooms map[string]struct{}) error {
	ids, err := s.store.RoomsOfNode(ctx, n.ID)
	for _, id := range ids {
		rooms[id] = struct{}{}
	}
	return err
}

func (s *Presence) failoverRoom(ctx context.Context, lost Node, silentSince time.Time, id string) error {
	err := s.endConnectionsOf(ctx, lost.ID, id, func(Attendance) time.Time { return lost.LastAlive })
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

// endConnectionsOf ends the attendance in a room that a node recorded and that has no end, at the time that leftAt
// returns. It uses short transactions, because those of a large room would exceed the write timeout, and the people who
// return need the room.
func (s *Presence) endConnectionsOf(
	ctx context.Context, nodeID, roomID string, leftAt func(Attendance) time.Time,
) error {
	for more := true; more; {
		err := s.updateRoom(ctx, roomID, func(ctx context.Context, r *Room, now time.Time) error {
			present, err := s.store.CurrentAttendance(ctx, r.ID)
			if err != nil {
				return err
			}
			present = slices.DeleteFunc(present, func(a Attendance) bool { return a.Node != nodeID })
			if more = len(present) > endConnectionsBatch; more {
				present = present[:endConnectionsBatch]
			}
			for _, a := range present {
				if err := s.endConnection(ctx, r, a, leftAt(a), now, LeftServer); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mustAwaitNodes reports whether a room whose duration ended at deadline must stay open for now. It
// must if another node has participants there and this node has not yet seen it alive after the
// deadline. Either that node's next heartbeat arrives, or failover ends its attendance at its last
// heartbeat.
func (s *core) mustAwaitNodes(ctx context.Context, r *Room, deadline time.Time) (bool, error) {
	if !s.options.Clustered {
		return false, nil
	}
	present, err := s.store.CurrentAttendance(ctx, r.ID)
	if err != nil {
		return false, err
	}
	seen := s.seenNodes.Load()
	return slices.ContainsFunc(present, func(a Attendance) bool {
		if a.Node == s.nodeID {
			return false
		}
		if seen == nil {
			return true // this process has just started
		}
		// The first heartbeat that this process reads may be old, so it proves nothing. A missing
		// entry means that the node is not lost, because a lost node keeps its entry while it has
		// attendance.
		last, listed := (*seen)[a.Node]
		return listed && (last.lost || last.since.Equal(last.seenAt) || last.seenAt.Before(deadline))
	}), nil
}

// removeLostNode deletes a node that did not deregister, unless it has unended
// attendance, and records the loss for the audit log. Of several nodes that notice the
// loss, only one deletes the node.
func (s *Presence) removeLostNode(ctx context.Context, lost Node) error {
	ctx = audit.WithOrigin(ctx, audit.Origin{Kind: audit.KindService, Node: s.nodeID})
	return s.store.Write(ctx, func(ctx context.Context) error {
		removed, err := s.store.RemoveNode(ctx, lost.ID)
		if err != nil || !removed {
			return err
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{Action: audit.NodeLost, Subject: lost.ID,
			Before: audit.Fields{"last_alive": audit.Timestamp(lost.LastAlive)}})
	})
}

// watchNodes detects lost nodes by their missing heartbeats and takes over their
// rooms.
func (s *Presence) watchNodes(ctx context.Context) {
	now := s.now()
	nodes, err := s.store.Nodes(ctx)
	if s.logFailure(ctx, "list nodes", err) {
		return
	}
	// This node could not read for a while, and perhaps the others could not
	// write either. Therefore their timeouts start again.
	restart := now.Sub(s.lastWatch) >= nodeTimeout/2
	s.lastWatch = now
	read := s.now()
	seen, requested, otherHosts := map[string]*lastSeen{}, Drain{}, false
	for _, n := range nodes {
		if n.ID == s.nodeID {
			requested = n.Drain
			continue
		}
		s.store.RaiseClockAhead(n.LastAlive.Sub(read))
		last := s.lastSeen[n.ID]
		if last == nil || restart || !last.heartbeat.Equal(n.LastAlive) {
			next := &lastSeen{heartbeat: n.LastAlive, seenAt: now, since: now, rooms: map[string]struct{}{}}
			if last != nil && !restart {
				next.since = last.since
			}
			if last != nil && last.heartbeat.Equal(n.LastAlive) {
				next.rooms = last.rooms // of a takeover that is not finished
			}
			last = next
		}
		seen[n.ID] = last
		silent := now.Sub(last.seenAt)
		otherHosts = otherHosts || silent < nodeTimeout/2 && n.canHost()
		if silent < nodeTimeout {
			// Another node may take over first, and end the attendance that shows these rooms.
			if silent >= nodeTimeout/2 {
				s.logFailure(ctx, "list rooms of silent node", s.addRoomsOf(ctx, n, last.rooms), "node", n.ID)
			}
			continue
		}
		if !last.lost {
			last.lost = true
			s.log.Warn("node lost, taking over its rooms", "node", n.ID, "last_alive", n.LastAlive)
		}
		err := s.failover(ctx, n, last.seenAt.Add(clusterHeartbeat), last.rooms)
		if !s.logFailure(ctx, "take over rooms of lost node", err, "node", n.ID) && silent >= nodeRemovalDelay {
			s.logFailure(ctx, "delete lost node", s.removeLostNode(ctx, n), "node", n.ID)
		}
	}
	s.lastSeen = seen
	s.publishSeen()
	s.applyDrain(requested, otherHosts, now)
}

// publishSeen publishes a copy of lastSeen for other goroutines.
func (s *Presence) publishSeen() {
	seen := map[string]lastSeen{}
	for id, last := range s.lastSeen {
		seen[id] = *last
	}
	s.seenNodes.Store(&seen)
}

// silentSince returns the last heartbeat of another node, and whether the node has written
// none since for so long that it is probably lost.
func (s *Presence) silentSince(nodeID string, now time.Time) (alive time.Time, silent bool) {
	seen := s.seenNodes.Load()
	if seen == nil {
		return time.Time{}, false
	}
	last, known := (*seen)[nodeID]
	return last.heartbeat, known && now.Sub(last.seenAt) >= nodeTimeout/2
}

func (s *Presence) heartbeatInterval() time.Duration {
	if s.options.Clustered {
		return clusterHeartbeat
	}
	return singleNodeHeartbeat
}

// heartbeat writes a heartbeat, and logs when the database answers again, so that the log has both ends of an outage.
// The end is a warning like the beginning, so that no level of the log shows only one of them.
func (s *Presence) heartbeat(ctx context.Context) {
	now := s.now()
	err := s.writeHeartbeat(ctx)
	s.logFailure(ctx, "write heartbeat", err)
	switch failing := s.failingSince.Load(); {
	case failing == nil && fault.Is(err, fault.Unavailable) && ctx.Err() == nil:
		s.failingSince.Store(&now)
	case failing != nil && err == nil:
		s.failingSince.Store(nil)
		s.log.Warn("the database accepts writes again", "failed_since", failing.UTC())
	}
}

func (s *Presence) writeHeartbeat(ctx context.Context) error {
	n := Node{
		ID:            s.nodeID,
		Version:       s.options.Version,
		StartedAt:     s.startedAt,
		LastAlive:     s.now(),
		Redis:         RedisNone,
		RelayedPeople: s.media.RelayedPeople(s.now()),
	}
	if s.options.RedisAvailable != nil {
		if n.Redis = RedisUnavailable; s.options.RedisAvailable() {
			n.Redis = RedisOK
		}
	}
	if s.options.Findings != nil {
		n.Findings = s.options.Findings()
	}
	return s.store.Write(ctx, func(ctx context.Context) error { return s.store.RecordHeartbeat(ctx, n) })
}

// NodeStatuses returns the nodes in the order of their IDs, also those that were lost
// lately.
func (s *Presence) NodeStatuses(ctx context.Context) ([]NodeStatus, error) {
	nodes, err := s.store.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	load, err := s.store.NodeLoads(ctx)
	if err != nil {
		return nil, err
	}
	seen := s.seenNodes.Load()
	all := make([]NodeStatus, 0, len(nodes))
	for _, n := range nodes {
		status := NodeStatus{Node: n, Own: n.ID == s.nodeID, NodeLoad: load[n.ID]}
		if seen != nil {
			if last, known := (*seen)[n.ID]; known {
				status.Lost = last.lost
				if !last.lost && !last.since.Equal(last.seenAt) {
					status.ClockOffset = new(last.heartbeat.Sub(last.seenAt))
				}
			}
		}
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b NodeStatus) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Deregister stores the reports that wait for the database, ends the attendance whose end the engine did not report,
// and deletes this node, so that the others do not have to detect that it stopped. While the database is
// unavailable, it tries again until ctx ends. Call it after the last report of the engine.
func (s *Presence) Deregister(ctx context.Context) error {
	retry := time.NewTicker(deregisterRetryInterval)
	defer retry.Stop()
	for {
		err := s.deregister(ctx)
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-retry.C:
		}
	}
}

func (s *Presence) deregister(ctx context.Context) error {
	if err := s.flushReports(ctx); err != nil {
		return err
	}
	stoppedAt := s.now()
	rooms, err := s.store.RoomsOfNode(ctx, s.nodeID)
	if err != nil {
		return err
	}
	for _, id := range rooms {
		err := s.endConnectionsOf(ctx, s.nodeID, id, func(a Attendance) time.Time {
			if at, gave := s.gaveAway(SessionID(id, a.Session), a.JoinedAt); gave {
				return at
			}
			return stoppedAt
		})
		if err != nil {
			return err
		}
	}
	return s.store.Write(ctx, func(ctx context.Context) error {
		_, err := s.store.RemoveNode(ctx, s.nodeID)
		return err
	})
}
