package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// maxRecoveryTime is the longest time until a call succeeds while the server runs. A call
// may fail before, because the tests of other packages can leave the server without a
// processor for more than the 900 ms of a call.
const maxRecoveryTime = 20 * time.Second

// During an outage of the server every call fails. After it calls succeed again.
// writer_test.go tests the time limit of 900 ms with a fake clock.
func TestDB_ServerOutage(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	g := newFixture(t, storetest.Database{URL: server.NewDatabase(t)})
	ctx := context.Background()
	known := storetest.NewID()
	err := g.db.Write(db.WithWriteTimeout(ctx, maxRecoveryTime), insertRoomWork(g.db, g.project, known))
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"write": func() error { return g.db.Write(ctx, insertRoomWork(g.db, g.project, storetest.NewID())) },
		"read":  func() error { _, err := g.db.Room(ctx, known); return err },
		"list":  func() error { _, err := storetest.Events(ctx, g.db, known); return err },
		"ping":  func() error { return g.db.Ping(ctx) },
	}
	concurrently := func(check func(name string, err error, took time.Duration)) {
		var wg sync.WaitGroup
		for name, call := range calls {
			for range 16 { // more than the pool has connections
				wg.Go(func() {
					began := time.Now()
					check(name, call(), time.Since(began))
				})
			}
		}
		wg.Wait()
	}
	// One call after the other, because a busy machine may be too slow for all at once.
	allSucceed := func() {
		t.Helper()
		deadline := time.Now().Add(maxRecoveryTime)
		for name, call := range calls {
			for err := call(); err != nil; err = call() {
				if !fault.Is(err, fault.Unavailable) || time.Now().After(deadline) {
					t.Fatalf("%s: got error %v, want none within %s, and before that only Unavailable", name, err, maxRecoveryTime)
				}
			}
		}
	}
	unavailable := func(name string, err error, took time.Duration) {
		if !fault.Is(err, fault.Unavailable) || took > testkit.Timeout {
			t.Errorf("%s: got %v after %s, want Unavailable within %s", name, err, took, testkit.Timeout)
		}
	}
	allSucceed()
	for _, outage := range []struct {
		name     string
		from, to func(t testing.TB)
	}{
		{"stopped", server.Stop, server.Start},
		{"frozen", server.Freeze, server.Thaw},
	} {
		t.Run(outage.name, func(t *testing.T) {
			outage.from(t)
			concurrently(unavailable)
			concurrently(unavailable)
			outage.to(t)
			allSucceed()
		})
	}
}

// Every committed room survives a power failure of the server.
func TestWrite_SurvivesServerCrash(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	g := newFixture(t, storetest.Database{URL: server.NewDatabase(t)})
	var wg sync.WaitGroup
	acknowledged := make(chan string, 1<<20)
	for range 32 {
		wg.Go(func() {
			for {
				id := storetest.NewID()
				if g.db.Write(context.Background(), insertRoomWork(g.db, g.project, id)) != nil {
					return
				}
				acknowledged <- id
			}
		})
	}
	for range 500 {
		acknowledged <- <-acknowledged // wait for 500 commits
	}
	server.Stop(t)
	wg.Wait()
	close(acknowledged)
	server.Start(t)
	var all []string
	for id := range acknowledged {
		all = append(all, id)
	}
	g.checkRooms(t, true, all...)
}
