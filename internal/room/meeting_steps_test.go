package room_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/seal"
)

// reserveSeat reserves a seat.
func (m *meeting) reserveSeat(rt *rapid.T) { m.reserve(rt, m.page(rt), m.link(rt)) }

// joinAndDeliver reserves a seat, connects and delivers the report.
func (m *meeting) joinAndDeliver(rt *rapid.T) {
	p := m.page(rt)
	if m.reserve(rt, p, m.link(rt)) {
		m.join(rt, p)
		m.deliver()
	}
}

func (m *meeting) reserve(rt *rapid.T, p *page, l *invitation) bool {
	v := guest(p.n)
	want := m.expectedLinkStatus(l, p)
	if l != nil {
		v.LinkToken = l.token
	}
	seats := m.isKnown(rt, p)
	a, err := m.node(rt).ReserveSeat(context.Background(), m.id, v)
	if code := fault.From(err).Code; err != nil &&
		(code == "room_full" || code == "room_ended" || code == "removed" && len(m.removed) > 0 ||
			code == "turned_away" && m.locked) {
		return false
	}
	if err != nil {
		rt.Fatal(err)
	}
	if a.LinkStatus != want {
		rt.Fatalf("the link is %q, want %q", a.LinkStatus, want)
	}
	vouched := want == room.LinkOK && (l.role != room.Guest || l.single || l.user != "" || l.hidden)
	if waits := a.RetryAfter > 0; waits != (m.locked && !seats && !vouched) {
		rt.Fatalf("visitor waits: got %v, want %v (waiting room on: %v, has a seat: %v, link %+v with status %q)", waits,
			m.locked && !seats && !vouched, m.locked, seats, l, want)
	}
	if a.RetryAfter > 0 {
		return false
	}
	if m.removed[a.Seat.ID] {
		rt.Fatalf("removed participant %s: got an admission, want the error removed", a.Seat.ID)
	}
	role := room.Guest
	if want == room.LinkOK {
		role = l.role
		if l.single {
			l.redeemedBy = p.n
		}
		if seat, known := m.users[l.user]; l.user != "" && known && seat != a.Seat.ID {
			rt.Fatalf("seat of user %s: got %s, want %s", l.user, a.Seat.ID, seat)
		} else if l.user != "" {
			m.users[l.user] = a.Seat.ID
		}
		if a.Seat.Hidden != l.hidden {
			rt.Fatalf("hidden: %v, want %v", a.Seat.Hidden, l.hidden)
		}
	}
	before := m.roles[a.Seat.ID]
	if rank(a.Seat.Role) < max(rank(role), rank(before)) || want != room.LinkOK && before != "" && a.Seat.Role != before ||
		want != room.LinkOK && before == "" && a.Seat.Role != room.Guest {
		rt.Fatalf("role: got %q, want at least %q of the link (status %q) and the previous role %q; "+
			"without a valid link, want exactly the previous role, or guest if there is none", a.Seat.Role, role, want, before)
	}
	m.roles[a.Seat.ID] = a.Seat.Role
	p.identity, p.session = a.Seat.ID, a.SessionID
	return true
}

func rank(r room.Role) int { return slices.Index([]room.Role{room.Guest, room.CoHost, room.Host}, r) }

func (m *meeting) connect(rt *rapid.T) { m.join(rt, m.page(rt)) }

// join connects with the latest access token, if the server still allows it. A page leaves
// its other session before or after it connects, or ignores that it should.
func (m *meeting) join(rt *rapid.T, p *page) { m.joinThrough(rt, m.node(rt), p) }

func (m *meeting) joinThrough(rt *rapid.T, n *room.Service, p *page) {
	if p.session == "" {
		return
	}
	if allowed, err := n.Authorize(context.Background(), p.session, p.identity); err != nil {
		rt.Fatal(err)
	} else if !allowed.Admitted {
		return
	}
	m.sids++
	sid := fmt.Sprintf("PA_%s_%d", m.id, m.sids)
	leaves := rapid.SampledFrom([]string{"first", "then", "never"}).Draw(rt, "leaves the other session")
	in, as := p.joinedSession, p.joinedIdentity
	if leaves == "first" {
		m.disconnect(in, as, room.LeftByChoice)
	}
	if m.cluster.connect(p.session, p.identity, sid) {
		p.joinedSession, p.joinedIdentity = p.session, p.identity
	}
	if leaves == "then" && (in != p.joinedSession || as != p.joinedIdentity) {
		m.disconnect(in, as, room.LeftByChoice)
	}
}

func (m *meeting) leave(rt *rapid.T) {
	p := m.page(rt)
	m.disconnect(p.joinedSession, p.joinedIdentity,
		rapid.SampledFrom([]room.LeaveReason{room.LeftByChoice, room.LeftLost}).Draw(rt, "reason"))
}

