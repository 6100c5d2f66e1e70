package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/store"
)

// Copy copies the database of storage to the empty PostgreSQL database at url, and makes
// the data directory belong to the copy. It returns the number of rows by table. No server
// may run on either database.
func Copy(ctx context.Context, storage config.Storage, url string) (map[string]int64, error) {
	counts, err := copyDatabase(ctx, storage, url)
	if err != nil {
		return counts, explainFullDisk(err, "--to", storage.DataDir)
	}
	return counts, analyze(ctx, url, "--to", "copy")
}

// explainFullDisk adds the remedy to an error that says that a disk is full: that of the server of a flag, or that of
// the data directory.
func explainFullDisk(err error, server, dataDir string) error {
	switch {
	case db.IsServerDiskFull(err):
		return fmt.Errorf("%s: the disk of the PostgreSQL server is full: free some space on it and run the command "+
			"again: %w", server, err)
	case db.IsDiskFull(err):
		return fmt.Errorf("--data-dir: the disk of %s is full: free some space and run the command again: %w", dataDir, err)
	}
	return err
}

func copyDatabase(ctx context.Context, storage config.Storage, url string) (map[string]int64, error) {
	if err := checkSameSchema(ctx, storage); err != nil {
		return nil, err
	}
	id, err := store.ReadID(ctx, storage.DatabaseURL.Reveal(), storage.DataDir)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, errors.New("no server has run on the database to copy: start it once")
	}
	release, err := lockStorage(ctx, storage)
	if err != nil {
		return nil, err
	}
	defer release()
	targetID, err := store.ReadID(ctx, url, "")
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	if targetID == id {
		return nil, fmt.Errorf("--to: the target is the database %s, which is the source or a restored backup of it: "+
			"create a new empty database", id)
	}
	targetLock, err := db.AcquireInstanceLock(ctx, url, false, func(error) {})
	if errors.Is(err, db.ErrInUse) {
		return nil, fmt.Errorf("--to: %w: stop it first", err)
	}
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	defer targetLock.Release()
	source, err := OpenStore(ctx, config.Config{Storage: storage})
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }()
	owner := newOwner(storage.DataDir)
	defer owner.discard()
	counts, copyID, err := source.CopyTo(ctx, url, func(ctx context.Context, target *store.DB, copyID string) error {
		if err := owner.prepare(copyID); err != nil {
			return err
		}
		return audit.Record(audit.WithOrigin(ctx, localOrigin()), target, time.Now(), audit.Change{
			Action: audit.DatabaseCopied, Subject: copyID, Before: audit.Fields{"database_id": id},
			After: audit.Fields{"database_id": copyID}})
	})
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	if err := owner.commit(); err != nil {
		return counts, fmt.Errorf("the copy is complete, but %s could not be written: write %s into it, or empty the target "+
			"and run the command again: %w", owner.file(), copyID, err)
	}
	return counts, nil
}

// ErrNotAnalyzed is the error of a command that has done its work, but could not collect statistics for PostgreSQL.
var ErrNotAnalyzed = errors.New("queries may be slow until you run ANALYZE")

// analyze collects the statistics of a complete database. The error is ErrNotAnalyzed.
func analyze(ctx context.Context, url, flag, done string) error {
	if err := db.AnalyzePostgres(ctx, url); err != nil {
		return fmt.Errorf("the %s is complete, but %w in the database of %s: %w", done, ErrNotAnalyzed, flag, err)
	}
	return nil
}

// checkSameSchema returns an error if there is no database to copy, or if another version of this program has written
// it. A copy would leave out what this one does not know, and to open an older database would migrate it, although the
// copy may fail.
func checkSameSchema(ctx context.Context, storage config.Storage) error {
	newest, err := store.NewestSchema()
	if err != nil {
		return err
	}
	const what = "the database to copy"
	switch version, err := store.ReadSchemaVersion(ctx, storage.DatabaseURL.Reveal(), storage.DataDir); {
	case err != nil:
		return err
	case version == 0:
		return fmt.Errorf("there is no database of Parley in %s: check --data-dir and --database-url", storage.DataDir)
	case version > newest:
		return newerSchemaError(what, version, newest, "")
	case version < newest:
		return fmt.Errorf("%s has version %d of the schema, written by an older Parley; this one needs version %d: "+
			"start the server of this version once, which migrates the database, or copy it with the older program",
			what, version, newest)
	}
	return nil
}

// newerSchemaError is the error for something that a newer program has written. by is that program in
// parentheses, or empty.
func newerSchemaError(what string, version, newest int64, by string) error {
	return fmt.Errorf("%s has version %d of the schema, written by a newer Parley%s; this one knows versions up to %d: "+
		"use the newer program", what, version, by, newest)
}

// lockStorage keeps every server away from a data directory and its database until
// release.
func lockStorage(ctx context.Context, storage config.Storage) (release func(), err error) {
	lock, err := lockDataDir(ctx, storage.DataDir, stoppingProcessTimeout)
	if err != nil {
		return nil, fmt.Errorf("%w: stop it first", err)
	}
	if storage.DatabaseURL == "" {
		return lock.release, nil
	}
	instanceLock, err := db.AcquireInstanceLock(ctx, storage.DatabaseURL.Reveal(), false, func(error) {})
	if err != nil {
		lock.release()
		if errors.Is(err, db.ErrInUse) {
			err = fmt.Errorf("--database-url: %w: stop it first", err)
		}
		return nil, err
	}
	return func() {
		instanceLock.Release()
		lock.release()
	}, nil
}
