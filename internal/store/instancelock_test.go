package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/internal/store"
	"parley/internal/store/storetest"
)

func acquireLock(t *testing.T, url string, shared bool, lost func(error)) (*store.InstanceLock, error) {
	t.Helper()
	c, err := store.AcquireInstanceLock(context.Background(), url, shared, lost)
	if err == nil {
		t.Cleanup(c.Release)
	}
	return c, err
}

func TestInstanceLock_Conflicts(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	lost := func(err error) { t.Error(err) }
	alone, err := acquireLock(t, url, false, lost)
	if err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{false, true} {
		if _, err := acquireLock(t, url, shared, lost); !errors.Is(err, store.ErrDatabaseInUse) {
			t.Errorf("beside one that is alone (shared: %v): %v", shared, err)
		}
	}
	alone.Release()
	for range 2 {
		if _, err := acquireLock(t, url, true, lost); err != nil {
			t.Errorf("those that share: %v", err)
		}
	}
	if _, err := acquireLock(t, url, false, lost); !errors.Is(err, store.ErrDatabaseInUse) {
		t.Errorf("alone beside those that share: %v", err)
	}
	if _, err := acquireLock(t, storetest.Postgres(t), false, lost); err != nil {
		t.Errorf("another database: %v", err)
	}
}

// A claim whose connection has died is taken again by itself, and where
// somebody else was faster, that is told once.
func TestInstanceLock_Reacquired(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	told := make(chan error, 10)
	if _, err := acquireLock(t, url, false, func(err error) { told <- err }); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	const holders = `FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND granted AND pid <> pg_backend_pid()`
	kill := func() {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) "+holders); err != nil {
			t.Fatal(err)
		}
	}
	held := func() (n int) {
		if err := conn.QueryRow(t.Context(), "SELECT count(*) "+holders).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never came true: %s", what)
			}
		}
	}
	kill()
	until("the connection is dead", func() bool { return held() == 0 })
	until("the claim is taken again", func() bool { return held() == 1 })

	until("somebody else is faster", func() bool {
		kill()
		var taken bool
		if err := conn.QueryRow(t.Context(), "SELECT pg_try_advisory_lock($1)", int64(0x7061726c6579)).Scan(&taken); err != nil {
			t.Fatal(err)
		}
		return taken
	})
	select {
	case err := <-told:
		if !errors.Is(err, store.ErrDatabaseInUse) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was told")
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	until("the claim is taken when it is free", func() bool { return held() == 1 })
	if len(told) != 0 {
		t.Errorf("told again: %v", <-told)
	}
}

// A start waits longer for a process that is stopping than for one that runs.
func TestInstanceLock_WaitsForStopping(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	lost := func(err error) { t.Error(err) }
	first, err := acquireLock(t, url, false, lost)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := acquireLock(t, url, false, lost); !errors.Is(err, store.ErrDatabaseInUse) {
		t.Errorf("beside one that runs: %v", err)
	}
	refusedAfter := time.Since(began)
	first.MarkStopping()
	first.MarkStopping() // again changes nothing
	time.AfterFunc(refusedAfter+time.Second, first.Release)
	began = time.Now()
	if _, err := acquireLock(t, url, false, lost); err != nil {
		t.Errorf("after %s beside one that was stopping: %v", time.Since(began), err)
	}
	if took := time.Since(began); took < refusedAfter {
		t.Errorf("claimed after %s, before the other gave it up", took)
	}
}