func (m *meeting) deliverOne(*rapid.T) {
	if r, some := m.nextReport(); some {
		r.deliver()
	}
}

// dropReport loses a report.
func (m *meeting) dropReport(*rapid.T) { m.nextReport() }

func (m *meeting) openBreakouts(rt *rapid.T) {
	p := m.page(rt)
	seat := m.seatOf(rt, p)
	_, err := m.node(rt).OpenBreakouts(context.Background(), m.id, guest(p.n).SeatKey,
		room.OpenBreakoutsRequest{Names: []string{"A", "B"}[:rapid.IntRange(1, 2).Draw(rt, "rooms")], DistributeEvenly: true})
	m.assertAllowed(rt, seat, err, "too_many_breakouts")
}

// assertAllowed fails unless err matches the caller's role.
func (m *meeting) assertAllowed(rt *rapid.T, seat room.Seat, err error, besides ...string) {
	code := ""
	if err != nil {
		code = fault.From(err).Code
	}
	switch {
	case code == "room_ended" || slices.Contains(besides, code):
	case seat.ID == "":
		if code != "not_in_room" {
			rt.Fatalf("action by a visitor without a seat: got error %v, want not_in_room", err)
		}
	case seat.Role == room.Guest != (code == "not_host"):
		rt.Fatalf("action by a participant with role %s: got error %v, want not_host for guests only", seat.Role, err)
	case code != "" && code != "not_host":
		rt.Fatalf("action by a participant with role %s: got error %v, want none or not_host", seat.Role, err)
	}
}

func (m *meeting) move(rt *rapid.T) {
	p, who := m.page(rt), m.page(rt)
	err := m.node(rt).Move(context.Background(), m.id, guest(p.n).SeatKey, who.identity,
		rapid.IntRange(0, 3).Draw(rt, "to"))
	if err == nil || fault.Is(err, fault.Forbidden) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Gone) {
		return
	}
	rt.Fatalf("move: got error %v, want none, Forbidden, NotFound or Gone", err)
}

// followMoves moves the pages that received MessageMove.
func (m *meeting) followMoves(rt *rapid.T) {
	for _, identity := range m.drainMoveRequests() {
		for _, p := range m.browsers {
			if p.joinedIdentity == identity && p.identity == identity && m.isConnected(p.joinedSession, identity) {
				if m.seatOf(rt, p).ID != identity {
					continue // taken over in another browser
				}
				if !m.reserve(rt, p, nil) && !m.removed[identity] {
					rt.Fatalf("move of participant %s: got no seat, want one", identity)
				}
				m.join(rt, p)
			}
		}
	}
}

// closeBreakouts closes the breakout rooms and checks that no participant loses the
// seat, in whatever order reports arrive.
func (m *meeting) closeBreakouts(rt *rapid.T) {
	p := m.page(rt)
	if rapid.Bool().Draw(rt, "all is heard of") {
		m.deliver()
	}
	taken := map[string]bool{}
	for _, other := range m.browsers {
		// A seat that is not held any more goes, also if its first connection is not reported yet.
		seat := m.seatOf(rt, other)
		kept := seat.Connection != "" || seat.HeldUntil.After(m.clock.Now())
		if kept && m.isConnected(other.joinedSession, seat.ID) && other.joinedIdentity == seat.ID {
			taken[seat.ID] = seat.State == room.Joined
		}
	}
	seat := m.seatOf(rt, p)
	err := m.node(rt).CloseBreakouts(context.Background(), m.id, guest(p.n).SeatKey)
	m.assertAllowed(rt, seat, err)
	if err != nil {
		return
	}
	before := len(m.reports)
	m.nodes[0].Sweep(context.Background())
	for _, r := range m.reports[before:] {
		r.deliver()
	}
	m.reports = m.reports[:before]
	if m.room(rt).Over() { // it was open for a day
		return
	}
	for id := range taken {
		if seat, err := m.db.Seat(context.Background(), m.id, id); err != nil || taken[id] && seat.State == room.Free ||
			seat.Breakout != 0 {
			rt.Fatalf("seat after the breakout rooms closed: got %+v, error %v, want no breakout room and state other than %s "+
				"(was joined: %v)", seat, err, room.Free, taken[id])
		}
	}
}

// remove removes a participant and checks that all their attendance has ended, even
// before the engine reports it.
func (m *meeting) remove(rt *rapid.T) {
	p, who := m.page(rt), m.page(rt)
	if m.node(rt).Remove(context.Background(), m.id, guest(p.n).SeatKey, who.identity) != nil {
		return
	}
	m.removed[who.identity] = true
	present, err := m.db.CurrentAttendance(context.Background(), m.id)
	if err != nil {
		rt.Fatal(err)
	}
	for _, a := range present {
		if a.SeatID == who.identity {
			rt.Fatalf("current attendance of the removed participant %s: got %+v, want none", who.identity, a)
		}
	}
}

