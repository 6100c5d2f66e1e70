package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/config"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// While 64 clients create rooms, and half of them also reserve seats, report joins and end rooms, 20 backups are made
// with the command. Each is restored with the command, and has every change that was acknowledged before its backup
// began. The times are in the log.
func TestBackup_UnderWriters(t *testing.T) {
	const writers, count, before = 64, 20, 1000
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		s := &service{master: seal.NewKey(), database: d.URL}
		n := s.startNode(t)
		load := n.startWriters(writers)
		defer load.stop()
		testkit.EventuallyWithin(t, 2*time.Minute, fmt.Sprint(before, " changes without a backup"),
			func() bool { return load.len() >= before })
		control := load.takeTimes()
		dir := t.TempDir()
		file := func(i int) string { return filepath.Join(dir, fmt.Sprint(i, ".tar")) }
		var acknowledged []int // number of changes before each backup
		for i := range count {
			acknowledged = append(acknowledged, load.len())
			s.mustRun(t, "backup", file(i), "--data-dir", n.dir)
		}
		during := load.takeTimes()
		load.stop()
		t.Logf("%d changes by %d writers; a creation takes without backups p50 %s p99 %s, during %d backups p50 %s p99 %s",
			load.len(), writers, control[len(control)/2], control[len(control)*99/100],
			count, during[len(during)/2], during[len(during)*99/100])
		n.stop()
		for i := range count {
			t.Run(fmt.Sprint("restore ", i), func(t *testing.T) { // so that the restored database is removed at once
				restored := storetest.Database{Dir: t.TempDir()}
				args := []string{"restore", file(i), "--data-dir", restored.Dir}
				if d.URL != "" {
					restored.URL = storetest.Postgres(t)
					args = append(args, "--database-url", restored.URL)
				}
				s.mustRun(t, args...)
				target := config.Storage{DataDir: restored.Dir, DatabaseURL: seal.Secret(restored.URL),
					MasterKey: seal.Secret(s.master.Reveal())}
				if _, err := openRestored(t, target); err != nil {
					t.Fatal(err)
				}
				load.requireChanges(t, restored, acknowledged[i])
			})
		}
	})
}

// mustRun runs the parley command, which must succeed.
func (s *service) mustRun(t *testing.T, args ...string) {
	t.Helper()
	out, err := parleytest.Command([]string{"PARLEY_MASTER_KEY=" + s.master.Reveal()}, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("parley %s: %v: %s", args[0], err, out)
	}
}

// writerPause is the time between two changes of a writer, so that the database does not grow faster than it is copied.
const writerPause = 200 * time.Millisecond

// writerLoad are clients that change rooms.
type writerLoad struct {
	node    *node
	client  *client.Client
	ctx     context.Context // ends when the clients stop
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu           sync.Mutex
	acknowledged []roomChange
	times        []time.Duration // of the creation of rooms
}

// roomChange is what a client knows of a room after a change that the service has acknowledged.
type roomChange struct {
	room, link string // ID, and token of the host's link
	lastEvent  int64  // number
	seat       string // ID of the host's seat; empty before it is reserved
	ended      bool
}

