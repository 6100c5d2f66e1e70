package db_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// Writers and health checks run while a large SQLite file is rewritten, which takes longer
// than a write usually waits.
func TestCompact_LargeSQLiteFile(t *testing.T) {
	testkit.Slow(t)
	const megabytes = 200
	f := newFixture(t, storetest.Database{Dir: t.TempDir()})
	raw := f.Raw(t)
	for _, q := range []string{
		`CREATE TABLE filler (n INTEGER PRIMARY KEY, data BLOB)`,
		`WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 200)
			INSERT INTO filler SELECT n, randomblob(1000000) FROM i`,
		`DELETE FROM filler WHERE n = 7`,
	} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var writers sync.WaitGroup
	var written atomic.Int64
	for range 8 {
		writers.Go(func() {
			for !stop.Load() {
				if err := f.db.Write(context.Background(), insertRoomWork(f.db, f.project, storetest.NewID())); err != nil {
					t.Errorf("write during the compaction: got error %v, want none", err)
					return
				}
				written.Add(1)
				if err := f.db.Ping(context.Background()); err != nil {
					t.Errorf("ping during the compaction: got error %v, want none", err)
					return
				}
			}
		})
	}
	done, err := f.db.DB.Compact(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)),
		`INSERT INTO filler (n) VALUES (1000)`)
	stop.Store(true)
	writers.Wait()
	if !done || err != nil {
		t.Errorf("Compact: got %t, %v, want true", done, err)
	}
	var added int
	if err := raw.QueryRow(`SELECT count(*) FROM filler WHERE n = 1000`).Scan(&added); err != nil || added != 1 {
		t.Errorf("rows of the statement after the compaction: got %d, %v, want 1", added, err)
	}
	info, err := os.Stat(f.File())
	if err != nil || info.Size() > (megabytes+5)*1_000_000 || info.Size() < (megabytes-5)*1_000_000 {
		t.Errorf("the file: got %v, %v, want about %d MB", info, err, megabytes)
	}
	t.Logf("%d writes", written.Load())
}

// A program that reads the file all the time makes a compaction fail soon, because all writes wait for it.
func TestCompact_BesideReader(t *testing.T) {
	testkit.Slow(t)
	f := newFixture(t, storetest.Database{Dir: t.TempDir()})
	reader, err := f.Raw(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback() }()
	var rooms int
	if err := reader.QueryRow(`SELECT count(*) FROM rooms`).Scan(&rooms); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = f.db.DB.Compact(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)), `SELECT 1`)
	took := time.Since(began)
	if err == nil || !strings.Contains(err.Error(), "another program reads the database") || took > time.Minute {
		t.Errorf("Compact beside a reader: got error %v after %s, want that another program reads, within a minute", err, took)
	}
}
