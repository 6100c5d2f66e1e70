package room_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// cluster simulates two nodes on one database. A session is hosted by the node that
// opened it first, and every node can call it. A node that stands still keeps its sessions,
// although the other node may open them again.
type cluster struct {
	db      *store.DB
	project project.Project
	clock   *clock
	nodes   [2]*room.Service

	redisDown [2]atomic.Bool // by node

	mu           sync.Mutex
	sessions     map[string]*hostedSession
	forgotten    [2]map[string]*hostedSession // by node: sessions that the other node has opened again
	reports      []report                     // reports of the engine that are not delivered yet
	moveRequests []string                     // identities that received MessageMove
	stays        []*stay                      // all connections, in their order
	draining     [2]bool                      // by node
	handedOver   []string                     // sessions, in order
	relays       []time.Time                  // of the first node to others, by their begin
	handOverErr  map[string]error             // by session: of each attempt to hand it over
}

// hostedSession is a session in the engine.
type hostedSession struct {
	node         int
	participants map[string]room.Participant // by identity
}

// report is a report of the engine about a participant.
type report struct {
	to       *room.Service // the node that hosts the session
	session  string
	identity string
	sid      string
	at       time.Time
	reason   room.LeaveReason // "" for a join
}

func newCluster(t testing.TB, db *store.DB) *cluster {
	t.Helper()
	c := &cluster{
		db:        db,
		project:   storetest.Project(t, db),
		clock:     &clock{now: time.UnixMilli(1_780_000_000_000).UTC()},
		sessions:  map[string]*hostedSession{},
		forgotten: [2]map[string]*hostedSession{{}, {}},
	}
	for n := range c.nodes {
		c.startNode(t, n)
	}
	return c
}

// startNode replaces a node by a new process. The sessions and undelivered reports of
// the earlier process are lost.
func (c *cluster) startNode(t testing.TB, n int) {
	t.Helper()
	c.stopNode(n)
	s := room.NewService(c.db, nodeMedia{c, n}, func() string { return "https://meet.example.org" }, c.clock.Now,
		storetest.NewID, discardLogger, room.Options{Clustered: true,
			RedisAvailable: func() bool { return !c.redisDown[n].Load() }})
	c.nodes[n] = s
	if err := s.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) stopNode(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.sessions {
		if s.node == n {
			c.endStays(s)
			delete(c.sessions, name)
		}
	}
	for _, s := range c.forgotten[n] {
		c.endStays(s)
	}
	clear(c.forgotten[n])
	c.reports = slices.DeleteFunc(c.reports, func(r report) bool { return r.to == c.nodes[n] })
}

// forget makes the other node open the sessions of a node again, while this one stands still
// and keeps its participants.
func (c *cluster) forget(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.sessions {
		if s.node == n {
			c.forgotten[n][name] = s
			delete(c.sessions, name)
		}
	}
}

// tick advances the clock by a second and runs the background work of these nodes.
func (c *cluster) tick(nodes ...int) {
	ctx := context.Background()
	c.clock.advance(time.Second)
	for _, n := range nodes {
		c.nodes[n].Heartbeat(ctx)
	}
	for _, n := range nodes {
		c.nodes[n].WatchNodes(ctx)
		c.nodes[n].Sweep(ctx)
	}
}

// enterInvited enters as a co-host with a browser and a new link.
func (c *cluster) enterInvited(t *testing.T, node int, id string, browser int, sid string) (
	room.JoinRequest, room.Admission,
) {
	t.Helper()
	link, err := c.nodes[node].Invite(t.Context(), c.project, id, room.Invitation{Role: room.CoHost})
	if err != nil {
		t.Fatal(err)
	}
	v := guest(browser)
	v.LinkToken = linkToken(link)
	return v, c.enter(t, node, id, v, sid)
}

// beginConnection simulates a page whose media is not connected yet.
func (c *cluster) beginConnection(session, identity, sid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[session].participants[identity] = room.Participant{Identity: identity, SID: sid, JoinedAt: c.clock.Now()}
}

