package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/audit"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/store"
)

const (
	// snapshotPattern matches the copies of the database that a backup is made from.
	// They are in the data directory, because it has room for a database.
	snapshotPattern = ".backup-*.tmp"
	// backupCheckInterval is the maximum time between two checks of the schedule. It is short,
	// because a timer does not run while the machine sleeps.
	backupCheckInterval = time.Minute
	// backupRetryInterval is the time after which a backup that failed is tried again.
	backupRetryInterval = 5 * time.Minute
)

// backups makes backups of the running service, one at a time.
type backups struct {
	db      *store.DB
	dataDir string
	engine  string
	now     func() time.Time
	running sync.Mutex // held until the archive of the current backup is closed
}

func newBackups(db *store.DB, cfg config.Config, now func() time.Time) *backups {
	engine := backup.SQLite
	if cfg.DatabaseURL != "" {
		engine = backup.Postgres
	}
	return &backups{db: db, dataDir: cfg.DataDir, engine: engine, now: now}
}

// Create copies the database and returns the archive, which the caller must close. The
// error is a Conflict while another backup is not closed, and otherwise Unavailable; its
// message is for the operator.
func (b *backups) Create(ctx context.Context) (*backup.Archive, error) {
	if !b.running.TryLock() {
		return nil, fault.New(fault.Conflict, "backup_running", "another backup is being made, try again when it is done")
	}
	archive, err := b.create(ctx)
	switch {
	case err == nil:
		return archive, nil
	case db.IsServerDiskFull(err):
		err = fmt.Errorf("the disk of the PostgreSQL server is full: free some space on it: %w", err)
	case db.IsDiskFull(err):
		err = fmt.Errorf("the disk of %s is full: free some space: %w", b.dataDir, err)
	}
	b.running.Unlock()
	return nil, &fault.Error{
		Kind:       fault.Unavailable,
		Code:       "backup_failed",
		RetryAfter: time.Minute,
		Err:        err,
		Message:    "the backup could not be made: " + err.Error(),
	}
}

func (b *backups) create(ctx context.Context) (_ *backup.Archive, err error) {
	m := backup.Manifest{CreatedAt: b.now().UTC().Truncate(time.Millisecond), Engine: b.engine}
	build := Build()
	m.Version, m.Revision = build.Version, build.Revision
	snapshot, err := os.CreateTemp(b.dataDir, snapshotPattern) // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = snapshot.Close()
			_ = os.Remove(snapshot.Name())
		}
	}()
	contents, err := b.db.SnapshotFile(ctx, snapshot.Name())
	if err != nil {
		return nil, err
	}
	m.Schema, m.Contraction, m.DatabaseID = contents.Schema, &contents.Contraction, contents.DatabaseID
	m.KeyFingerprint, m.Rows = contents.KeyFingerprint, contents.Rows
	if err = b.record(ctx, m); err != nil {
		return nil, err
	}
	return backup.NewArchive(ctx, m, snapshot, func() {
		_ = os.Remove(snapshot.Name())
		b.running.Unlock()
	})
}

// record records in the audit log that a backup was made, because it contains everything.
func (b *backups) record(ctx context.Context, m backup.Manifest) error {
	// In the background, because the copy has just filled the caches of the disk, and would have been in vain.
	return b.db.WriteInBackground(ctx, func(ctx context.Context) error {
		return audit.Record(ctx, b.db, m.CreatedAt, audit.Change{Action: audit.BackupCreated, Subject: m.DatabaseID,
			After: audit.Fields{"schema": m.Schema, "key_fingerprint": m.KeyFingerprint}})
	})
}

// removeSnapshots deletes the copies of the database that a killed process has left. The
// data directory must be locked.
func removeSnapshots(dataDir string) error {
	entries, err := os.ReadDir(dataDir)
	for _, e := range entries {
		// With SQLite's journals, whose names are longer.
		if left, _ := filepath.Match(snapshotPattern+"*", e.Name()); left {
			err = errors.Join(err, os.Remove(filepath.Join(dataDir, e.Name())))
		}
	}
	return err
}

