package room_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// For random links, moves and nodes, and for reports that come late or never, the
// stored rows are consistent at all times and correct in the end.
func TestMeeting(t *testing.T) {
	t.Parallel()
	c := newCluster(t, storetest.SQLite(t))
	c.allowHidden(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newMeeting(t, rt, c, c.project)
		rt.Repeat(map[string]func(*rapid.T){
			"come":            m.reserveSeat,
			"come in":         m.joinAndDeliver,
			"come in, too":    m.joinAndDeliver,
			"connect":         m.connect,
			"say goodbye":     m.leave,
			"hear":            m.deliverOne,
			"hear all":        func(*rapid.T) { c.deliver() },
			"hear nothing of": m.dropReport,
			"open breakouts":  m.openBreakouts,
			"move":            m.move,
			"obey":            m.followMoves,
			"close breakouts": m.closeBreakouts,
			"remove":          m.remove,
			"readmit":         m.readmit,
			"waiting room":    m.waitingRoom,
			"answer a knock":  m.answerKnock,
			"tick":            m.tick,
			"reconcile":       m.reconcile,
			"enforce":         m.enforcePlacement,
			"time passes":     m.advanceClock,
			"crash":           m.crash,
			"stall":           m.stall,
			"hand over":       m.handOver,
			"end":             m.end,
			"":                m.check,
		})
		m.converge(rt)
		c.clock.advance(25 * time.Hour)
		for range 2 { // the nodes must see each other alive
			m.tick(rt)
		}
		m.check(rt)
		if r := m.room(rt); !r.Over() {
			rt.Fatalf("room one day later: got state %s, want a room that is over", r.State)
		}
	})
}

// meeting performs random actions of participants and records what they may expect.
type meeting struct {
	*cluster
	t        *testing.T
	project  project.Project
	id       string
	max      int
	links    []*invitation
	browsers [6]*page
	roles    map[string]room.Role // by identity
	users    map[string]string    // identity, by the person in the client's own system
	removed  map[string]bool      // identities
	locked   bool                 // the waiting room is on
	sids     int
}

// invitation is a link with the properties that it was created with.
type invitation struct {
	token      string
	role       room.Role
	single     bool
	user       string
	hidden     bool
	expires    time.Time
	redeemedBy int // the browser that used it first; 0 before
}

// page is the state of a browser.
type page struct {
	n              int
	identity       string // of the latest admission
	session        string
	joinedSession  string // the session it is connected to
	joinedIdentity string // and the identity it has there
}

func newMeeting(t *testing.T, rt *rapid.T, c *cluster, p project.Project) *meeting {
	ctx := context.Background()
	m := &meeting{
		cluster: c,
		t:       t,
		project: p,
		max:     rapid.IntRange(1, 4).Draw(rt, "max"),
		roles:   map[string]room.Role{},
		users:   map[string]string{},
		removed: map[string]bool{},
	}
	created, err := c.nodes[0].CreateQuick(ctx, p,
		room.Spec{
			Type:            rapid.SampledFrom([]room.Type{room.Audio, room.Video}).Draw(rt, "type"),
			CreatorName:     "Ada",
			Title:           "T",
			MaxParticipants: m.max,
			EmptyTimeout:    time.Hour,
			BreakoutRooms:   2,
			ExternalUserID:  "ada",
		}, nil)
	if err != nil {
		rt.Fatal(err)
	}
	m.id = created.ID
	_, token, _ := strings.Cut(created.FinalLink, "#t=")
	m.links = []*invitation{nil, {token: token, role: room.Host, single: true, user: "ada"}}
	for _, q := range []room.Invitation{
		{Role: room.Guest},
		{Role: room.CoHost},
		{Role: room.Host, SingleUse: true},
		{Role: room.Guest, UserID: "ben"},
		{Role: room.CoHost, UserID: "ben", SingleUse: true},
		{Role: room.Guest, UserID: "ada"},
		{Role: room.Guest, Hidden: true},
		{Role: room.Guest, Hidden: true, UserID: "ben"},
		expiringInAMinute(room.Invitation{Role: room.CoHost}),
		expiringInAMinute(room.Invitation{Role: room.CoHost, SingleUse: true}),
	} {
		link, err := c.nodes[1].Invite(ctx, p, m.id, q)
		if err != nil {
			rt.Fatal(err)
		}
		_, token, _ := strings.Cut(link, "#t=")
		l := &invitation{
			token:  token,
			role:   q.Role,
			single: q.SingleUse,
			user:   q.UserID,
			hidden: q.Hidden,
		}
		if q.ExpiresIn > 0 {
			l.expires = c.clock.Now().Add(time.Minute)
		}
		m.links = append(m.links, l)
	}
	for n := range m.browsers {
		m.browsers[n] = &page{n: n + 1}
	}
	return m
}

// expiringInAMinute makes an invitation expire after sixty seconds.
func expiringInAMinute(q room.Invitation) room.Invitation {
	q.ExpiresIn = 60
	return q
}

func (m *meeting) node(rt *rapid.T) *room.Service {
	return m.nodes[rapid.IntRange(0, 1).Draw(rt, "node")]
}

func (m *meeting) page(rt *rapid.T) *page {
	return m.browsers[rapid.IntRange(0, len(m.browsers)-1).Draw(rt, "browser")]
}

func (m *meeting) link(rt *rapid.T) *invitation {
	return m.links[rapid.IntRange(0, len(m.links)-1).Draw(rt, "link")]
}

// expectedLinkStatus returns the status that a link must have.
func (m *meeting) expectedLinkStatus(l *invitation, p *page) room.LinkStatus {
	switch {
	case l == nil:
		return room.NoLink
	case l.single && l.redeemedBy != 0 && l.redeemedBy != p.n:
		return room.LinkTaken
	case l.redeemedBy == 0 && !l.expires.IsZero() && !m.clock.Now().Before(l.expires):
		return room.LinkExpired
	}
	return room.LinkOK
}