func (m *meeting) readmit(rt *rapid.T) {
	p, who := m.page(rt), m.page(rt)
	if m.node(rt).Readmit(context.Background(), m.id, guest(p.n).SeatKey, who.identity) == nil {
		delete(m.removed, who.identity)
	}
}

// seatOf returns the seat of a browser, without an id if it has none.
func (m *meeting) seatOf(rt *rapid.T, p *page) room.Seat {
	seat, err := m.db.SeatByKey(context.Background(), m.id, seal.Hash(guest(p.n).SeatKey))
	if err != nil && !fault.Is(err, fault.NotFound) {
		rt.Fatal(err)
	}
	if err != nil || seat.State == room.Free {
		return room.Seat{}
	}
	return seat
}

func (m *meeting) tick(*rapid.T) { m.cluster.tick(0, 1) }

func (m *meeting) reconcile(rt *rapid.T) { m.node(rt).Reconcile(context.Background()) }

func (m *meeting) enforcePlacement(rt *rapid.T) { m.node(rt).EnforcePlacement(context.Background()) }

func (m *meeting) advanceClock(rt *rapid.T) {
	m.clock.advance(rapid.SampledFrom([]time.Duration{time.Second, 31 * time.Second, time.Minute}).Draw(rt, "for"))
}

// crash replaces a node by a new process.
func (m *meeting) crash(rt *rapid.T) { m.startNode(m.t, rapid.IntRange(0, 1).Draw(rt, "node")) }

// stall stops a node for so long that the other considers it lost. Then the node
// continues and delivers its late reports.
func (m *meeting) stall(rt *rapid.T) {
	n := rapid.IntRange(0, 1).Draw(rt, "node")
	for range int(room.NodeTimeout/time.Second) + 3 {
		m.cluster.tick(1 - n)
	}
}

// standStill stops a node for so long that the other takes over. The node keeps its
// connections, and some of its pages connect to the other node. Then it goes on.
func (m *meeting) standStill(rt *rapid.T) {
	n := rapid.IntRange(0, 1).Draw(rt, "node")
	m.forget(n)
	for range int(room.NodeTimeout/time.Second) + 3 {
		m.cluster.tick(1 - n)
	}
	for _, p := range m.browsers {
		if rapid.Bool().Draw(rt, "connects again") {
			m.joinThrough(rt, m.nodes[1-n], p)
		}
	}
	m.nodes[n].Heartbeat(context.Background())
	m.nodes[n].Reconcile(context.Background()) // Run does so after it stood still
}

// handOver makes a node hand over its sessions, as before it stops.
func (m *meeting) handOver(rt *rapid.T) { m.node(rt).HandOverAll(context.Background()) }

func (m *meeting) end(rt *rapid.T) {
	skipMostly(rt)
	p := m.page(rt)
	seat := m.seatOf(rt, p)
	err := m.node(rt).EndByHost(context.Background(), m.id, guest(p.n).SeatKey)
	if err == nil && seat.Role != room.Host {
		rt.Fatalf("end of the room by %+v: got no error, want one, because only a host may end it", seat)
	}
}

// converge delivers all reports and reconciles all nodes.
func (m *meeting) converge(rt *rapid.T) {
	m.deliver()
	for range int(room.NodeTimeout/time.Second) + 3 {
		m.cluster.tick(0, 1)
	}
	for range 3 {
		for _, n := range m.nodes {
			n.Reconcile(context.Background())
		}
		m.deliver()
		for range 5 {
			m.cluster.tick(0, 1)
			m.cluster.tick(0, 1)
			for _, n := range m.nodes {
				n.EnforcePlacement(context.Background())
			}
			m.deliver()
		}
	}
	m.check(rt)
	m.mu.Lock()
	sessions := map[string]string{} // by identity
	for name, s := range m.sessions {
		for identity := range s.participants {
			if other, twice := sessions[identity]; twice {
				rt.Fatalf("%s is connected to %s and to %s, want one session", identity, other, name)
			}
			sessions[identity] = name
		}
	}
	m.mu.Unlock()
	present, err := m.db.CurrentAttendance(context.Background(), m.id)
	if err != nil {
		rt.Fatal(err)
	}
	var sids []string
	visible := map[string]bool{}
	for _, a := range present {
		sids = append(sids, engineConnectionID(a.Connection))
		if !a.Hidden {
			visible[a.SeatID] = true
		}
	}
	slices.Sort(sids)
	for _, a := range present {
		if m.removed[a.SeatID] {
			rt.Fatalf("current attendance of the removed participant %s: got %+v, want none", a.SeatID, a)
		}
	}
	if in := m.connectionIDs(m.id); !slices.Equal(sids, in) {
		rt.Fatalf("connections in the current attendance: got %v, want those in the engine: %v", sids, in)
	}
	if len(visible) > m.max {
		rt.Fatalf("visible participants: got %d, want at most %d", len(visible), m.max)
	}
}
