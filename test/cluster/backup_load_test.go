package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
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

// While 64 clients create rooms, 20 backups are made with the command. Each is restored with the command, and has
// every room that was acknowledged before its backup began. The times are in the log.
func TestBackup_UnderWriters(t *testing.T) {
	const writers, count, before = 64, 20, 1000
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		s := &service{master: seal.NewKey(), database: d.URL}
		n := s.startNode(t)
		load := n.startWriters(writers)
		defer load.stop()
		testkit.EventuallyWithin(t, 2*time.Minute, fmt.Sprint(before, " rooms without a backup"),
			func() bool { return load.len() >= before })
		control := load.takeTimes()
		dir := t.TempDir()
		file := func(i int) string { return filepath.Join(dir, fmt.Sprint(i, ".tar")) }
		var acknowledged []int // number of rooms before each backup
		for i := range count {
			acknowledged = append(acknowledged, load.len())
			s.mustRun(t, "backup", file(i), "--data-dir", n.dir)
		}
		during := load.takeTimes()
		load.stop()
		t.Logf("%d rooms by %d writers; without backups p50 %s p99 %s, during %d backups p50 %s p99 %s",
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
				load.requireRooms(t, restored, acknowledged[i])
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

// writerPause is the time between two rooms of a writer, so that the database does not grow faster than it is copied.
const writerPause = 200 * time.Millisecond

// writerLoad are clients that create rooms.
type writerLoad struct {
	mu           sync.Mutex
	acknowledged []string // IDs of rooms
	times        []time.Duration
	cancel       context.CancelFunc
	running      sync.WaitGroup
}

func (n *node) startWriters(writers int) *writerLoad {
	n.t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: writers}
	c, err := client.New(n.url, client.Credentials{ProjectID: n.s.ProjectID, ProjectSecret: n.s.ProjectSecret},
		client.Options{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.t.Cleanup(transport.CloseIdleConnections)
	l := &writerLoad{cancel: cancel}
	for range writers {
		l.running.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(writerPause) {
				began := time.Now()
				created, err := c.CreateQuickAudioRoom(context.Background(), client.QuickRoomRequest{Name: "Ada",
					MaxParticipants: 2, EmptyTimeout: 3600,
					Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
				var refused *client.Error
				if errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable {
					continue // a busy disk; the room is not acknowledged
				}
				if err != nil {
					n.t.Error(err)
					return
				}
				l.mu.Lock()
				l.acknowledged, l.times = append(l.acknowledged, created.RoomID), append(l.times, time.Since(began))
				l.mu.Unlock()
			}
		})
	}
	return l
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

// requireRooms fails unless a database has the first n acknowledged rooms.
func (l *writerLoad) requireRooms(t *testing.T, d storetest.Database, n int) {
	t.Helper()
	rows, err := d.Raw(t).Query(`SELECT id FROM rooms`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	stored := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		stored[id] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for i, id := range l.acknowledged[:n] {
		if !stored[id] {
			t.Fatalf("room %s, number %d of %d that were acknowledged before the backup: got no row, want one", id, i+1, n)
		}
	}
}
