package room

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
)

// Drain is the request that a node gives its sessions to other nodes. The zero value is none.
type Drain struct {
	StartedAt time.Time
	By        time.Time // when the last session should be handed over; zero in the database if the node is stopping
}

// Active reports whether the node is draining.
func (d Drain) Active() bool { return !d.StartedAt.IsZero() }

// Stopping reports whether the node drains because it is stopping, so that nobody can cancel it.
func (d Drain) Stopping() bool { return d.Active() && d.By.IsZero() }

const (
	// drainInterval is the time between two looks at the sessions of a node that is draining.
	drainInterval = time.Second
	// relayDelay is the time after which a node that is draining ends its first relay. By then a load balancer has
	// noticed that /healthz is 503, so that the pages connect through other nodes.
	relayDelay = 10 * time.Second
	// stopPace is the time for each room of a node that is asked to stop.
	stopPace = 500 * time.Millisecond
	// MaxDrain is the longest time for a drain.
	MaxDrain = 24 * time.Hour
)

var (
	errNodeNotFound = fault.New(fault.NotFound, "node_not_found", "there is no such node: parley node list shows all")
	errNodeStopping = fault.New(fault.Conflict, "node_stopping",
		"the node is stopping: wait until it has stopped, then start it again if you need it")
)

// DrainNode asks a node to give its sessions to other nodes within a time, at most MaxDrain. Meanwhile it hosts no
// new ones, unless no other node can. Errors: NotFound, Conflict if the node is lost, stopping or of an earlier
// release, or if no other node runs.
func (s *Presence) DrainNode(ctx context.Context, nodeID string, within time.Duration) (NodeStatus, error) {
	nodes, err := s.NodeStatuses(ctx)
	if err != nil {
		return NodeStatus{}, err
	}
	i := slices.IndexFunc(nodes, func(n NodeStatus) bool { return n.ID == nodeID })
	switch {
	case i < 0:
		return NodeStatus{}, errNodeNotFound
	case !nodes[i].KnowsDrain:
		return NodeStatus{}, fault.New(fault.Conflict, "node_too_old",
			"the node runs an earlier release, which cannot be drained: stop it, and its pages connect to another node")
	case nodes[i].Lost:
		return NodeStatus{}, fault.New(fault.Conflict, "node_lost",
			"the node is lost: other nodes have taken over its meetings")
	case !hasOtherHost(nodes, nodeID):
		return NodeStatus{}, fault.New(fault.Conflict, "no_other_node",
			"no other node can take the meetings of this node: stop it, and its pages reconnect when it runs again")
	}
	now := s.now()
	return s.changeDrain(ctx, nodeID, Drain{StartedAt: now, By: now.Add(within)}, audit.NodeDraining)
}

// hasOtherHost reports whether a node other than nodeID can host new sessions.
func hasOtherHost(nodes []NodeStatus, nodeID string) bool {
	return slices.ContainsFunc(nodes, func(n NodeStatus) bool { return n.ID != nodeID && !n.Lost && n.canHost() })
}

// DrainToStop begins to drain this node because it is asked to stop. The node hands over a room every stopPace, and
// more at once if it would not be done within the time. HandingOver says when it is done. Nobody can cancel this drain.
// It begins also without rooms, so that a load balancer notices that the node stops. It reports false if no other node
// can take over.
func (s *Presence) DrainToStop(ctx context.Context, within time.Duration) (begun bool, err error) {
	rooms := len(s.localRooms())
	if s.options.RedisAvailable == nil || !s.options.RedisAvailable() {
		return false, nil
	}
	nodes, err := s.NodeStatuses(ctx)
	if err != nil || !hasOtherHost(nodes, s.nodeID) {
		return false, err
	}
	now := s.now()
	d := Drain{StartedAt: now, By: now.Add(min(within, time.Duration(rooms)*stopPace))}
	s.setDrainUntilStop(d) // first, because this node may read at once what it writes
	// The other nodes learn of it, so that two nodes that stop do not give their sessions to each other.
	err = s.store.Write(ctx, func(ctx context.Context) error {
		_, _, err := s.store.SetDrain(ctx, s.nodeID, Drain{StartedAt: now})
		return err
	})
	if err != nil {
		s.setDrainUntilStop(Drain{})
		return false, err
	}
	s.applyDrain(d, true, now)
	return true, nil
}

func (s *Presence) setDrainUntilStop(d Drain) {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	s.draining.untilStop = d
}

// HandingOver reports whether this node still has sessions to hand over, and another node can take them.
func (s *Presence) HandingOver() bool { return s.Draining() && len(s.localRooms()) > 0 }

// CancelDrain makes a node host new sessions again. Errors: NotFound, Conflict if the node is stopping.
func (s *Presence) CancelDrain(ctx context.Context, nodeID string) (NodeStatus, error) {
	return s.changeDrain(ctx, nodeID, Drain{}, audit.NodeDrainCancelled)
}

