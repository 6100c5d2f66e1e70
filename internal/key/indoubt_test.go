package key_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// lateStore is a store whose writes can take longer than their callers wait.
type lateStore struct {
	*store.DB
	late     atomic.Bool // the next write returns Unavailable before its commit
	release  chan struct{}
	finished chan error // result of the late write
}

func (l *lateStore) Write(ctx context.Context, work func(ctx context.Context) error) error {
	if !l.late.CompareAndSwap(true, false) {
		return l.DB.Write(ctx, work)
	}
	worked := make(chan struct{}, 10)
	go func() {
		l.finished <- l.DB.Write(storetest.Patient(ctx), func(ctx context.Context) error {
			err := work(ctx)
			worked <- struct{}{}
			<-l.release
			return err
		})
	}()
	<-worked
	late := fault.New(fault.Unavailable, "unavailable", "the commit did not finish in time")
	late.InDoubt = true
	return late
}

// TestKeyring_CommitAfterTimeout makes changes whose commit comes after their caller got an error
// and after the keyring was read again. They take effect nevertheless.
func TestKeyring_CommitAfterTimeout(t *testing.T) {
	t.Parallel()
	type services struct {
		keys     *key.Service
		projects *project.Service
		project  project.Project
	}
	plan := "gold"
	twoKeys := func(r *key.Keyring) bool { return len(r.LiveAPIKeys(time.Now())) == 2 }
	for name, tc := range map[string]struct {
		change  func(ctx context.Context, s services) error
		changed func(r *key.Keyring) bool
	}{
		"revoke": {
			change:  func(ctx context.Context, s services) error { return s.keys.RevokeOverlap(ctx, s.project.ID) },
			changed: func(r *key.Keyring) bool { return !twoKeys(r) },
		},
		"rotate": {
			change: func(ctx context.Context, s services) error {
				_, err := s.keys.RotateKey(ctx, s.project.ID, key.Rotation{Force: true})
				return err
			},
			changed: func(r *key.Keyring) bool { return !twoKeys(r) },
		},
		"suspend": {
			change:  func(ctx context.Context, s services) error { return s.projects.Suspend(ctx, s.project.ID) },
			changed: func(r *key.Keyring) bool { return r.Project.Suspended() },
		},
		"plan": {
			change: func(ctx context.Context, s services) error {
				_, err := s.projects.SetOrganization(ctx, s.project.OrganizationID, project.OrganizationChanges{Plan: &plan})
				return err
			},
			changed: func(r *key.Keyring) bool { return r.Organization.Plan == plan },
		},
	} {
		for engine, open := range storetest.Engines {
			t.Run(name+" on "+engine, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				counted := &countingStore{DB: open(t), counts: map[string]int{}}
				db := &lateStore{DB: counted.DB, release: make(chan struct{}), finished: make(chan error, 1)}
				commit := sync.OnceFunc(func() { close(db.release) })
				t.Cleanup(commit) // before the database is closed, which waits for it
				s := services{project: storetest.Project(t, db.DB)}
				s.projects = project.NewService(db, time.Now, newID, func(id string) { s.keys.InvalidateAndPublish(id) },
					project.WithInvalidateInDoubt(func(id string) { s.keys.InvalidateInDoubt(id) }))
				published := 0
				s.keys = key.NewService(struct {
					*countingStore
					writer
				}{counted, db}, s.projects, time.Now, newID, key.WithInvalidationPublisher(func(string) { published++ }))
				s.keys.EnableCache()
				if _, err := s.keys.RotateKey(storetest.Patient(ctx), s.project.ID, key.Rotation{Overlap: time.Hour}); err != nil {
					t.Fatal(err)
				}
				requireChanged := func(want bool) {
					t.Helper()
					r, err := s.keys.Keyring(ctx, s.project.ID)
					if err != nil {
						t.Fatal(err)
					}
					if got := tc.changed(r); got != want {
						t.Fatalf("keyring contains the change: got %t, want %t", got, want)
					}
				}
				requireChanged(false)
				published = 0
				db.late.Store(true)
				if err := tc.change(ctx, s); !fault.Is(err, fault.Unavailable) {
					t.Fatalf("change: got error %v, want Unavailable", err)
				}
				requireChanged(false) // it is not committed yet
				if err := s.keys.Sweep(ctx); !fault.Is(err, fault.Unavailable) || published != 1 {
					t.Fatalf("sweep before the commit: got error %v, %d publications, want Unavailable and 1", err, published)
				}
				requireChanged(false)
				commit()
				if err := <-db.finished; err != nil {
					t.Fatal(err)
				}
				requireChanged(true)
				if err := s.keys.Sweep(storetest.Patient(ctx)); err != nil || published != 2 {
					t.Fatalf("sweep after the commit: got error %v, %d publications, want none and 2", err, published)
				}
				requireChanged(true)
				counted.drainCounts()
				requireChanged(true)
				if counts := counted.drainCounts(); len(counts) > 0 {
					t.Errorf("after the sweep: got queries %v, want none", counts)
				}
			})
		}
	}
}

// writer is the part of a store that lateStore replaces.
type writer interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
}
