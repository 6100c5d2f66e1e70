package cluster

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/cluster/clustertest"
	"parley/internal/db"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// balancer selects nodes in turn, as a load balancer does that checks /healthz.
type balancer struct {
	mu    sync.Mutex
	nodes []*node
	next  int
}

func (b *balancer) node() *node {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return b.nodes[b.next%len(b.nodes)]
}

// remove makes the balancer send nothing more to a node, and add makes it send again.
func (b *balancer) remove(n *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = slices.DeleteFunc(slices.Clone(b.nodes), func(other *node) bool { return other == n })
}

func (b *balancer) add(n *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = append(slices.Clone(b.nodes), n)
}

// rollingPage is a page that stays in a room: it connects again as often as it has to.
type rollingPage struct {
	roomID, seatKey string

	mu       sync.Mutex
	identity string
	current  *mediatest.Participant
	longest  time.Duration // the longest time without sound of one of the others
}

func (p *rollingPage) participant() (*mediatest.Participant, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current, p.identity
}

// stay joins until ctx ends. joined is called after the first join.
func (p *rollingPage) stay(ctx context.Context, b *balancer, joined func()) {
	once := sync.OnceFunc(joined)
	for ctx.Err() == nil {
		seat, connection, err := b.node().join(ctx, p.roomID, p.seatKey)
		if err != nil {
			time.Sleep(50 * time.Millisecond) // paces the attempts
			continue
		}
		p.mu.Lock()
		p.identity, p.current = seat.Identity, connection
		p.mu.Unlock()
		_ = connection.PublishTraffic(ctx, "microphone "+connection.SID(), mediatest.Microphone,
			mediatest.Traffic{PerSecond: 20, Bytes: 40}) // fails if the connection ends meanwhile
		once()
		ended := func() bool { return connection.End() != nil || connection.Closed() }
		for ctx.Err() == nil && connection.End() == nil {
			_ = connection.Wait(ctx, "the connection ends", ended) // for WaitTimeout at most
			// If only the signaling ended, its node was stopped, and the session is on another one.
			if connection.Closed() && connection.End() == nil && connection.Resume(ctx, b.node().url, seat.Token) != nil {
				break
			}
		}
		connection.Abort()
	}
}

// startMeetings creates rooms, each with people who stay in it until ctx ends.
func startMeetings(
	ctx context.Context, t *testing.T, working *sync.WaitGroup, b *balancer, rooms, people int,
) (meetings [][]*rollingPage) {
	t.Helper()
	for n := range rooms {
		id, _, err := b.node().createRoom(people, 60)
		if err != nil {
			t.Fatal(err)
		}
		var meeting []*rollingPage
		for i := range people {
			p := &rollingPage{roomID: id, seatKey: seatKey(n*people + i)}
			joined := make(chan struct{})
			working.Go(func() { p.stay(ctx, b, func() { close(joined) }) })
			<-joined
			meeting = append(meeting, p)
		}
		meetings = append(meetings, meeting)
	}
	return meetings
}

// listen measures until ctx ends how long the others are not heard.
func (p *rollingPage) listen(ctx context.Context, others []*rollingPage) {
	type heard struct {
		packets int
		at      time.Time
	}
	last := make([]heard, len(others))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			me, _ := p.participant()
			for i, other := range others {
				_, identity := other.participant()
				packets := me.ReceivedFrom(identity, mediatest.Microphone)
				if packets > 0 && packets != last[i].packets {
					last[i] = heard{packets, now}
				}
				if !last[i].at.IsZero() {
					p.mu.Lock()
					p.longest = max(p.longest, now.Sub(last[i].at))
					p.mu.Unlock()
				}
			}
		}
	}
}

// drainMigration is the migration that added the drain of a node.
const drainMigration = 39

// buildEarlier builds a program that can share the database with this one and can be drained: the newest tagged
// release. Without such a release it builds the newest commit without the newest migration, so that the two programs
// have different schemas. A migration that contracts the schema ends the time of earlier programs; then the program
// of the commit that added it is built, and in a history without that commit the one of HEAD.
func buildEarlier(t *testing.T) parleytest.Release {
	t.Helper()
	dir := os.DirFS(filepath.Join("../..", parleytest.Migrations))
	newest, err := db.NewestVersion(dir)
	if err != nil {
		t.Fatal(err)
	}
	contractions, err := db.Contractions(dir)
	if err != nil {
		t.Fatal(err)
	}
	oldest := max(contractions[len(contractions)-1], drainMigration) // that an earlier program must have
	revision := parleytest.LatestTag(t, oldest)
	if revision == "" {
		revision = cmp.Or(parleytest.Earlier(t, oldest, newest), parleytest.AddedBy(t, oldest))
	}
	return parleytest.BuildRelease(t, cmp.Or(revision, "HEAD"))
}