// connect simulates a page that connects. An earlier connection of the same identity
// to the same session ends.
func (c *cluster) connect(session, identity, sid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[session]
	if s == nil {
		return false
	}
	c.endConnection(session, identity, room.LeftReplaced)
	p := room.Participant{Identity: identity, SID: sid, JoinedAt: c.clock.Now(), Active: true}
	s.participants[identity] = p
	c.stays = append(c.stays, &stay{session: session, identity: identity, sid: sid, from: p.JoinedAt})
	c.reports = append(c.reports, report{
		to:       c.nodes[s.node],
		session:  session,
		identity: identity,
		sid:      sid,
		at:       p.JoinedAt,
	})
	return true
}

// disconnect simulates a page that disconnects.
func (c *cluster) disconnect(session, identity string, reason room.LeaveReason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endConnection(session, identity, reason)
}

func (c *cluster) endConnection(session, identity string, reason room.LeaveReason) {
	if s := c.sessions[session]; s != nil {
		c.endConnectionIn(s, session, identity, reason)
	}
}

func (c *cluster) endConnectionIn(s *hostedSession, session, identity string, reason room.LeaveReason) {
	if p, in := s.participants[identity]; in {
		delete(s.participants, identity)
		c.stay(p.SID).to = c.clock.Now()
		c.reports = append(c.reports, report{c.nodes[s.node], session, identity, p.SID, c.clock.Now(), reason})
	}
}

// endStays ends the stays in a session whose node has ended.
func (c *cluster) endStays(s *hostedSession) {
	for _, p := range s.participants {
		c.stay(p.SID).to = c.clock.Now()
	}
}

// stay returns a connection, or a new one that nothing refers to if there is none.
func (c *cluster) stay(sid string) *stay {
	i := slices.IndexFunc(c.stays, func(s *stay) bool { return s.sid == sid })
	if i < 0 {
		return &stay{}
	}
	return c.stays[i]
}

// nextReport removes and returns the oldest report.
func (c *cluster) nextReport() (report, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.reports) == 0 {
		return report{}, false
	}
	r := c.reports[0]
	c.reports = c.reports[1:]
	return r, true
}

// deliver delivers all reports to the nodes.
func (c *cluster) deliver() {
	for r, some := c.nextReport(); some; r, some = c.nextReport() {
		r.deliver()
	}
}

func (r report) deliver() {
	if r.reason == "" {
		r.to.ParticipantJoined(r.session, r.identity, r.sid, r.at)
	} else {
		r.to.ParticipantLeft(r.session, r.identity, r.sid, r.at, r.reason)
	}
}

// connectionIDs returns the engine's ids of all connections of a room.
func (c *cluster) connectionIDs(roomID string) (sids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sessions := range append(c.forgotten[:], c.sessions) {
		for name, s := range sessions {
			if id, _, _ := room.ParseSessionID(name); id == roomID {
				for _, p := range s.participants {
					sids = append(sids, p.SID)
				}
			}
		}
	}
	slices.Sort(sids)
	return sids
}

func (c *cluster) isConnected(session, identity string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[session]
	return s != nil && s.participants[identity].Identity != ""
}

// drainMoveRequests returns the identities that received MessageMove since the last
// call.
func (c *cluster) drainMoveRequests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.moveRequests = nil }()
	return c.moveRequests
}

// nodeMedia is the engine as one node sees it.
type nodeMedia struct {
	*cluster
	n int
}

func (m nodeMedia) Open(_ context.Context, s room.MediaSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.Name] != nil {
		return nil
	}
	m.sessions[s.Name] = &hostedSession{m.n, map[string]room.Participant{}}
	if own := m.forgotten[m.n][s.Name]; own != nil { // a node has one session of a name
		m.sessions[s.Name] = own
		delete(m.forgotten[m.n], s.Name)
	}
	return nil
}

