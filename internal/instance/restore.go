package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parley/internal/audit"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/store"
)

// restoringSuffix ends the names of the files of an incomplete restore.
const restoringSuffix = ".restoring"

// unmarkTimeout bounds the end of a restore into PostgreSQL.
const unmarkTimeout = time.Minute

// Restore restores a backup file into a data directory, or into the PostgreSQL database of
// --database-url. It refuses a target that has a database, and then changes nothing. A process
// that is killed leaves either the whole database, with the entry in its audit log, or one that
// no server uses.
func Restore(ctx context.Context, storage config.Storage, file string) (backup.Manifest, error) {
	m, err := backup.Check(file)
	if err == nil {
		err = CheckUsable(storage, file, m)
	}
	if err != nil {
		return m, err
	}
	if err := checkRestoreTarget(ctx, storage, m); err != nil {
		return m, err
	}
	created, err := makeDataDir(storage.DataDir)
	if err != nil {
		return m, err
	}
	release, err := lockStorage(ctx, storage)
	if err == nil {
		// Another process may have created a database before this one got the lock.
		if err = checkRestoreTarget(ctx, storage, m); err == nil {
			err = restoreInto(ctx, storage, file, m)
		}
		release()
	}
	if err != nil && created {
		_ = os.Remove(filepath.Join(storage.DataDir, lockFile))
		_ = os.Remove(storage.DataDir) // fails if it is not empty
	}
	if err != nil || storage.DatabaseURL == "" {
		return m, explainFullDisk(err, "--database-url (PARLEY_DATABASE_URL)", storage.DataDir)
	}
	return m, analyze(ctx, storage.DatabaseURL.Reveal(), "--database-url", "restore")
}

// restoreInto restores into an empty target and makes the data directory belong to it.
func restoreInto(ctx context.Context, storage config.Storage, file string, m backup.Manifest) error {
	owner := newOwner(storage.DataDir)
	defer owner.discard()
	err := owner.prepare(m.DatabaseID)
	switch {
	case err != nil:
	case storage.DatabaseURL == "":
		err = restoreSQLite(ctx, storage.DataDir, file, m)
	default:
		err = restorePostgres(ctx, storage, file, m)
	}
	if err != nil {
		return err
	}
	return owner.commit()
}

// restoreSQLite completes the database in a directory of its own and then moves it into the data
// directory.
func restoreSQLite(ctx context.Context, dataDir, file string, m backup.Manifest) (err error) {
	dir := store.SQLiteFile(dataDir) + restoringSuffix
	if err := os.RemoveAll(dir); err != nil { // of a killed restore
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := RestoreDatabase(ctx, file, m, "", dir); err != nil {
		return err
	}
	if err := recordRestore(ctx, config.Storage{DataDir: dir}, m); err != nil {
		return err
	}
	// Everything is in the file itself: SQLite deletes the others when it closes a database.
	for _, other := range sqliteFiles(dir)[1:] {
		if _, err := os.Lstat(other); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is still there after the database was closed: %w", other, err)
		}
	}
	return errors.Join(os.Rename(store.SQLiteFile(dir), store.SQLiteFile(dataDir)), backup.SyncDir(dataDir))
}

// restorePostgres marks the database until the restore is recorded, or has changed nothing.
func restorePostgres(ctx context.Context, storage config.Storage, file string, m backup.Manifest) error {
	url := storage.DatabaseURL.Reveal()
	if err := store.BeginRestore(ctx, url); err != nil {
		return err
	}
	err := RestoreDatabase(ctx, file, m, url, storage.DataDir)
	if err == nil {
		err = recordRestore(ctx, storage, m)
	}
	// Also after Ctrl-C, so that what is complete or empty is not refused later.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmarkTimeout)
	defer cancel()
	if err == nil {
		return store.EndRestore(ctx, url)
	}
	has, readErr := store.HasTables(ctx, url, storage.DataDir)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case has:
		return fmt.Errorf("%w. The backup is in the database of --database-url: empty it, then run the command again", err)
	}
	return errors.Join(err, store.EndRestore(ctx, url))
}

// recordRestore records in the audit log of a restored database that it was restored.
func recordRestore(ctx context.Context, storage config.Storage, m backup.Manifest) error {
	if err := writeRestoreEntry(ctx, storage, m); err != nil {
		return fmt.Errorf("record the restore in the audit log: %w", err)
	}
	return nil
}

func writeRestoreEntry(ctx context.Context, storage config.Storage, m backup.Manifest) error {
	restored, err := store.Open(ctx, storage.DatabaseURL.Reveal(), storage.DataDir)
	if err != nil {
		return err
	}
	err = restored.Write(audit.WithOrigin(ctx, localOrigin()), func(ctx context.Context) error {
		return audit.Record(ctx, restored, time.Now(), audit.Change{Action: audit.DatabaseRestored, Subject: m.DatabaseID,
			After: audit.Fields{"backup_created_at": audit.Timestamp(m.CreatedAt), "schema": m.Schema,
				"key_fingerprint": m.KeyFingerprint}})
	})
	return errors.Join(err, restored.Close())
}

