package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/backup"
)

// scheduleFixture is a schedule with a clock that the test sets.
type scheduleFixture struct {
	backup.Schedule
	now  time.Time
	made int
}

func newSchedule(t *testing.T, dir string) *scheduleFixture {
	f := &scheduleFixture{now: madeAt}
	f.Schedule = backup.Schedule{
		Dir:        dir,
		Every:      6 * time.Hour,
		Keep:       3,
		DatabaseID: "mine",
		Create: func(context.Context) (*backup.Archive, error) {
			f.made++
			m := backup.Manifest{CreatedAt: f.now, Engine: backup.SQLite, DatabaseID: f.DatabaseID}
			return newArchive(t, m, "content"), nil
		},
	}
	return f
}

func (f *scheduleFixture) runDue(t *testing.T) backup.Result {
	t.Helper()
	result, err := f.RunDue(t.Context(), f.now)
	if err != nil {
		t.Fatalf("at %s: %v", f.now, err)
	}
	return result
}

func backupNames(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestSchedule_NewestFileDecides(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newSchedule(t, dir)
	if r := f.runDue(t); filepath.Base(r.File) != "parley-20261124T060000Z.tar" || !r.Newest.Equal(madeAt) {
		t.Fatalf("the first run: got %+v, want a backup at once", r)
	}
	// A restart is a new schedule on the same directory.
	restarted := newSchedule(t, dir)
	restarted.now = madeAt.Add(6*time.Hour - time.Second)
	if r := restarted.runDue(t); r.File != "" || !r.Newest.Equal(madeAt) {
		t.Errorf("a second before it is due: got %+v, want no backup", r)
	}
	restarted.now = madeAt.Add(6 * time.Hour)
	if r := restarted.runDue(t); r.File == "" {
		t.Error("when it is due: got no backup")
	}
	if got := backupNames(t, dir); len(got) != 2 {
		t.Errorf("got %v, want two backups", got)
	}
}

func TestSchedule_DeletesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := newSchedule(t, dir)
	other.DatabaseID, other.now = "other", madeAt.Add(-time.Hour)
	other.runDue(t)
	foreign := []string{"parley-20200101T000000Z.tar", "parley.tar", "notes.txt", "parley-20200101T000000Z.tar.gpg"}
	for _, name := range foreign {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	part := filepath.Join(dir, "parley-20200101T000000Z.tar.123.part") // of a killed process
	if err := os.WriteFile(part, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newSchedule(t, dir)
	var made, deleted []string
	for range 5 {
		r := f.runDue(t)
		made, deleted = append(made, r.File), append(deleted, r.Deleted...)
		f.now = f.now.Add(f.Every)
	}
	if !slices.Equal(deleted, made[:2]) {
		t.Errorf("got %v deleted, want the two oldest of %v", deleted, made)
	}
	want := append(foreign, "parley-20261124T050000Z.tar")
	for _, path := range made[2:] {
		want = append(want, filepath.Base(path))
	}
	slices.Sort(want)
	if got := backupNames(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSchedule_FailureDeletesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newSchedule(t, dir)
	f.Keep = 1
	f.runDue(t)
	before := backupNames(t, dir)
	failure := errors.New("the disk is full")
	f.Create = func(context.Context) (*backup.Archive, error) { return nil, failure }
	f.now = f.now.Add(f.Every)
	if r, err := f.RunDue(t.Context(), f.now); !errors.Is(err, failure) || !r.Newest.Equal(madeAt) {
		t.Errorf("got %+v, %v, want the error and the time of the backup that is left", r, err)
	}
	if got := backupNames(t, dir); !slices.Equal(got, before) {
		t.Errorf("got %v, want %v", got, before)
	}
}

// A shutdown during a backup ends the backup and leaves no file.
func TestSchedule_CanceledWhileWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newSchedule(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	create := f.Create
	f.Create = func(ctx context.Context) (*backup.Archive, error) {
		defer cancel()
		return create(ctx)
	}
	if r, err := f.RunDue(ctx, f.now); !errors.Is(err, context.Canceled) || r.File != "" {
		t.Errorf("got %+v, %v, want context.Canceled", r, err)
	}
	if got := backupNames(t, dir); len(got) != 0 {
		t.Errorf("got %v, want no files", got)
	}
}

func TestSchedule_MissingDirectory(t *testing.T) {
	t.Parallel()
	f := newSchedule(t, filepath.Join(t.TempDir(), "missing"))
	_, err := f.RunDue(t.Context(), f.now)
	if err == nil || !strings.Contains(err.Error(), "--backup-dir") || f.made != 0 {
		t.Errorf("got %v after %d backups, want an error that names --backup-dir", err, f.made)
	}
}

// Of several nodes that share a directory, one makes the backup.
func TestSchedule_NodesShareDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var nodes sync.WaitGroup
	for range 4 {
		f := newSchedule(t, dir)
		nodes.Go(func() {
			if _, err := f.RunDue(t.Context(), f.now); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	if got := backupNames(t, dir); len(got) != 1 {
		t.Errorf("got %v, want one backup", got)
	}
}

// A backup with a time in the future, of a clock that was wrong, does not stop the schedule.
func TestSchedule_ClockWasWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newSchedule(t, dir)
	f.now = madeAt.AddDate(1, 0, 0)
	f.runDue(t)
	f.now, f.Keep = madeAt, 2
	if r := f.runDue(t); r.File == "" || !r.Newest.Equal(madeAt) {
		t.Errorf("got %+v, want a backup", r)
	}
	f.now = madeAt.Add(time.Minute)
	if r := f.runDue(t); r.File != "" {
		t.Errorf("a minute later: got %+v, want no backup", r)
	}
	for range 2 {
		f.now = f.now.Add(f.Every)
		f.runDue(t)
	}
	// The backup of the future is none of the two that are kept.
	want := []string{"parley-20261124T120100Z.tar", "parley-20261124T180100Z.tar", "parley-20271124T060000Z.tar"}
	if got := backupNames(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
