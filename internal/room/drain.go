package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

// Drain is the request that a node gives its sessions to other nodes. The zero value is none.
type Drain struct {
	StartedAt time.Time
	By        time.Time // when the last session should be handed over
}

// Active reports whether the node is draining.
func (d Drain) Active() bool { return !d.StartedAt.IsZero() }

const (
	// drainInterval is the time between two looks at the sessions of a node that is draining.
	drainInterval = time.Second
	// MaxDrain is the longest time for a drain.
	MaxDrain = 24 * time.Hour
)

var errNodeNotFound = fault.New(fault.NotFound, "node_not_found", "there is no such node: parley node list shows all")

// DrainNode asks a node to give its sessions to other nodes within a time. Meanwhile it hosts no new ones.
// Errors: Invalid, NotFound, Conflict if no other node runs.
func (s *Presence) DrainNode(ctx context.Context, nodeID string, within time.Duration) (NodeStatus, error) {
	if within < 0 || within > MaxDrain {
		return NodeStatus{}, fault.Invalidf("within must be between 0 and %d seconds", int(MaxDrain.Seconds()))
	}
	nodes, err := s.NodeStatuses(ctx)
	if err != nil {
		return NodeStatus{}, err
	}
	canHost := func(n NodeStatus) bool { return n.ID != nodeID && !n.Lost && !n.Drain.Active() }
	switch {
	case !slices.ContainsFunc(nodes, func(n NodeStatus) bool { return n.ID == nodeID }):
		return NodeStatus{}, errNodeNotFound
	case !slices.ContainsFunc(nodes, canHost):
		return NodeStatus{}, fault.New(fault.Conflict, "no_other_node",
			"no other node can take the meetings of this node: stop it, and its pages reconnect when it runs again")
	}
	now := s.now()
	return s.changeDrain(ctx, nodeID, Drain{StartedAt: now, By: now.Add(within)}, audit.NodeDraining)
}

// CancelDrain makes a node host new sessions again. Errors: NotFound.
func (s *Presence) CancelDrain(ctx context.Context, nodeID string) (NodeStatus, error) {
	return s.changeDrain(ctx, nodeID, Drain{}, audit.NodeDrainCancelled)
}

func (s *Presence) changeDrain(ctx context.Context, nodeID string, d Drain, action audit.Action) (NodeStatus, error) {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		before, found, err := s.store.SetDrain(ctx, nodeID, d)
		if err != nil {
			return err
		}
		if !found {
			return errNodeNotFound
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{Action: action, Subject: nodeID,
			Before: drainFields(before), After: drainFields(d)})
	})
	if err != nil {
		return NodeStatus{}, err
	}
	nodes, err := s.NodeStatuses(ctx)
	if err != nil {
		return NodeStatus{}, err
	}
	i := slices.IndexFunc(nodes, func(n NodeStatus) bool { return n.ID == nodeID })
	if i < 0 {
		return NodeStatus{}, errNodeNotFound
	}
	return nodes[i], nil
}

// drainFields returns the fields of a drain for the audit log.
func drainFields(d Drain) audit.Fields {
	if !d.Active() {
		return audit.Fields{"draining": false}
	}
	return audit.Fields{"draining": true, "by": audit.Timestamp(d.By)}
}

// Draining reports whether this node is draining.
func (s *Presence) Draining() bool { return s.ownDrain().Active() }

// ownDrain returns the drain of this node.
func (s *Presence) ownDrain() Drain {
	if d := s.drain.Load(); d != nil {
		return *d
	}
	return Drain{}
}

// applyDrain applies what the database says about this node. A drain waits while no other node hosts, because
// then nobody could meet.
func (s *Presence) applyDrain(requested Drain, otherHosts bool, now time.Time) {
	s.drainMu.Lock()
	defer s.drainMu.Unlock()
	s.drainCheckedAt = now
	waits := requested.Active() && !otherHosts
	if waits && !s.drainWaits {
		s.log.Warn("drain waits, because no other node can take the meetings")
	}
	s.drainWaits = waits
	if waits {
		requested = Drain{}
	}
	before := s.ownDrain()
	s.drain.Store(&requested)
	if before.Active() == requested.Active() {
		return
	}
	s.handedOver = 0
	s.media.SetDraining(requested.Active())
	if requested.Active() {
		s.log.Info("draining, other nodes take the meetings", "by", requested.By)
	} else {
		s.log.Info("not draining any more, hosting new meetings again")
	}
}

// handOver hands over some of the rooms of this node while it is draining, evenly over its time: small rooms
// first, because a mistake then concerns few people. It pauses while the database does not respond, because
// nobody could join again.
func (s *Presence) handOver(ctx context.Context) {
	s.drainMu.Lock()
	defer s.drainMu.Unlock()
	d, now := s.ownDrain(), s.now()
	if !d.Active() || now.Sub(s.drainCheckedAt) > nodeTimeout/2 {
		return
	}
	rooms := s.localRooms(ctx)
	for _, r := range rooms[:drainBatch(s.handedOver, len(rooms), now.Sub(d.StartedAt), d.By.Sub(d.StartedAt))] {
		if !s.handOverRoom(ctx, r) {
			return // the next look tries again
		}
		s.handedOver++
	}
}

// drainBatch returns how many of the rooms that are left to hand over now, when some were handed over and a
// part of the whole time has passed.
func drainBatch(done, left int, elapsed, whole time.Duration) int {
	if elapsed+drainInterval >= whole {
		return left
	}
	due := int(int64(done+left)*int64(elapsed+drainInterval)/int64(whole)) - done
	return min(max(due, 0), left)
}

// HandOverAll hands over all sessions of this node, because it stops. Pages then find the new node at once. It
// returns when ctx ends, also if the media engine hangs.
func (s *Presence) HandOverAll(ctx context.Context) {
	if !s.options.Clustered {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.media.SetDraining(true)
		for _, r := range s.localRooms(ctx) {
			if ctx.Err() != nil || !s.handOverRoom(ctx, r) {
				return
			}
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// localRoom is a room with sessions in this process.
type localRoom struct {
	id       string
	sessions []string // the room and its breakout rooms, which move together
	people   int
}

// localRooms returns the rooms with sessions in this process, the smallest first.
func (s *Presence) localRooms(ctx context.Context) []localRoom {
	byID := map[string]*localRoom{}
	for _, session := range s.media.LocalSessions() {
		id, _, ok := ParseSessionID(session)
		if !ok {
			continue // of connection checks
		}
		r := byID[id]
		if r == nil {
			r = &localRoom{id: id}
			byID[id] = r
		}
		people, err := s.media.Participants(ctx, session)
		s.logFailure(ctx, "list participants", err, "session", session)
		r.sessions, r.people = append(r.sessions, session), r.people+len(people)
	}
	rooms := make([]localRoom, 0, len(byID))
	for _, r := range byID {
		slices.Sort(r.sessions)
		rooms = append(rooms, *r)
	}
	slices.SortFunc(rooms, func(a, b localRoom) int {
		return cmp.Or(cmp.Compare(a.people, b.people), cmp.Compare(a.id, b.id))
	})
	return rooms
}

// handOverRoom hands over the sessions of a room. It reports false if that failed, or if no other node runs.
func (s *Presence) handOverRoom(ctx context.Context, r localRoom) bool {
	for _, session := range r.sessions {
		err := s.media.HandOver(ctx, session)
		if fault.Is(err, fault.Conflict) || s.logFailure(ctx, "hand over session", err, "session", session) {
			return false
		}
	}
	return true
}
