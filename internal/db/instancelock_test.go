package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parley/internal/db"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

func acquireLock(t *testing.T, url string, shared bool, lost func(error)) (*db.InstanceLock, error) {
	t.Helper()
	c, err := db.AcquireInstanceLock(context.Background(), url, shared, lost)
	if err == nil {
		t.Cleanup(c.Release)
	}
	return c, err
}

func TestInstanceLock_Conflicts(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	lost := func(err error) { t.Error(err) }
	exclusive, err := acquireLock(t, url, false, lost)
	if err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{false, true} {
		if _, err := acquireLock(t, url, shared, lost); !errors.Is(err, db.ErrInUse) {
			t.Errorf("lock (shared: %t) beside an exclusive lock: got %v, want ErrInUse", shared, err)
		}
	}
	exclusive.Release()
	for range 2 {
		if _, err := acquireLock(t, url, true, lost); err != nil {
			t.Errorf("shared lock beside a shared lock: got error %v, want none", err)
		}
	}
	if _, err := acquireLock(t, url, false, lost); !errors.Is(err, db.ErrInUse) {
		t.Errorf("exclusive lock beside shared locks: got %v, want ErrInUse", err)
	}
	if _, err := acquireLock(t, storetest.Postgres(t), false, lost); err != nil {
		t.Errorf("exclusive lock on another database: got error %v, want none", err)
	}
}

// A lock whose connection has died is acquired again. If another process has
// acquired it meanwhile, lost is called once.
func TestInstanceLock_Reacquired(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	lost := make(chan error, 10)
	if _, err := acquireLock(t, url, false, func(err error) { lost <- err }); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	const holders = `FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	kill := func() {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) "+holders); err != nil {
			t.Fatal(err)
		}
	}
	// holder returns the process that holds the lock, or 0.
	holder := func() (pid int) {
		if err := conn.QueryRow(t.Context(), "SELECT coalesce(max(pid), 0) "+holders).Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	first := holder()
	kill()
	testkit.Eventually(t, "the lock is acquired again", func() bool {
		pid := holder()
		return pid != 0 && pid != first
	})

	testkit.Eventually(t, "another process acquires the lock first", func() bool {
		kill()
		var taken bool
		err := conn.QueryRow(t.Context(), "SELECT pg_try_advisory_lock($1)", int64(0x7061726c6579)).Scan(&taken)
		if err != nil {
			t.Fatal(err)
		}
		return taken
	})
	select {
	case err := <-lost:
		// It may have had the lock for the moment before the last kill, which is an admin_shutdown.
		var killed *pgconn.PgError
		if !errors.Is(err, db.ErrInUse) && (!errors.As(err, &killed) || killed.Code != "57P01") {
			t.Errorf("lost: got %v, want ErrInUse", err)
		}
	case <-time.After(testkit.Timeout):
		t.Fatalf("calls of lost within %s: got none, want one", testkit.Timeout)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the lock is acquired when it is free", func() bool { return holder() != 0 })
	if len(lost) != 0 {
		t.Errorf("calls of lost: got a second one with error %v, want one call", <-lost)
	}
}

// AcquireInstanceLock waits longer for a process that is stopping than for one
// that is running.
func TestInstanceLock_WaitsForStopping(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	lost := func(err error) { t.Error(err) }
	first, err := acquireLock(t, url, false, lost)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := acquireLock(t, url, false, lost); !errors.Is(err, db.ErrInUse) {
		t.Errorf("beside a running process: got %v, want ErrInUse", err)
	}
	refusedAfter := time.Since(began)
	first.MarkStopping()
	first.MarkStopping() // a second call changes nothing
	time.AfterFunc(refusedAfter+time.Second, first.Release)
	began = time.Now()
	if _, err := acquireLock(t, url, false, lost); err != nil {
		t.Errorf("beside a stopping process: got %v after %s, want the lock", err, time.Since(began))
	}
	if took := time.Since(began); took < refusedAfter {
		t.Errorf("time until the lock is acquired: got %s, want at least %s, because the other process has it", took,
			refusedAfter)
	}
}
