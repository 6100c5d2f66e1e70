package cluster

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// killAfter runs the parley command and kills it after a time, unless it has ended. It
// reports whether it succeeded, and logs why not.
func killAfter(t *testing.T, s *service, after time.Duration, args ...string) (succeeded bool) {
	t.Helper()
	return killWhen(t, s, func(running context.Context) { pause(running, after) }, args...)
}

// killWhen runs the parley command and kills it when await returns, unless it has ended. The context of await ends with
// the command. It reports whether the command succeeded, and logs why not.
func killWhen(t *testing.T, s *service, await func(running context.Context), args ...string) (succeeded bool) {
	t.Helper()
	var errs testkit.Buffer
	cmd := parleytest.Command([]string{"PARLEY_MASTER_KEY=" + s.master.Reveal()}, args...)
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running, ended := context.WithCancel(t.Context())
	var killing sync.WaitGroup
	killing.Go(func() {
		await(running)
		_ = cmd.Process.Kill()
	})
	err := cmd.Wait()
	ended()
	killing.Wait()
	if err != nil {
		t.Logf("parley %s: %v: %s", args[0], err, errs.String())
	}
	return err == nil
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fillDatabase adds meetings to the database of a data directory.
func fillDatabase(t *testing.T, s *service, dir string) {
	t.Helper()
	d, err := store.Open(t.Context(), s.database, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Unlock(t.Context(), seal.NewBox(s.master)); err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, d, s.ProjectID, 1500, time.Now().Add(-24*time.Hour), time.Now(), 1)
}

// A client or a server that is killed in the middle of a backup leaves no file that is taken
// for a backup, and the next start of the server removes its copy of the database.
func TestBackup_KilledInTheMiddle(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		s := &service{master: seal.NewKey(), database: d.URL}
		n := s.startNode(t)
		fillDatabase(t, s, n.dir)
		dir := t.TempDir()
		began := time.Now()
		if !killAfter(t, s, time.Minute, "backup", filepath.Join(dir, "first.tar"), "--data-dir", n.dir) {
			t.Fatal("the backup failed")
		}
		took := time.Since(began)
		complete, cut, midway := 0, 0, 0
		for tries := 0; tries < 12 || midway == 0 && tries < 40; tries++ {
			file := filepath.Join(dir, "b.tar")
			ended := make(chan bool, 1)
			wait := rand.N(took) // the client is killed at a random moment
			go func() { ended <- killAfter(t, s, wait, "backup", file, "--data-dir", n.dir) }()
			killServer := rand.IntN(2) == 0
			if killServer {
				time.Sleep(rand.N(took)) // the server is killed at a random moment
				n.Kill()
			}
			succeeded := <-ended
			_, err := backup.Check(file)
			if exists := !os.IsNotExist(err); exists && err != nil || succeeded && !exists {
				t.Fatalf("succeeded %t: got %v, want a complete backup or none", succeeded, err)
			}
			if err == nil {
				complete++
			} else {
				cut++
			}
			_ = os.Remove(file)
			if incompleteBackups(t, dir, n.dir) > 0 {
				midway++
			}
			if killServer {
				n.start()
				if left, err := filepath.Glob(filepath.Join(n.dir, ".backup-*")); err != nil || len(left) > 0 {
					t.Errorf("after the next start: got %v, %v, want no copies", left, err)
				}
			}
		}
		t.Logf("%d complete, %d cut off, %d of them in the middle", complete, cut, midway)
		if midway == 0 {
			t.Errorf("got no backup that was cut off in the middle, want at least one; %d are complete", complete)
		}
		file := filepath.Join(dir, "last.tar")
		testkit.Eventually(t, "a backup succeeds", func() bool {
			return killAfter(t, s, time.Minute, "backup", file, "--data-dir", n.dir)
		})
		if m, err := backup.Check(file); err != nil || m.Rows["rooms"] != 1500 {
			t.Errorf("got %d rooms, %v, want 1500", m.Rows["rooms"], err)
		}
	})
}