// checkRestoreTarget returns an error unless the target has no database, and the engine
// and the identity that the backup needs.
func checkRestoreTarget(ctx context.Context, storage config.Storage, m backup.Manifest) error {
	url := storage.DatabaseURL.Reveal()
	if m.Engine == backup.SQLite && url != "" {
		return errors.New("the backup is of a SQLite database: restore it without --database-url " +
			"(PARLEY_DATABASE_URL), then move it to PostgreSQL with parley copy")
	}
	if m.Engine == backup.Postgres && url == "" {
		return errors.New("the backup is of a PostgreSQL database: add --database-url (PARLEY_DATABASE_URL) with an " +
			"empty database; parley copy moves from SQLite to PostgreSQL only")
	}
	if url != "" {
		has, err := store.HasTables(ctx, url, storage.DataDir)
		if err != nil {
			return err
		}
		if has {
			if err := checkNotRestoring(ctx, url); err != nil {
				return err
			}
			return errors.New("--database-url: the database is not empty: restore into a new one")
		}
	} else if file, err := existingDatabaseFile(storage.DataDir); err != nil {
		return err
	} else if file != "" {
		return fmt.Errorf("--data-dir: %s exists: restore into another directory, or move the database away with all "+
			"files parley.db*", file)
	}
	recorded, err := readDatabaseID(storage.DataDir)
	if err == nil && recorded != "" && recorded != m.DatabaseID {
		err = fmt.Errorf("--data-dir: %s belongs to the database %s, and the backup is of the database %s: use another "+
			"--data-dir", storage.DataDir, recorded, m.DatabaseID)
	}
	return err
}

// checkNotRestoring returns an error if a restore into a PostgreSQL database was interrupted.
func checkNotRestoring(ctx context.Context, url string) error {
	restoring, err := store.IsRestoring(ctx, url)
	if err == nil && restoring {
		err = errors.New("--database-url (PARLEY_DATABASE_URL): a restore into this database was interrupted: empty the " +
			"database, or use a new one, and run parley restore again")
	}
	return err
}

// existingDatabaseFile returns the path of a file of a SQLite database in a data
// directory, or "".
func existingDatabaseFile(dataDir string) (string, error) {
	for _, path := range sqliteFiles(dataDir) {
		if _, err := os.Lstat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("--data-dir: %w", err)
		}
	}
	return "", nil
}

// sqliteFiles returns the paths of all files that a SQLite database in a data directory may
// have.
func sqliteFiles(dataDir string) (paths []string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		paths = append(paths, store.SQLiteFile(dataDir)+suffix)
	}
	return paths
}

// makeDataDir creates a data directory and reports whether it did not exist.
func makeDataDir(dir string) (created bool, err error) {
	if _, err := os.Stat(dir); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("--data-dir: cannot create %s: %w", dir, err)
	}
	return true, nil
}

// RestoreDatabase restores the database of a backup file into an empty PostgreSQL
// database, or for an empty url into a data directory without one.
func RestoreDatabase(ctx context.Context, file string, m backup.Manifest, url, dataDir string) error {
	extracted := filepath.Join(dataDir, m.Database.Name+restoringSuffix)
	if err := os.Remove(extracted); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a killed restore
		return err
	}
	if err := backup.Extract(file, extracted); err != nil {
		return err
	}
	if m.Engine == backup.SQLite {
		return errors.Join(os.Rename(extracted, store.SQLiteFile(dataDir)), backup.SyncDir(dataDir))
	}
	return errors.Join(db.RestorePostgres(ctx, url, extracted), os.Remove(extracted))
}

// CheckUsable returns an error unless this program and the master key fit a backup file.
func CheckUsable(storage config.Storage, file string, m backup.Manifest) error {
	newest, err := store.NewestSchema()
	if err != nil {
		return err
	}
	// After an upgrade and back, this program makes backups of a schema that a newer one has extended.
	if required := cmp.Or(m.Contraction, &m.Schema); *required > newest {
		return newerSchemaError(file+": the backup", m.Schema, newest, " ("+m.Version+")")
	}
	key, err := storage.LoadMasterKey(false)
	if err != nil {
		return fmt.Errorf("the backup needs the master key with the fingerprint %s: %w", m.KeyFingerprint, err)
	}
	if key.ID() != m.KeyFingerprint {
		where := "PARLEY_MASTER_KEY"
		if storage.MasterKey == "" {
			where = storage.KeyFile()
		}
		return fmt.Errorf("the backup needs the master key with the fingerprint %s, and the key in %s has "+
			"the fingerprint %s: name the right key with --master-key-file or PARLEY_MASTER_KEY",
			m.KeyFingerprint, where, key.ID())
	}
	return nil
}