func (s *Presence) changeDrain(ctx context.Context, nodeID string, d Drain, action audit.Action) (NodeStatus, error) {
	err := s.store.Write(ctx, func(ctx context.Context) error {
		before, found, err := s.store.SetDrain(ctx, nodeID, d)
		switch {
		case err != nil:
			return err
		case !found:
			return errNodeNotFound
		case before.Stopping():
			return errNodeStopping // and the transaction changes nothing
		case before == d:
			return nil
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

// draining is what a node knows about its own drain.
type draining struct {
	mu        sync.Mutex // for all fields; never held during a call of the media engine or the database
	requested Drain      // what the database says
	current   Drain      // what this node does: as requested, or nothing
	since     time.Time  // when this node learned of the request, by its own clock
	checkedAt time.Time  // when the database answered last
	waits     bool       // a drain was requested, and no other node can host
	noNodeAt  time.Time  // when no node could take a session
	roomsDone int        // handed over since the request
	// activeSince is when the drain last became active or the request last changed. relaysDone counts the people whose
	// relays this node has ended since then.
	activeSince time.Time
	relaysDone  int
	untilStop   Drain // of DrainToStop; it has precedence over the database
	stopping    bool  // this node stops; see BeginStop
	// givenAway has the sessions that this node handed over within keepGivenAway, and when.
	givenAway map[string]time.Time
}

const (
	// drainRetry is the time after which a drain goes on for which no other node was found.
	drainRetry = 10 * time.Second
	// keepGivenAway is how long a node knows that it handed over a session: longer than the reports of its
	// participants may be late.
	keepGivenAway = time.Minute
)

// Draining reports whether this node is draining.
func (s *Presence) Draining() bool {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	return s.draining.current.Active()
}

// applyDrain applies what the database says about this node. A drain waits while no other node hosts, because
// then nobody could meet.
func (s *Presence) applyDrain(requested Drain, otherHosts bool, now time.Time) {
	d := &s.draining
	d.mu.Lock()
	if d.untilStop.Active() {
		requested = d.untilStop
	}
	waits := requested.Active() && (!otherHosts || now.Sub(d.noNodeAt) < drainRetry)
	if waits && !d.waits {
		s.log.Warn("drain waits, because no other node can take the meetings")
	}
	isNew := !d.requested.StartedAt.Equal(requested.StartedAt)
	if isNew {
		d.roomsDone, d.since = 0, now
	}
	before := d.current
	d.requested, d.current, d.waits, d.checkedAt = requested, requested, waits, now
	if waits {
		d.current = Drain{}
	}
	active, stopping := d.current.Active(), d.stopping
	if isNew || active && !before.Active() {
		d.relaysDone, d.activeSince = 0, now
	}
	d.mu.Unlock()
	if stopping || before.Active() == active {
		return
	}
	s.media.SetDraining(active)
	if active {
		s.log.Info("draining, other nodes take the meetings", "by", requested.By)
	} else if !waits {
		s.log.Info("not draining any more, hosting new meetings again")
	}
}

// handOver hands over some of the rooms of this node while it is draining, evenly over its time: small rooms
// first, because a mistake then concerns few people. It pauses while the database does not respond, because
// nobody could join again.
func (s *Presence) handOver(ctx context.Context) {
	d, since, done, ok := s.currentDrain()
	if !ok {
		return
	}
	rooms := s.localRooms()
	// The node that took the request may have another clock.
	due := drainBatch(done, len(rooms), s.now().Sub(since), d.By.Sub(d.StartedAt))
	if due == 0 {
		return
	}
	s.sortByPeople(ctx, rooms)
	for _, r := range rooms[:due] {
		if now, _, _, ok := s.currentDrain(); !ok || now != d || ctx.Err() != nil {
			return
		}
		err := s.handOverRoom(ctx, r)
		s.draining.mu.Lock()
		switch {
		case err == nil:
			s.draining.roomsDone++
		case fault.Is(err, fault.Conflict):
			s.draining.noNodeAt = s.now()
		}
		s.draining.mu.Unlock()
		if fault.Is(err, fault.Conflict) {
			return
		}
		s.logFailure(ctx, "hand over room", err, "room_id", r.id) // the next look tries again
	}
}

// endRelays ends the relays of people in sessions of other nodes while this node is draining, evenly over its time,
// and after relayDelay at the earliest. At the end it also ends those that began meanwhile, because some load
// balancers need longer. It leaves those that begin in the last relayDelay: the load balancer goes on to send people
// here, so they would only come back.
func (s *Presence) endRelays(context.Context) {
	d, since, _, ok := s.currentDrain()
	s.draining.mu.Lock()
	start, done := s.draining.activeSince.Add(relayDelay), s.draining.relaysDone
	s.draining.mu.Unlock()
	now := s.now()
	if !ok || now.Before(start) {
		return
	}
	end, begunBefore := since.Add(d.By.Sub(d.StartedAt)), start
	if lastDelay := end.Add(-relayDelay); !now.Before(lastDelay) {
		begunBefore = later(start, lastDelay)
	}
	due := drainBatch(done, s.media.RelayedPeople(begunBefore), now.Sub(start), end.Sub(start))
	if due == 0 {
		return
	}
	s.media.EndRelays(due, begunBefore)
	s.log.Info("ended relays to other nodes", "people", due)
	s.draining.mu.Lock()
	s.draining.relaysDone += due
	s.draining.mu.Unlock()
}

// currentDrain returns the drain of this node, since when it knows of it, and how many rooms were handed over in it.
// It reports false if the node is not draining, stops, or did not hear from the database for a while.
func (s *Presence) currentDrain() (d Drain, since time.Time, rooms int, ok bool) {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	d = s.draining.current
	ok = d.Active() && !s.draining.stopping && s.now().Sub(s.draining.checkedAt) <= nodeTimeout/2
	return d, s.draining.since, s.draining.roomsDone, ok
}

// drainBatch returns how many of the rooms or people that are left must go now, if some are done and a part of the
// whole time has passed.
func drainBatch(done, left int, elapsed, whole time.Duration) int {
	if whole <= 0 || elapsed+drainInterval >= whole {
		return left
	}
	due := int(int64(done+left)*int64(elapsed+drainInterval)/int64(whole)) - done
	return min(max(due, 0), left)
}

// BeginStop says that this node stops. It then neither drains nor reconciles its attendance with the media engine,
// which sends the participants away: they have not lost their connection. Deregister makes up for what the engine does
// not report.
func (s *Presence) BeginStop() {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	s.draining.stopping = true
}

func (s *Presence) isStopping() bool {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	return s.draining.stopping
}

// HandOverAll hands over all sessions of this node to others, if there are any. Call it after BeginStop; pages then
// find the new node at once. It returns when ctx ends, also if the media engine hangs.
func (s *Presence) HandOverAll(ctx context.Context) {
	if s.options.RedisAvailable == nil || !s.options.RedisAvailable() {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.media.SetDraining(true)
		for _, r := range s.localRooms() {
			if ctx.Err() != nil {
				return
			}
			err := s.handOverRoom(ctx, r)
			if fault.Is(err, fault.Conflict) {
				s.log.Info("no other node can take the meetings of this node")
				return
			}
			s.logFailure(ctx, "hand over room", err, "room_id", r.id)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// handOverRoom hands over the sessions of a room. The error is Conflict if no other node can take them.
func (s *Presence) handOverRoom(ctx context.Context, r localRoom) error {
	for _, session := range r.sessions {
		s.giveAway(session) // first, because the reports of its participants follow at once
		if err := s.media.HandOver(ctx, session); err != nil {
			s.keep(session)
			return err
		}
	}
	return nil
}

func (s *Presence) giveAway(session string) {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	now := s.now()
	if s.draining.givenAway == nil {
		s.draining.givenAway = map[string]time.Time{}
	}
	maps.DeleteFunc(s.draining.givenAway, func(_ string, at time.Time) bool { return now.Sub(at) > keepGivenAway })
	s.draining.givenAway[session] = now
}

func (s *Presence) keep(session string) {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	delete(s.draining.givenAway, session)
}

// gaveAway returns when this node handed over a session, if it did so lately, after a connection had joined it.
func (s *Presence) gaveAway(session string, joined time.Time) (at time.Time, ok bool) {
	s.draining.mu.Lock()
	defer s.draining.mu.Unlock()
	at, ok = s.draining.givenAway[session]
	return at, ok && s.now().Sub(at) <= keepGivenAway && joined.Before(at)
}

// localRoom is a room with sessions in this process.
type localRoom struct {
	id       string
	sessions []string // the room and its breakout rooms, which move together
}

// localRooms returns the rooms with sessions in this process, in the order of their IDs.
func (s *Presence) localRooms() (rooms []localRoom) {
	byID := map[string][]string{}
	for _, session := range s.media.LocalSessions() {
		if id, _, ok := ParseSessionID(session); ok { // not of a connection check
			byID[id] = append(byID[id], session)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		rooms = append(rooms, localRoom{id, slices.Sorted(slices.Values(byID[id]))})
	}
	return rooms
}

// sortByPeople sorts rooms by the number of people, the smallest first.
func (s *Presence) sortByPeople(ctx context.Context, rooms []localRoom) {
	people := map[string]int{}
	for _, r := range rooms {
		for _, session := range r.sessions {
			participants, err := s.media.Participants(ctx, session)
			s.logFailure(ctx, "list participants", err, "session", session)
			people[r.id] += len(participants)
		}
	}
	slices.SortStableFunc(rooms, func(a, b localRoom) int { return cmp.Compare(people[a.id], people[b.id]) })
}
