package room_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// People are moved between rooms at random on two nodes that crash and stand still, messages to
// pages are lost, and pages do not obey. Nobody is connected twice, or elsewhere than assigned,
// for more than ten seconds; attendance never overlaps; and as long as both nodes run, usage is
// the sum of the stays that the engine saw.
func TestPlacement(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.allowHidden(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlacements(t, rt, c)
		rt.Repeat(map[string]func(*rapid.T){
			"come":            p.joinAndDeliver,
			"come, too":       p.joinAndDeliver,
			"connect":         p.connect,
			"say goodbye":     p.leave,
			"hear":            p.deliverOne,
			"open breakouts":  p.openBreakouts,
			"move":            p.move,
			"move to and fro": p.move,
			"obey":            p.followMoves,
			"lose messages":   func(*rapid.T) { p.drainMoveRequests() },
			"close breakouts": p.closeBreakouts,
			"remove":          p.remove,
			"readmit":         p.readmit,
			"seconds pass":    p.pass,
			"crash":           p.crashRarely,
			"stand still":     p.standStillRarely,
			"end":             p.endAtOnce,
			"":                p.check,
		})
		for range maxElsewhere + 2 {
			p.second(rt)
		}
		p.converge(rt)
	})
}

// maxElsewhere is how many seconds a connection may last that is not the one of its seat.
const maxElsewhere = 10

// placements are a meeting with the stays of its participants, as the engine sees them.
type placements struct {
	*meeting
	began     time.Time
	seconds   int
	exact     bool           // both nodes have run since the beginning
	elsewhere map[string]int // seconds for which a connection has not been the one of its seat
}

func newPlacements(t *testing.T, rt *rapid.T, c *cluster) *placements {
	// The rooms of earlier checks are over a day later. Usage is counted from a full hour.
	start := c.clock.Now().Add(26 * time.Hour).Truncate(time.Hour)
	c.clock.advance(start.Sub(c.clock.Now()) - 2*time.Second)
	for range 2 { // the nodes must see each other alive
		c.tick(0, 1)
	}
	c.deliver()
	p := &placements{meeting: newMeeting(t, rt, c, c.project), exact: true, elsewhere: map[string]int{},
		began: c.clock.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stays = nil
	return p
}

func (p *placements) pass(rt *rapid.T) {
	for range rapid.IntRange(1, 12).Draw(rt, "seconds") {
		p.second(rt)
	}
}

// second lets a second pass, with what the nodes do in it.
func (p *placements) second(rt *rapid.T) {
	p.cluster.tick(0, 1)
	p.deliver()
	p.seconds++
	for _, n := range p.nodes {
		n.EnforcePlacement(context.Background())
		n.Recheck(context.Background())
		if p.seconds%10 == 0 {
			n.Reconcile(context.Background())
		}
	}
	p.deliver()
	p.checkPlacement(rt)
	p.checkUsage(rt)
}

// checkPlacement fails if a connection has not been the one of its seat for too long: the
// newest one, in the session that the seat is assigned to.
func (p *placements) checkPlacement(rt *rapid.T) {
	ctx := context.Background()
	r := p.room(rt)
	seats, err := p.db.Seats(ctx, p.id)
	if err != nil {
		rt.Fatal(err)
	}
	breakouts, err := p.db.Breakouts(ctx, p.id)
	if err != nil {
		rt.Fatal(err)
	}
	assigned := map[string]int{}
	for _, seat := range seats {
		assigned[seat.ID] = r.Session
		for _, b := range breakouts {
			if b.N == seat.Breakout && b.ClosedAt.IsZero() {
				assigned[seat.ID] = b.Session
			}
		}
	}
	before := p.elsewhere
	p.elsewhere = map[string]int{}
	newest := map[string]bool{}
	for _, s := range slices.Backward(p.currentStays(p.id)) {
		_, session, _ := room.ParseSessionID(s.session)
		if newest[s.identity] || assigned[s.identity] != session {
			p.elsewhere[s.sid] = before[s.sid] + 1
		}
		newest[s.identity] = true
		if p.elsewhere[s.sid] > maxElsewhere {
			rt.Fatalf("%s is connected to %s as %s for %d s, although the seat is assigned to session %d, or has a newer "+
				"connection; want %d s at most", s.sid, s.session, s.identity, p.elsewhere[s.sid], assigned[s.identity], maxElsewhere)
		}
	}
}

// checkUsage fails unless the usage is the sum of the stays. A stay begins with a connection
// that was admitted, and ends with it or with the next one of the same person.
func (p *placements) checkUsage(rt *rapid.T) {
	if !p.exact {
		return
	}
	ctx := context.Background()
	now := p.clock.Now()
	hidden := map[string]bool{}
	rows, err := storetest.Attendance(ctx, p.db, p.id)
	if err != nil {
		rt.Fatal(err)
	}
	for _, a := range rows {
		hidden[a.Connection] = a.Hidden
	}
	var want int64
	ends := map[string]time.Time{} // beginning of the next stay, by identity
	for _, s := range slices.Backward(p.admittedStays(p.id)) {
		end := cmp.Or(s.to, now)
		if next := cmp.Or(ends[s.identity], now); next.Before(end) {
			end = next
		}
		ends[s.identity] = s.from
		if !hidden[s.sid] {
			want += end.Sub(s.from).Milliseconds()
		}
	}
	totals, err := usage.NewService(p.db, usage.NoProvider{}, p.clock.Now).Totals(ctx,
		usage.Scope{OrganizationID: p.project.OrganizationID, ProjectID: p.project.ID}, p.began, now)
	if got := totals.AudioMillis + totals.VideoMillis; err != nil || got != want {
		rt.Fatalf("usage from %s to %s: got %d ms, error %v, want the sum of the stays, %d ms", p.began, now,
			got, err, want)
	}
}

func (p *placements) crashRarely(rt *rapid.T) {
	skipMostly(rt)
	p.exact = false
	p.crash(rt)
}

func (p *placements) endAtOnce(rt *rapid.T) {
	p.end(rt)
	p.nodes[0].Sweep(context.Background())
}

func (p *placements) standStillRarely(rt *rapid.T) {
	skipMostly(rt)
	p.exact = false
	p.standStill(rt)
}

// stay is a connection that the engine saw.
type stay struct {
	session, identity, sid string

	from, to time.Time // to is zero while it lasts
	admitted bool
}

// currentStays returns the connections of a room that last, in their order.
func (c *cluster) currentStays(roomID string) []stay {
	return c.selectStays(roomID, func(s *stay) bool { return s.to.IsZero() })
}

// admittedStays returns the connections of a room that a node admitted, in their order.
func (c *cluster) admittedStays(roomID string) []stay {
	return c.selectStays(roomID, func(s *stay) bool { return s.admitted })
}

func (c *cluster) selectStays(roomID string, wanted func(*stay) bool) (list []stay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.stays {
		if id, _, _ := room.ParseSessionID(s.session); id == roomID && wanted(s) {
			list = append(list, *s)
		}
	}
	return list
}
