package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/store"
)

// databaseIDFile is the file of a data directory that names the database that belongs
// to it. A start with any other is refused, because a mistyped --database-url would
// otherwise look like a new installation.
const databaseIDFile = "database.id"

// checkDatabaseID returns an error if the data directory belongs to another database than
// the configured one. It changes neither.
func checkDatabaseID(ctx context.Context, cfg config.Config) error {
	expected, err := readDatabaseID(cfg.DataDir)
	if err != nil || expected == "" {
		return err
	}
	got, err := store.ReadID(ctx, cfg.DatabaseURL.Reveal(), cfg.DataDir)
	if err != nil || got == expected {
		return err
	}
	configured := "the database of --database-url"
	if cfg.DatabaseURL == "" {
		configured = "parley.db in it (no --database-url is set)"
	}
	state := "is the database " + got
	if got == "" {
		state = "has no identity yet, so it is new"
	}
	return fmt.Errorf("--data-dir: %s belongs to the database %s, but %s %s. Correct --database-url, or use "+
		"another --data-dir. To keep both on purpose, delete %s", cfg.DataDir, expected, configured, state,
		filepath.Join(cfg.DataDir, databaseIDFile))
}

// RecordDatabaseID writes the identity of the database to the data directory, unless
// it is already there, and returns it.
func RecordDatabaseID(ctx context.Context, db *store.DB, dir string) (id string, err error) {
	if id, err = readDatabaseID(dir); err != nil || id != "" {
		return id, err
	}
	if id, err = db.ID(ctx); err != nil {
		return "", err
	}
	owner := newOwner(dir)
	defer owner.discard()
	if err := owner.prepare(id); err != nil {
		return "", err
	}
	return id, owner.commit()
}

// newOwner makes a data directory belong to another database, durably. Its prepare needs space on the disk, so it comes
// before the database is complete. Its commit needs none.
type newOwner string // the data directory

func (o newOwner) file() string { return filepath.Join(string(o), databaseIDFile) }

func (o newOwner) preparedFile() string { return o.file() + ".new" }

// prepare writes the identity of the database into a file that no start reads.
func (o newOwner) prepare(id string) error {
	f, err := os.OpenFile(o.preparedFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	_, err = f.WriteString(id + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	return nil
}

// commit makes the data directory belong to the prepared identity. After a crash it belongs to that one or to the
// one before.
func (o newOwner) commit() error {
	if err := errors.Join(os.Rename(o.preparedFile(), o.file()), backup.SyncDir(string(o))); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	return nil
}

// discard removes what prepare wrote, unless it is committed.
func (o newOwner) discard() { _ = os.Remove(o.preparedFile()) }

// readDatabaseID returns "" if the data directory names no database.
func readDatabaseID(dir string) (string, error) {
	path := filepath.Join(dir, databaseIDFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("--data-dir: %w", err)
	}
	id := strings.TrimSpace(string(raw))
	if id == "" {
		return "", fmt.Errorf("--data-dir: %s is empty: check that --database-url is the database of this directory, then "+
			"delete the file. The next start writes it again", path)
	}
	return id, nil
}