func (n *node) startWriters(writers int) *writerLoad {
	n.t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: writers}
	c, err := client.New(n.url, client.Credentials{ProjectID: n.s.ProjectID, APIKey: n.s.APIKey,
		GatewaySecret: n.s.GatewaySecret, ProjectSecret: n.s.ProjectSecret},
		client.Options{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(transport.CloseIdleConnections)
	l := &writerLoad{node: n, client: c}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	for i := range writers {
		var steps []func(roomChange) (roomChange, error)
		if i%2 == 1 {
			steps = append(steps, l.reserveSeat, l.reportJoin, l.endRoom)
		}
		l.running.Go(func() {
			for l.ctx.Err() == nil {
				var refused *client.Error
				err := l.changeRoom(steps...)
				if errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable {
					continue // a busy disk; the change is not acknowledged
				}
				if err != nil {
					n.t.Error(err)
					return
				}
			}
		})
	}
	return l
}

// changeRoom creates a room and takes further steps with it. It pauses after each, and ends early if the writers stop.
func (l *writerLoad) changeRoom(steps ...func(roomChange) (roomChange, error)) error {
	c, err := l.createRoom()
	for err == nil {
		l.mu.Lock()
		l.acknowledged = append(l.acknowledged, c)
		l.mu.Unlock()
		if time.Sleep(writerPause); l.ctx.Err() != nil || len(steps) == 0 {
			return nil
		}
		c, err = steps[0](c)
		steps = steps[1:]
	}
	return err
}

func (l *writerLoad) createRoom() (roomChange, error) {
	began := time.Now()
	created, err := l.client.CreateQuickAudioRoom(context.Background(), client.QuickRoomRequest{Name: "Ada",
		MaxParticipants: 2, EmptyTimeout: 3600,
		Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
	if err != nil {
		return roomChange{}, err
	}
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, took)
	_, link, _ := strings.Cut(created.FinalLink, "#t=")
	return roomChange{room: created.RoomID, link: link, lastEvent: 1}, nil
}

// reserveSeat reserves the seat of the host, which is kept although the host does not connect.
func (l *writerLoad) reserveSeat(c roomChange) (roomChange, error) {
	s, err := l.node.reserveSeat(c.room, seatKey(1), c.link)
	if err == nil && s.Status != http.StatusOK {
		err = &client.Error{Status: s.Status, Message: s.Error.Code}
	}
	c.seat = s.Identity
	return c, err
}

func (l *writerLoad) reportJoin(c roomChange) (roomChange, error) {
	_, err := l.client.SendJoinEvent(context.Background(), client.JoinEvent{RoomID: c.room, Name: "Bo"})
	if err != nil {
		return c, err
	}
	c.lastEvent, err = l.lastEvent(c.room)
	return c, err
}

func (l *writerLoad) endRoom(c roomChange) (roomChange, error) {
	if err := l.client.EndRoom(context.Background(), c.room); err != nil {
		return c, err
	}
	c.ended = true
	var err error
	c.lastEvent, err = l.lastEvent(c.room)
	return c, err
}

// lastEvent returns the number of the last event of a room.
func (l *writerLoad) lastEvent(room string) (last int64, err error) {
	for e, err := range l.client.RoomEvents(context.Background(), room, 0) {
		if err != nil {
			return 0, err
		}
		last = e.Sequence
	}
	return last, nil
}

func (l *writerLoad) stop() { l.cancel(); l.running.Wait() }

func (l *writerLoad) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// takeTimes returns the times of the creations since the last call, sorted.
func (l *writerLoad) takeTimes() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := l.times
	l.times = nil
	slices.Sort(times)
	return times
}

// requireChanges fails unless a database has the first n acknowledged changes, and all events of each room until the
// last one.
func (l *writerLoad) requireChanges(t *testing.T, d storetest.Database, n int) {
	t.Helper()
	raw := d.Raw(t)
	type state struct {
		lastEvent, events int64 // number of the last one, and how many there are
		ended             bool
	}
	rooms, seats := map[string]state{}, map[string]bool{}
	query := func(q string, scan func(rows *sql.Rows) error) {
		t.Helper()
		rows, err := raw.Query(q)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := scan(rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	query(`SELECT id, ended_at IS NOT NULL, event_sequence, (SELECT count(*) FROM events WHERE room_id = rooms.id)
		FROM rooms`, func(rows *sql.Rows) error {
		var id string
		var s state
		err := rows.Scan(&id, &s.ended, &s.lastEvent, &s.events)
		rooms[id] = s
		return err
	})
	query(`SELECT room_id, id FROM seats`, func(rows *sql.Rows) error {
		var room, id string
		err := rows.Scan(&room, &id)
		seats[room+" "+id] = true
		return err
	})
	var withSeat, withReport, ended int // number of changes
	for i, c := range l.acknowledged[:n] {
		s, found := rooms[c.room]
		seat := c.seat == "" || seats[c.room+" "+c.seat]
		if !found || !seat || s.lastEvent < c.lastEvent || s.events != s.lastEvent || c.ended && !s.ended {
			t.Fatalf("change %+v, number %d of %d that were acknowledged before the backup: got the room %+v, in the database "+
				"%t, with the seat %t", c, i+1, n, s, found, seat)
		}
		switch {
		case c.ended:
			ended++
		case c.lastEvent > 1:
			withReport++
		case c.seat != "":
			withSeat++
		}
	}
	if withSeat == 0 || withReport == 0 || ended == 0 {
		t.Errorf("acknowledged changes: got %d seats, %d reported joins and %d ended rooms, want some of each", withSeat,
			withReport, ended)
	}
}