// A server that is killed in the middle of a scheduled backup leaves no file that counts as a backup. The next start
// makes the backup and removes what the killed server has left.
func TestScheduledBackup_KilledInTheMiddle(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		s := &service{master: seal.NewKey(), database: d.URL}
		n := s.startNode(t)
		fillDatabase(t, s, n.dir)
		n.stop()
		dir := t.TempDir()
		start := func() {
			t.Helper()
			n.Server = parleytest.Start(t, parleytest.Options{
				DataDir:     n.dir,
				UDPPort:     n.udp,
				Environment: n.environment(),
				Args:        []string{"--no-supervise", "--backup-dir", dir, "--backup-every", "1h", "--backup-keep", "1"},
			})
		}
		glob := func(pattern string) []string {
			t.Helper()
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			return files
		}
		leftovers := func() []string {
			return slices.Concat(glob(filepath.Join(dir, "*.part")), glob(filepath.Join(n.dir, ".backup-*")))
		}
		complete := func() []string { return glob(filepath.Join(dir, "parley-*.tar")) }
		requireComplete := func(file string) {
			t.Helper()
			if m, err := backup.Check(file); err != nil || m.Rows["rooms"] != 1500 {
				t.Fatalf("%s: got %d rooms, %v, want 1500", file, m.Rows["rooms"], err)
			}
		}
		for cut, tries := 0, 0; cut < 3; tries++ {
			if tries == 40 {
				t.Fatalf("got %d backups that were cut off in the middle, want 3", cut)
			}
			incompleteBackups(t, dir, n.dir) // removes those of the server before
			start()
			testkit.Eventually(t, "a backup begins", func() bool { return len(leftovers())+len(complete()) > 0 })
			time.Sleep(rand.N(50 * time.Millisecond)) // the server is killed at a random moment
			n.Kill()
			if len(leftovers()) > 0 {
				cut++
			}
			for _, file := range complete() {
				requireComplete(file)
				if err := os.Remove(file); err != nil { // so that the next start makes one
					t.Fatal(err)
				}
			}
		}
		start()
		testkit.Eventually(t, "the backup is made", func() bool { return len(complete()) == 1 && len(leftovers()) == 0 })
		requireComplete(complete()[0])
		n.stop()
	})
}

// incompleteBackups returns how many files an interrupted backup has left in the directory of the backup and in the
// data directory of a server that was killed, and removes those of the former.
func incompleteBackups(t *testing.T, dir, dataDir string) (n int) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if err := os.Remove(part); err != nil {
			t.Fatal(err)
		}
	}
	copies, err := filepath.Glob(filepath.Join(dataDir, ".backup-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(parts) + len(copies)
}

// A copy that is killed, also while it copies rows, leaves everything in the target or nothing. With nothing the server
// refuses to use the target in the place of the source, and the copy can be repeated; with everything it is refused.
func TestCopy_KilledInTheMiddle(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		s := &service{master: seal.NewKey(), database: d.URL}
		n := s.startNode(t)
		n.stop()
		fillDatabase(t, s, n.dir)
		identity, err := os.ReadFile(filepath.Join(n.dir, "database.id"))
		if err != nil {
			t.Fatal(err)
		}
		interrupted, midway := 0, 0 // copies; those of them that had begun to copy rows
		for tries := 0; midway < 3; tries++ {
			if tries == 40 {
				t.Fatalf("got %d copies that were killed while they copied rows, want 3", midway)
			}
			target := newCopyTarget(t)
			copied := func(await func(running context.Context)) bool {
				// A copy that has succeeded has changed it.
				if err := os.WriteFile(filepath.Join(n.dir, "database.id"), identity, 0o600); err != nil {
					t.Fatal(err)
				}
				args := []string{"copy", "--data-dir", n.dir, "--to", target.url}
				if d.URL != "" {
					args = append(args, "--database-url", d.URL)
				}
				return killWhen(t, s, await, args...)
			}
			hasBegun := false
			succeeded := copied(func(running context.Context) {
				if tries%3 == 0 { // at a random moment
					pause(running, rand.N(2*time.Second))
					return
				}
				hasBegun = target.awaitRows(running)
				pause(running, rand.N(200*time.Millisecond))
			})
			target.awaitDisconnected()
			untilEnd := func(running context.Context) { <-running.Done() }
			if rooms := countRooms(t, target.url); rooms != 0 {
				if rooms != 1500 || copied(untilEnd) {
					t.Fatalf("after a copy, succeeded %t: got %d rooms, want all or none, and a second copy only with none",
						succeeded, rooms)
				}
				continue
			}
			if has, err := store.HasTables(t.Context(), target.url, ""); err != nil || has || succeeded {
				t.Fatalf("after a copy without rooms, succeeded %t: got tables %t, error %v, want none", succeeded, has, err)
			}
			interrupted++
			if hasBegun {
				midway++
			}
			_, err := instance.OpenStore(t.Context(), config.Config{Storage: config.Storage{DataDir: n.dir,
				DatabaseURL: seal.Secret(target.url), MasterKey: seal.Secret(s.master.Reveal())}})
			if want := "the database of --database-url has no identity yet"; err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("open the target as a server does: got %v, want %q", err, want)
			}
			if !copied(untilEnd) || countRooms(t, target.url) != 1500 {
				t.Fatalf("copy again: got %d rooms, want 1500", countRooms(t, target.url))
			}
		}
		t.Logf("%d copies were interrupted, %d of them while they copied rows", interrupted, midway)
	})
}

// copyTarget is an empty PostgreSQL database, and a connection that watches what others do in it.
type copyTarget struct {
	t     *testing.T
	url   string
	watch *sql.DB
}

func newCopyTarget(t *testing.T) copyTarget {
	t.Helper()
	url := storetest.Postgres(t)
	c := copyTarget{t: t, url: url, watch: storetest.Database{URL: url}.Raw(t)}
	c.watch.SetMaxOpenConns(1)
	return c
}

