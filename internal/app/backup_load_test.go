package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// Everything that was acknowledged before a backup began is in it, while 64 writers run. Each of
// the 20 backups is restored. The times are in the log.
func TestBackup_UnderWriters(t *testing.T) {
	testkit.Slow(t)
	const writers, count = 64, 20
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		if d.Dir == "" {
			d.Dir = t.TempDir()
		}
		db := d.Open(t)
		if _, err := db.ID(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := storetest.Project(t, db)
		storetest.Fill(t, db, p.ID, 500, time.Now().Add(-24*time.Hour), time.Now(), 1)
		cfg := config.Config{Storage: config.Storage{DataDir: d.Dir, DatabaseURL: seal.Secret(d.URL)}}
		b := newBackups(db, cfg, time.Now)
		load := startWriters(t, db, p.ID, writers)
		defer load.stop()
		testkit.Eventually(t, "1000 rooms without a backup", func() bool { return load.len() >= 1000 })
		control := load.takeTimes()
		var files []string
		var acknowledged []int // number of rooms before each backup
		for i := range count {
			acknowledged = append(acknowledged, load.len())
			file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".tar"))
			a, err := b.Create(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = backup.WriteFile(file, func(w io.Writer) error { return a.Write(t.Context(), w) })
			if err = errors.Join(err, a.Close()); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		during := load.takeTimes()
		load.stop()
		t.Logf("%d rooms by %d writers; without backups p50 %s p99 %s, during %d backups p50 %s p99 %s",
			load.len(), writers, control[len(control)/2], control[len(control)*99/100],
			count, during[len(during)/2], during[len(during)*99/100])
		for i, file := range files {
			restored := storetest.Database{Dir: t.TempDir()}
			if d.URL != "" {
				restored.URL = storetest.Postgres(t)
			}
			m, err := backup.Check(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := instance.RestoreDatabase(t.Context(), file, m, restored.URL, restored.Dir); err != nil {
				t.Fatal(err)
			}
			contents, err := store.ReadContents(t.Context(), restored.URL, restored.Dir)
			if err != nil || compareContents(m, contents) != nil {
				t.Fatalf("backup %d: got read error %v and difference %v, want none", i, err, compareContents(m, contents))
			}
			load.assertContains(t, restored, acknowledged[i])
		}
	})
}

// writerPause is the time between two rooms of a writer, so that the database does not grow
// faster than it is copied.
const writerPause = 50 * time.Millisecond

// writerLoad are goroutines that create rooms.
type writerLoad struct {
	mu           sync.Mutex
	acknowledged []string
	times        []time.Duration
	cancel       context.CancelFunc
	running      sync.WaitGroup
}

func startWriters(t *testing.T, database *store.DB, projectID string, writers int) *writerLoad {
	ctx, cancel := context.WithCancel(context.Background())
	// Tests of other packages may leave the database without a processor for a second.
	patient := db.WithWriteTimeout(context.Background(), 20*time.Second)
	l := &writerLoad{cancel: cancel}
	for range writers {
		l.running.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(writerPause) {
				r := storetest.Room(projectID)
				began := time.Now()
				err := database.Write(patient, func(ctx context.Context) error { return database.InsertRoom(ctx, r) })
				if err != nil {
					t.Error(err)
					return
				}
				l.mu.Lock()
				l.acknowledged, l.times = append(l.acknowledged, r.ID), append(l.times, time.Since(began))
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

// takeTimes returns the times of the writes since the last call, sorted.
func (l *writerLoad) takeTimes() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := l.times
	l.times = nil
	slices.Sort(times)
	return times
}

// assertContains checks that a database has the first n acknowledged rooms.
func (l *writerLoad) assertContains(t *testing.T, d storetest.Database, n int) {
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
	if len(stored) < n {
		t.Errorf("got %d rooms, want at least %d", len(stored), n)
	}
	for _, id := range l.acknowledged[:n] {
		if !stored[id] {
			t.Fatalf("room %s, acknowledged before the backup: got no row, want one", id)
		}
	}
}