// scheduledBackups makes the backups of --backup-dir.
type scheduledBackups struct {
	schedule backup.Schedule
	now      func() time.Time
	log      *slog.Logger
	newest   atomic.Pointer[time.Time] // nil before the first check of the directory
	failure  atomic.Pointer[error]     // of the last attempt; nil before the first
	waiting  bool                      // the last check found another backup in progress
	failures prometheus.Counter
}

// scheduledBackups returns nil without --backup-dir.
func (a *App) scheduledBackups(ctx context.Context) (*scheduledBackups, error) {
	if a.cfg.BackupDir == "" {
		return nil, nil
	}
	id, err := a.db.ID(ctx)
	if err != nil {
		return nil, err
	}
	return newScheduledBackups(backup.Schedule{
		Dir:        a.cfg.BackupDir,
		Every:      a.cfg.BackupEvery.Std(),
		Keep:       a.cfg.BackupKeep,
		DatabaseID: id,
		Create:     a.backups.Create,
	}, time.Now, a.log, a.registry), nil
}

func newScheduledBackups(schedule backup.Schedule, now func() time.Time, log *slog.Logger,
	registry prometheus.Registerer) *scheduledBackups {
	s := &scheduledBackups{schedule: schedule, now: now, log: log,
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_backup_failures_total", Help: "Scheduled backups that failed.",
		})}
	registry.MustRegister(s.failures, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "parley_backup_age_seconds",
		Help: "Age of the newest backup in the directory of --backup-dir; +Inf if there is none.",
	}, s.age))
	return s
}

// age returns the age of the newest backup in seconds.
func (s *scheduledBackups) age() float64 {
	newest := s.newest.Load()
	if newest == nil || newest.IsZero() {
		return math.Inf(1)
	}
	return s.now().Sub(*newest).Seconds()
}

// overdue reports whether the newest backup is older than the schedule allows, with some
// time to make the next one.
func (s *scheduledBackups) overdue() bool {
	if s.newest.Load() == nil {
		return false // the directory was not checked yet
	}
	return s.age() > (s.schedule.Every + min(s.schedule.Every, time.Hour)).Seconds()
}

// lastError returns why the last attempt failed, or nil.
func (s *scheduledBackups) lastError() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// run makes due backups until ctx ends.
func (s *scheduledBackups) run(ctx context.Context) {
	for {
		wait := s.runDue(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// runDue makes a backup if one is due, and returns the time until the next check.
func (s *scheduledBackups) runDue(ctx context.Context) (wait time.Duration) {
	began := s.now()
	result, err := s.schedule.RunDue(ctx, began)
	s.newest.Store(&result.Newest)
	s.failure.Store(&err)
	if result.File != "" {
		s.log.Info("backup made", "file", result.File, "deleted", len(result.Deleted),
			"duration", s.now().Sub(began).Round(time.Millisecond))
	}
	// An operator is making one, or another process has the lock of the directory.
	waited := s.waiting
	s.waiting = ctx.Err() == nil && (fault.Is(err, fault.Conflict) ||
		err == nil && result.File == "" && !began.Before(s.schedule.Next(result.Newest)))
	switch {
	case ctx.Err() != nil:
	case s.waiting:
		if !waited {
			s.log.Info("scheduled backup waits for another backup", "dir", s.schedule.Dir)
		}
		return backupCheckInterval
	case err != nil && result.File != "":
		s.log.Error("backup made, but old ones were not deleted, will retry with the next", "error", err,
			"dir", s.schedule.Dir)
	case err != nil:
		s.failures.Inc()
		s.log.Error("backup failed, will retry", "error", err, "dir", s.schedule.Dir)
		return backupRetryInterval
	}
	return min(backupCheckInterval, max(time.Second, s.schedule.Next(result.Newest).Sub(s.now())))
}