func (m nodeMedia) Close(_ context.Context, session string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.session(session); s != nil {
		for identity := range s.participants {
			m.endConnectionIn(s, session, identity, room.LeftRoomOver)
		}
		if s == m.sessions[session] {
			delete(m.sessions, session)
		}
	}
	return nil
}

func (m nodeMedia) LocalSessions() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, sessions := range []map[string]*hostedSession{m.forgotten[m.n], m.sessions} {
		for name := range sessions {
			if s := m.session(name); s != nil && s.node == m.n {
				names = append(names, name)
			}
		}
	}
	return names
}

func (m nodeMedia) SetDraining(draining bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.draining[m.n] = draining
}

func (m nodeMedia) HandOver(_ context.Context, session string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	switch {
	case m.handOverErr[session] != nil:
		return m.handOverErr[session]
	case s == nil || s.node != m.n:
		return nil
	}
	for identity := range s.participants {
		m.endConnectionIn(s, session, identity, room.LeftServer)
	}
	m.sessions[session] = &hostedSession{1 - m.n, map[string]room.Participant{}}
	m.handedOver = append(m.handedOver, session)
	return nil
}

func (m nodeMedia) RelayedPeople(before time.Time) (people int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, began := range m.relays {
		if m.n == 0 && began.Before(before) {
			people++
		}
	}
	return people
}

func (m nodeMedia) EndRelays(n int, before time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.relays = slices.DeleteFunc(m.relays, func(began time.Time) bool {
		n--
		return n >= 0 && began.Before(before)
	})
}

func (m nodeMedia) DropRelayedConnections(string, time.Time) {}

func (m nodeMedia) IsLocal(session string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(session)
	return s != nil && s.node == m.n
}

// session returns a session as the node sees it. The engine closes a forgotten one that is empty.
func (m nodeMedia) session(name string) *hostedSession {
	if s := m.forgotten[m.n][name]; s != nil && len(s.participants) > 0 {
		return s
	}
	return m.sessions[name]
}

func (m nodeMedia) Participants(_ context.Context, session string) (list []room.Participant, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.session(session); s != nil {
		for _, p := range s.participants {
			list = append(list, p)
		}
	}
	return list, nil
}

func (m nodeMedia) Remove(_ context.Context, session, identity string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.session(session); s != nil {
		m.endConnectionIn(s, session, identity, room.LeftRemoved)
	}
	return nil
}

func (m nodeMedia) CloseConnection(session, identity, connection string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.session(session); s != nil && s.node == m.n && s.participants[identity].SID == connection {
		m.endConnectionIn(s, session, identity, room.LeftMoved)
	}
}

func (m nodeMedia) Connection(session, identity string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.session(session); s != nil && s.node == m.n {
		return s.participants[identity].SID
	}
	return ""
}

func (m nodeMedia) IsReporting(connection string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.reports, func(r report) bool { return r.to == m.nodes[m.n] && r.sid == connection })
}

func (m nodeMedia) SendMessage(_ context.Context, session string, identities []string, message room.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if message.Kind == room.MessageMove {
		m.moveRequests = append(m.moveRequests, identities...)
	}
	return nil
}

func (m nodeMedia) Admit(connection string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stay(connection).admitted = true
}

func (nodeMedia) Quality(string, string) room.ConnectionQuality                 { return room.QualityUnknown }
func (nodeMedia) ConnectionType(string, string) room.ConnectionType             { return room.ConnectionUDP }
func (m nodeMedia) AccessToken(room.AccessTokenSpec) (string, error)            { return "token", nil }
func (m nodeMedia) PreflightToken(context.Context, string) (string, error)      { return "token", nil }
func (m nodeMedia) UpdateMetadata(context.Context, string, room.Metadata) error { return nil }
func (m nodeMedia) UpdatePermissions(context.Context, string, string, room.Role, room.Grants) error {
	return nil
}
func (m nodeMedia) Mute(_ context.Context, _ string, identities []string) ([]string, error) {
	return identities, nil
}