// Three nodes of an earlier release are replaced by this program and go back to the earlier one, one after another,
// while people are in rooms and rooms are created. The first new node expands the schema while the others run, and the
// earlier program goes on with that schema. Everybody stays in the room: each time that the node of a room is drained
// is exactly one interruption in the attendance, and in the end all hear each other. Nothing acknowledged is lost, no
// seat is lost or doubled, and the webhooks arrive in order.
func TestNodes_Rolled(t *testing.T) { // alone, because it needs both processors
	testkit.Slow(t)
	const rooms, people = 30, 4
	earlier := buildEarlier(t)
	earlierSchema, err := db.NewestVersion(os.DirFS(filepath.Join(earlier.Sources, parleytest.Migrations)))
	if err != nil {
		t.Fatal(err)
	}
	newestSchema, err := db.NewestVersion(os.DirFS(filepath.Join("../..", parleytest.Migrations)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the earlier program is of %s and knows migrations up to %d, this one up to %d",
		earlier.Revision, earlierSchema, newestSchema)
	s := &service{
		database: storetest.Postgres(t),
		redis:    clustertest.NewRedis(t).URL(),
		master:   seal.NewKey(),
		binary:   earlier.Binary,
	}
	webhooks := newReceiver(t, time.Millisecond)
	nodes := []*node{s.startNode(t)}
	nodes[0].setWebhookURL(webhooks.URL) // before others start, which would hear of it a moment later
	nodes = append(nodes, s.startNode(t), s.startNode(t))
	raw := storetest.Database{URL: s.database}.Raw(t) // the store would migrate the database
	assertSchemas(t, raw, earlierSchema, earlierSchema, earlierSchema)
	b := &balancer{nodes: slices.Clone(nodes)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	var working sync.WaitGroup
	meetings := startMeetings(ctx, t, &working, b, rooms, people)
	assertAllHeard(t, meetings)
	for _, meeting := range meetings {
		for i, p := range meeting {
			others := slices.Concat(meeting[:i], meeting[i+1:])
			working.Go(func() { p.listen(ctx, others) })
		}
	}
	var created atomic.Pointer[[]string]
	created.Store(&[]string{})
	working.Go(func() {
		for ctx.Err() == nil {
			id, _, err := b.node().createRoom(people, 3600)
			if err != nil {
				t.Errorf("create a room: got %v, want no error", err)
				return
			}
			created.Store(new(append(slices.Clone(*created.Load()), id)))
			time.Sleep(100 * time.Millisecond) // paces the rooms
		}
	})

	moves := map[string]int{} // of the rooms by their IDs
	schemas := slices.Repeat([]int64{earlierSchema}, len(nodes))
	for _, program := range []struct {
		binary string
		schema int64
	}{{"", newestSchema}, {earlier.Binary, earlierSchema}} {
		for i, n := range nodes {
			through := nodes[(i+1)%len(nodes)]
			for id, host := range hostsOf(t, raw, meetings) {
				if host == n.logField("node") {
					moves[id]++
				}
			}
			b.remove(n) // as soon as its /healthz is 503
			if out, err := parleytest.Command(nil, "drain", n.logField("node"), "--within", "8s", "--url", through.url,
				"--token", s.AdminToken).CombinedOutput(); err != nil {
				t.Fatalf("parley drain: got %v, want no error: %s", err, out)
			}
			n.stop()
			n.binary = program.binary
			n.start()
			b.add(n)
			schemas[i] = program.schema
			assertSchemas(t, raw, schemas...)
		}
	}
	assertAllHeard(t, meetings)
	acknowledged := *created.Load()
	stored := s.openDatabase(t, t.TempDir())
	assertInterruptions(t, stored, meetings, moves)
	measureGaps(t, meetings)
	cancel()
	working.Wait()

	for _, id := range acknowledged {
		if r, err := stored.Room(t.Context(), id); err != nil || r.State != room.Open {
			t.Errorf("room %s: got %+v, %v, want the room that was created", id, r, err)
		}
	}
	if t.Logf("%d rooms were created meanwhile", len(acknowledged)); len(acknowledged) == 0 {
		t.Error("got no room that was created meanwhile, want some")
	}
	assertAllDelivered(t, stored, webhooks)
}

// assertSchemas checks which schemas the programs of the running nodes know, in any order.
func assertSchemas(t *testing.T, raw *sql.DB, want ...int64) {
	t.Helper()
	var text string
	want = slices.Sorted(slices.Values(want))
	err := raw.QueryRow(`SELECT string_agg(schema_version::text, ' ' ORDER BY schema_version) FROM nodes`).Scan(&text)
	if wanted := strings.Trim(fmt.Sprint(want), "[]"); err != nil || text != wanted {
		t.Fatalf("schemas of the nodes: got %s, %v, want %s", text, err, wanted)
	}
}

// hostsOf returns the nodes that host the rooms, by the IDs of the rooms, once everybody is in their room.
func hostsOf(t *testing.T, raw *sql.DB, meetings [][]*rollingPage) (hosts map[string]string) {
	t.Helper()
	testkit.Eventually(t, "all people of a room are on one node", func() bool {
		hosts = map[string]string{}
		for _, meeting := range meetings {
			var host string
			var nodes, present int
			err := raw.QueryRow(`SELECT coalesce(min(node), ''), count(DISTINCT node), count(*) FROM attendance
				WHERE room_id = $1 AND left_at IS NULL`, meeting[0].roomID).Scan(&host, &nodes, &present)
			if err != nil {
				t.Fatal(err)
			}
			if nodes != 1 || present != len(meeting) {
				return false
			}
			hosts[meeting[0].roomID] = host
		}
		return true
	})
	return hosts
}

// assertAllHeard waits until everybody hears each of the others.
func assertAllHeard(t *testing.T, meetings [][]*rollingPage) {
	t.Helper()
	for _, meeting := range meetings {
		for _, p := range meeting {
			for _, other := range meeting {
				if other == p {
					continue
				}
				var connection *mediatest.Participant
				before := 0
				testkit.Eventually(t, fmt.Sprintf("in the room %s, everybody hears each other", p.roomID), func() bool {
					me, _ := p.participant()
					_, identity := other.participant()
					packets := me.ReceivedFrom(identity, mediatest.Microphone)
					if me != connection {
						connection, before = me, packets
					}
					return packets > before
				})
			}
		}
	}
}

// assertInterruptions checks that everybody has one seat, and a row of attendance for the first connection and for each
// move of the room. The last row has not ended, and the server ended all others.
func assertInterruptions(t *testing.T, db *store.DB, meetings [][]*rollingPage, moves map[string]int) {
	t.Helper()
	total := 0
	for _, meeting := range meetings {
		id := meeting[0].roomID
		rows, err := storetest.Attendance(t.Context(), db, id)
		if err != nil {
			t.Fatal(err)
		}
		seats := map[string]bool{}
		for _, p := range meeting {
			_, identity := p.participant()
			var own []room.Attendance
			for _, row := range rows {
				if row.SeatID == identity {
					own = append(own, row)
				}
			}
			slices.SortFunc(own, func(a, b room.Attendance) int {
				return cmp.Or(a.JoinedAt.Compare(b.JoinedAt), cmp.Compare(a.ID, b.ID))
			})
			if len(own) != moves[id]+1 || !own[len(own)-1].LeftAt.IsZero() {
				t.Errorf("room %s: got the attendance %+v, want %d rows, the last one without an end", id, own, moves[id]+1)
				continue
			}
			for _, row := range own[:len(own)-1] {
				if row.Reason != room.LeftServer {
					t.Errorf("room %s: got the row %+v, want the reason %s", id, row, room.LeftServer)
				}
			}
			total += moves[id]
			seats[identity] = true
		}
		// The seats of people who left for a moment are held, so nobody has two.
		if taken, err := db.Seats(t.Context(), id); err != nil || len(taken) != len(meeting) || len(seats) != len(meeting) {
			t.Errorf("room %s: got the seats %+v, %v, want %d", id, taken, err, len(meeting))
		}
	}
	if t.Logf("%d interruptions of %d people", total, len(slices.Concat(meetings...))); total == 0 {
		t.Error("got no interruption, want one for each move of a room")
	}
}

// measureGaps measures how long people did not hear one of the others at most.
func measureGaps(t *testing.T, meetings [][]*rollingPage) {
	var all []time.Duration
	for _, p := range slices.Concat(meetings...) {
		p.mu.Lock()
		all = append(all, p.longest)
		p.mu.Unlock()
	}
	slices.Sort(all)
	t.Logf("longest time without the sound of one of the others, of %d people: median %s", len(all), all[len(all)/2])
	testkit.Measured(t, "the same, p95", all[len(all)*95/100], 1500*time.Millisecond)
	testkit.Measured(t, "the same, of all", all[len(all)-1], 3*time.Second)
}
