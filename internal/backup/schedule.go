package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// nameLayout is the name of a scheduled backup, with the time at which it began.
	nameLayout = "parley-20060102T150405Z.tar"
	lockName   = ".parley-backup.lock"
)

// Schedule makes backups in a directory at an interval and deletes old ones. Several
// processes may have the same directory: one of them makes the backup.
type Schedule struct {
	Dir   string
	Every time.Duration
	Keep  int // number of backups to keep; 0 keeps all
	// DatabaseID is the identity of the database. Backups of other databases in the
	// directory do not count and are never deleted.
	DatabaseID string
	Create     func(ctx context.Context) (*Archive, error)
}

// Result is the result of RunDue.
type Result struct {
	File    string    // path of the new backup; empty if RunDue made none
	Deleted []string  // paths of the old backups that were deleted
	Newest  time.Time // time of the newest backup in the directory; zero if there is none
}

// stored is a backup in the directory with a readable manifest.
type stored struct {
	path      string
	createdAt time.Time
}

// RunDue makes a backup if the newest one in the directory is at least as old as the
// interval, so that a restart does not postpone a backup. It makes no backup while another
// process makes one. It sets Newest of the result after an error too.
func (s *Schedule) RunDue(ctx context.Context, now time.Time) (Result, error) {
	all, err := s.list()
	result := Result{Newest: newest(all, now)}
	if err != nil || !s.due(result.Newest, now) {
		return result, err
	}
	unlock, ok, err := lockDir(s.Dir)
	if err != nil || !ok {
		return result, err
	}
	defer unlock()
	// Another process may have made it before this one got the lock.
	all, err = s.list()
	result.Newest = newest(all, now)
	if err != nil || !s.due(result.Newest, now) {
		return result, err
	}
	if err := s.deleteParts(); err != nil {
		return result, err
	}
	archive, err := s.Create(ctx)
	if err != nil {
		return result, err
	}
	defer func() { _ = archive.Close() }()
	created := archive.Manifest.CreatedAt
	path := filepath.Join(s.Dir, created.UTC().Format(nameLayout))
	if err := WriteFile(path, func(w io.Writer) error { return archive.Write(ctx, w) }); err != nil {
		return result, err
	}
	result.File, result.Newest = path, created
	if result.Deleted, err = s.deleteOld(all, now); err != nil {
		err = fmt.Errorf("delete old backups: %w", err)
	}
	return result, err
}

// Next returns the time at which the next backup is due.
func (s *Schedule) Next(newest time.Time) time.Time { return newest.Add(s.Every) }

// NewestFile returns the time in the name of the newest scheduled backup in a directory, which is when
// it began; zero if there is none.
func NewestFile(dir string) (newest time.Time, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if at, err := time.Parse(nameLayout, e.Name()); err == nil && e.Type().IsRegular() && at.After(newest) {
			newest = at
		}
	}
	return newest, err
}

func (s *Schedule) due(newest, now time.Time) bool { return !now.Before(s.Next(newest)) }

// list returns the backups of this database in the directory whose manifest can be read,
// the oldest first. WriteFile gives only complete files their name.
func (s *Schedule) list() ([]stored, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("--backup-dir: %w", err)
	}
	var all []stored
	for _, e := range entries {
		if _, err := time.Parse(nameLayout, e.Name()); err != nil || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(s.Dir, e.Name())
		m, err := readManifest(path)
		if err == nil && m.DatabaseID == s.DatabaseID {
			all = append(all, stored{path: path, createdAt: m.CreatedAt})
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return a.createdAt.Compare(b.createdAt) })
	return all, nil
}

// newest returns the time of the newest backup that is not in the future, because a clock
// that was wrong once must not stop the schedule.
func newest(all []stored, now time.Time) time.Time {
	for _, b := range slices.Backward(all) {
		if !b.createdAt.After(now) {
			return b.createdAt
		}
	}
	return time.Time{}
}

// deleteParts deletes what a killed process has left.
func (s *Schedule) deleteParts() error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		name := e.Name()
		_, notBackup := time.Parse(nameLayout, name[:min(len(name), len(nameLayout))])
		if notBackup == nil && strings.HasSuffix(name, partSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(s.Dir, name)))
		}
	}
	return err
}

// deleteOld deletes the oldest of the earlier backups, so that Keep are left with the new
// one. Backups with a time in the future, of a clock that was wrong, neither count nor are
// deleted: they would displace the real ones.
func (s *Schedule) deleteOld(earlier []stored, now time.Time) (deleted []string, err error) {
	if s.Keep == 0 {
		return nil, nil
	}
	earlier = slices.DeleteFunc(earlier, func(b stored) bool { return b.createdAt.After(now) })
	for _, old := range earlier[:max(0, len(earlier)-(s.Keep-1))] {
		if rerr := os.Remove(old.path); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		deleted = append(deleted, old.path)
	}
	return deleted, err
}

// lockDir locks a directory against other processes. ok is false if another has it. The
// kernel unlocks it when this process ends, for whatever reason.
func lockDir(dir string) (unlock func(), ok bool, err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("--backup-dir: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("--backup-dir: lock %s: %w", f.Name(), err)
	}
	return func() { _ = f.Close() }, true, nil
}