// others returns how many other connections have a last statement like a pattern.
func (c copyTarget) others(pattern string) (n int) {
	err := c.watch.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
		AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND query LIKE $1`, pattern).Scan(&n)
	if err != nil {
		c.t.Error(err)
	}
	return n
}

// awaitRows waits until a command writes rows into the target. It returns false if the command ended before.
func (c copyTarget) awaitRows(running context.Context) bool {
	for running.Err() == nil {
		if c.others(`copy "%`) > 0 {
			return true
		}
		pause(running, time.Millisecond)
	}
	return false
}

// awaitDisconnected waits until PostgreSQL has ended the connections of a killed command, and has completed or rolled
// back what they did.
func (c copyTarget) awaitDisconnected() {
	c.t.Helper()
	testkit.Eventually(c.t, "PostgreSQL ends the connections of the command", func() bool { return c.others("%") == 0 })
}

// countRooms returns the number of rooms, 0 without the table.
func countRooms(t *testing.T, url string) (n int) {
	t.Helper()
	err := db.QueryPostgres(context.Background(), url, `SELECT count(*) FROM rooms`,
		func(row db.Row) error { return row.Scan(&n) })
	if err != nil && !db.IsUndefinedTable(err) {
		t.Fatal(err)
	}
	return n
}

// A restore that is killed leaves a complete database, with the entry in its audit log, or one
// that the server refuses, and it can be repeated.
func TestRestore_KilledInTheMiddle(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		s := &service{master: seal.NewKey(), database: d.URL}
		n := s.startNode(t)
		fillDatabase(t, s, n.dir)
		file := filepath.Join(t.TempDir(), "b.tar")
		if !killAfter(t, s, time.Minute, "backup", file, "--data-dir", n.dir) {
			t.Fatal("the backup failed")
		}
		n.stop()
		newTarget := func() (target config.Storage, args []string) {
			target = config.Storage{DataDir: t.TempDir(), MasterKey: seal.Secret(s.master.Reveal())}
			args = []string{"restore", file, "--data-dir", target.DataDir}
			if d.URL != "" {
				target.DatabaseURL = seal.Secret(storetest.Postgres(t))
				args = append(args, "--database-url", target.DatabaseURL.Reveal())
			}
			return target, args
		}
		_, args := newTarget()
		began := time.Now()
		if !killAfter(t, s, time.Minute, args...) {
			t.Fatal("the restore failed")
		}
		took := time.Since(began)
		interrupted, begun := 0, 0
		for tries := 0; tries < 40 && (interrupted < 4 || begun == 0); tries++ {
			target, args := newTarget()
			succeeded := killAfter(t, s, rand.N(took), args...)
			if !succeeded {
				interrupted++
			}
			if hasBegun(t, target) {
				begun++
			}
			rooms, err := openRestored(t, target)
			isMarked := err != nil && strings.Contains(err.Error(), "a restore into this database was interrupted")
			switch {
			case err == nil && rooms == 1500, isMarked && !succeeded:
			case succeeded, err != nil, rooms != 0:
				t.Fatalf("after a restore, succeeded %t: got %d rooms, error %v, want all, or after a kill none or a mark",
					succeeded, rooms, err)
			case killAfter(t, s, time.Minute, args...):
			default: // the kill came while PostgreSQL committed
				if _, err := openRestored(t, target); err == nil {
					t.Fatal("a second restore into the same place failed, want it to succeed")
				}
			}
		}
		t.Logf("%d restores were interrupted, %d of them had begun", interrupted, begun)
		if begun == 0 {
			t.Error("interrupted restores: got none that had begun to write, want at least one")
		}
	})
}

// hasBegun reports whether a killed restore has left something.
func hasBegun(t *testing.T, target config.Storage) bool {
	t.Helper()
	if target.DatabaseURL == "" {
		left, err := filepath.Glob(filepath.Join(target.DataDir, "*.restoring"))
		return err == nil && len(left) > 0
	}
	marked, err := store.IsRestoring(t.Context(), target.DatabaseURL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return marked
}

// openRestored opens a database as the server does, without creating one, and returns the number
// of its rooms. A database with rooms must have the entry of its restore.
func openRestored(t *testing.T, target config.Storage) (rooms int64, err error) {
	t.Helper()
	if has, err := store.HasTables(t.Context(), target.DatabaseURL.Reveal(), target.DataDir); err != nil || !has {
		return 0, err
	}
	opened, err := instance.OpenStore(t.Context(), config.Config{Storage: target})
	if err != nil {
		return 0, err
	}
	defer func() { _ = opened.Close() }()
	entries, err := opened.AuditEntriesAfter(t.Context(), 0, 1000)
	isRestore := func(e audit.Entry) bool { return e.Action == audit.DatabaseRestored }
	if err != nil || !slices.ContainsFunc(entries, isRestore) {
		t.Errorf("audit log of a restored database: got %d entries, error %v, want one about the restore", len(entries), err)
	}
	contents := map[string]int64{}
	err = opened.ReadSnapshot(t.Context(), func(r *db.Reader) (err error) {
		contents, err = r.CountRows(t.Context())
		return err
	})
	return contents["rooms"], err
}
