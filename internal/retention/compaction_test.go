package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// fullDisk is a store that counts the attempts to rewrite its files, which fail as long as the disk is full.
type fullDisk struct {
	*store.DB
	full     bool
	attempts int
}

func (s *fullDisk) Compact(ctx context.Context, log *slog.Logger) (bool, error) {
	if s.attempts++; s.full {
		return false, errors.New("the disk is full")
	}
	return s.DB.Compact(ctx, log)
}

// serve returns the service on another store, as after a start of the server.
func (f *fixture) serve(s retention.Store) *retention.Service {
	return retention.NewService(s, f.periods, f, func(string) {}, func() time.Time { return f.now },
		slog.New(slog.DiscardHandler))
}

// checkCompactionDue fails unless a compaction is due on SQLite, or is not.
func (f *fixture) checkCompactionDue(want bool) {
	f.t.Helper()
	want = want && f.URL == ""
	if got, err := f.db.CompactionDue(f.t.Context()); err != nil || got != want {
		f.t.Errorf("a compaction is due: got %t, %v, want %t", got, err, want)
	}
}

// Sweeps rewrite the files that an erasure could not rewrite, after longer and longer pauses, and one without a pause
// after each start.
func TestSweep_ResumesFailedCompaction(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		const name, userID = "Zebulon Quixote", "user-Zebulon-7"
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Bo", ""}, guest{name, userID})
		disk := &fullDisk{DB: f.db, full: true}
		service := f.serve(disk)
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
		failed := false // the last compaction of a sweep
		sweep := func(after time.Duration, attempts int) {
			t.Helper()
			f.now = f.now.Add(after)
			disk.attempts = 0
			if f.URL != "" {
				attempts = 0
			}
			if attempts > 0 {
				failed = disk.full
			}
			ctx, stop := context.WithCancel(ctx)
			service.Run(ctx, func(swept, compacted error) {
				if swept != nil || (compacted != nil) != failed {
					t.Errorf("sweep after %s: got the errors %v, %v, want only that of a failed compaction: %t", after, swept,
						compacted, failed)
				}
				stop()
			})
			if disk.attempts != attempts {
				t.Errorf("sweep after %s: got %d compactions, want %d", after, disk.attempts, attempts)
			}
		}
		sweep(0, 0)
		done, err := service.Erase(ctx, retention.Person{ProjectID: f.project.ID, UserID: userID})
		if err != nil || done.Compaction != retention.CompactionFailed {
			t.Fatalf("erase on a full disk: got %+v, %v, want a failed compaction", done, err)
		}
		f.checkCompactionDue(true)
		sweep(0, 1)
		sweep(59*time.Minute, 0)
		sweep(time.Minute, 1)
		sweep(time.Hour, 0)
		sweep(time.Hour, 1)
		for range 5 {
			sweep(day, 1)
		}
		sweep(day-time.Minute, 0)
		if f.URL == "" && f.filesContain(name) == nil {
			t.Error("got no file with the name while the disk is full, want some, to prove that the compaction is needed")
		}
		disk.full = false
		service = f.serve(disk)
		sweep(0, 1)
		f.checkCompactionDue(false)
		f.checkNoByteLeft([]string{name, userID}, r.Title)
		sweep(2*day, 0)

		f.write(func(ctx context.Context) error { return f.db.MarkCompactionDue(ctx) })
		disk.full = true
		sweep(0, 1)
		disk.full = false
		erased, err := service.Erase(ctx, retention.Person{ProjectID: f.project.ID, UserID: "nobody"})
		if err != nil || erased.Compaction == retention.CompactionFailed {
			t.Fatalf("erase on a disk with space: got %+v, %v, want a compaction", erased, err)
		}
		failed = false // because the erasure has compacted the files
		sweep(0, 0)
	})
}

// A project and an organization are deleted although their files cannot be rewritten, and later sweeps rewrite them.
func TestDeletion_ResumesFailedCompaction(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		const name, userID = "Zebulon Quixote", "user-Zebulon-7"
		kept := f.meeting(storetest.Project(t, f.db).ID, f.now.Add(-day), guest{"Bo", ""})
		f.meeting(f.project.ID, f.now.Add(-3*day), guest{name, userID})
		disk := &fullDisk{DB: f.db, full: true}
		service := f.serve(disk)
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
		sweep := func() {
			t.Helper()
			if _, err := service.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		f.suspend()
		err := errors.Join(service.DeleteProject(ctx, f.project.ID), f.usage.RollUp(ctx))
		if err != nil {
			t.Fatal(err)
		}
		sweep()
		if _, err := f.db.Project(ctx, f.project.ID); !fault.Is(err, fault.NotFound) {
			t.Fatalf("the project: got %v, want NotFound", err)
		}
		f.checkCompactionDue(true)
		disk.full = false
		f.now = f.now.Add(time.Hour)
		sweep()
		f.checkCompactionDue(false)
		f.checkNoByteLeft([]string{name, userID}, kept.Title)

		o := project.Organization{ID: storetest.NewID(), Name: "Empty", Billing: project.Plan, CreatedAt: f.now}
		f.write(func(ctx context.Context) error { return f.db.InsertOrganization(ctx, o) })
		disk.full = true
		done, err := service.DeleteOrganization(ctx, o.ID)
		if err != nil || done.Compaction != retention.CompactionFailed {
			t.Fatalf("delete an organization on a full disk: got %+v, %v, want a failed compaction", done, err)
		}
		f.checkCompactionDue(true)
		disk.full = false
		sweep()
		f.checkCompactionDue(false)
	})
}

// A process that is killed while it rewrites the files leaves them with the erased text. The next one rewrites them.
func TestErase_KilledDuringCompaction(t *testing.T) {
	const name, userID = "Zebulon Quixote", "user-Zebulon-7"
	f := newFixture(t, storetest.Database{Dir: t.TempDir()}, retention.Periods{})
	for i := range 50 {
		f.meeting(f.project.ID, f.now.Add(-time.Duration(i+2)*day), guest{"Bo", ""})
	}
	r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Bo", ""}, guest{name, userID})
	if err := f.db.Close(); err != nil { // which empties the write-ahead log
		t.Fatal(err)
	}
	file, err := os.Stat(f.File())
	if err != nil {
		t.Fatal(err)
	}
	// While another process reads the database, the new content of the file stays in the write-ahead log.
	reader, err := f.Raw(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rooms int
	if err := reader.QueryRow(`SELECT count(*) FROM rooms`).Scan(&rooms); err != nil {
		t.Fatal(err)
	}
	lines := f.runChild(crashArguments{
		Erase:         retention.Person{ProjectID: f.project.ID, UserID: userID},
		KillAtLogSize: file.Size(),
	}, 0)
	if slices.Contains(lines, finishedLine) {
		t.Fatalf("the child: got the lines %q, want it killed during the compaction", lines)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.open()
	f.checkCompactionDue(true)
	if got := f.rows(name); len(got) != 0 {
		t.Errorf("rows with the name after the kill: got %v, want none", got)
	}
	if f.filesContain(name) == nil {
		t.Error("got no file with the name after the kill, want some, to prove that the compaction is needed")
	}
	ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
	if _, err := f.retention.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	f.checkCompactionDue(false)
	f.checkNoByteLeft([]string{name, userID}, r.Title)
}
