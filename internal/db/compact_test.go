package db

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/fault"
)

// compactingEngine is an engine whose compaction and snapshot take some time.
type compactingEngine struct {
	fakeEngine
	takes    time.Duration
	noSpace  error
	active   []string // what reads the whole file at the moment
	overlaps int
	runs     int
}

func (e *compactingEngine) checkSpaceToCompact(context.Context) error { return e.noSpace }

func (e *compactingEngine) compact(ctx context.Context, _ string) error {
	e.runs++
	return e.copyFile(ctx, "compact")
}

func (e *compactingEngine) snapshot(ctx context.Context, _ string, _ func(*Reader) error) error {
	return e.copyFile(ctx, "snapshot")
}

func (e *compactingEngine) copyFile(ctx context.Context, name string) error {
	e.active = append(e.active, name)
	if len(e.active) > 1 {
		e.overlaps++
	}
	err := sleep(ctx, e.takes)
	e.active = e.active[1:]
	return err
}

func withCompactingEngine(t *testing.T, takes time.Duration, test func(t *testing.T, db *DB, e *compactingEngine)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &compactingEngine{fakeEngine: fakeEngine{conn: &fakeConn{fail: failNth(0, "", nil)}}, takes: takes}
		db := newDB(e)
		defer func() { _ = db.Close() }()
		test(t, db, e)
	})
}

var silent = slog.New(slog.DiscardHandler)

// More callers than the queue has room for wait until a compaction ends, and none fails.
func TestCompact_WritesWait(t *testing.T) {
	withCompactingEngine(t, 10*time.Second, func(t *testing.T, db *DB, _ *compactingEngine) {
		began := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() {
			if done, err := db.Compact(t.Context(), silent, ""); !done || err != nil {
				t.Errorf("Compact: got %t, %v, want true", done, err)
			}
		})
		synctest.Wait()
		for range queueLength + 100 {
			callers.Go(func() {
				err := db.Write(context.Background(), noWork)
				if took := time.Since(began).Round(time.Second); err != nil || took != 10*time.Second {
					t.Errorf("Write: got %v after %s, want success after 10s", err, took)
				}
			})
		}
		callers.Go(func() {
			if err := db.Ping(context.Background()); err != nil || time.Since(began) > time.Second {
				t.Errorf("Ping: got %v after %s, want nil at once", err, time.Since(began))
			}
		})
		callers.Wait()
	})
}

// Writes do not wait for ever. Callers of Compact share one compaction, which does not end
// with the context of one of them.
func TestCompact_LongerThanWritesWait(t *testing.T) {
	withCompactingEngine(t, time.Minute, func(t *testing.T, db *DB, e *compactingEngine) {
		began := time.Now()
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				if done, err := db.Compact(t.Context(), silent, ""); !done || err != nil || time.Since(began) != time.Minute {
					t.Errorf("Compact: got %t, %v after %s, want true after 1m", done, err, time.Since(began))
				}
			})
		}
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if done, err := db.Compact(ctx, silent, ""); done || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Compact for 20s: got %t, %v, want DeadlineExceeded", done, err)
			}
		})
		synctest.Wait()
		assertUnavailableAfter(t, maxCompactionWait, db, noWork)
		assertUnavailableAfter(t, 600*time.Millisecond, db, noWork)
		if err := db.Ping(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("Ping after %s: got %v, want Unavailable", time.Since(began), err)
		}
		callers.Wait()
		if err := db.Write(context.Background(), noWork); err != nil || e.runs != 1 {
			t.Errorf("after the compaction: got %v and %d runs, want a write and one run", err, e.runs)
		}
		if done, err := db.Compact(t.Context(), silent, ""); !done || err != nil || e.runs != 2 {
			t.Errorf("compact again: got %t, %v, %d runs, want a second run", done, err, e.runs)
		}
	})
}

// A compaction and a snapshot wait for each other, and writes do not wait for a snapshot.
func TestCompact_NotDuringSnapshot(t *testing.T) {
	withCompactingEngine(t, 5*time.Second, func(t *testing.T, db *DB, e *compactingEngine) {
		var callers sync.WaitGroup
		snapshot := func() {
			if err := db.Snapshot(t.Context(), "", nil); err != nil {
				t.Errorf("Snapshot: got error %v, want none", err)
			}
		}
		callers.Go(snapshot)
		synctest.Wait()
		callers.Go(func() {
			if done, err := db.Compact(t.Context(), silent, ""); !done || err != nil {
				t.Errorf("Compact: got %t, %v, want true", done, err)
			}
		})
		synctest.Wait()
		began := time.Now()
		if err := db.Write(context.Background(), noWork); err != nil || time.Since(began) != 0 {
			t.Errorf("write during a snapshot: got %v after %s, want success at once", err, time.Since(began))
		}
		callers.Go(snapshot)
		callers.Wait()
		if e.overlaps != 0 || e.runs != 1 {
			t.Errorf("got %d overlaps and %d compactions, want 0 and 1", e.overlaps, e.runs)
		}
	})
}

func TestCompact_Fails(t *testing.T) {
	withCompactingEngine(t, time.Hour, func(t *testing.T, db *DB, e *compactingEngine) {
		e.noSpace = errors.New("the disk is full")
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		if done, err := db.Compact(t.Context(), log, ""); done || !errors.Is(err, e.noSpace) || e.runs != 0 {
			t.Errorf("without space: got %t, %v and %d runs, want %v and none", done, err, e.runs, e.noSpace)
		}
		if want := `level=ERROR msg="compact the database skipped, it still contains erased data" ` +
			`error="the disk is full"`; !strings.Contains(text.String(), want) {
			t.Errorf("log: got %s, want %s", text.String(), want)
		}
		e.noSpace = nil
		result := make(chan error)
		go func() {
			_, err := db.Compact(context.Background(), silent, "")
			result <- err
		}()
		synctest.Wait()
		began := time.Now()
		_ = db.Close()
		if err := <-result; !fault.Is(err, fault.Unavailable) || time.Since(began) != 0 {
			t.Errorf("closed: got %v after %s, want Unavailable at once", err, time.Since(began))
		}
		if _, err := db.Compact(t.Context(), silent, ""); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after Close: got %v, want Unavailable", err)
		}
	})
}
