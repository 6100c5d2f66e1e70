package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"parley/internal/db"
)

const metadataDatabaseID = "database_id"

// ID returns the identity of the database, a UUID that stays the same for its whole life
// and in its backups. CopyTo gives the copy another. The first call creates it.
func (s *DB) ID(ctx context.Context) (string, error) {
	id := ""
	err := s.Write(ctx, func(ctx context.Context) (err error) {
		if id, err = s.metadata(ctx, metadataDatabaseID); !errors.Is(err, errMetadataNotFound) {
			return err
		}
		id = uuid.NewString()
		return s.setMetadata(ctx, metadataDatabaseID, id)
	})
	return id, err
}

// ReadID returns the identity of the database that Open would open, or "" if that has
// none. It neither creates nor changes the database.
func ReadID(ctx context.Context, url, dataDir string) (string, error) {
	id := ""
	if err := readMetadata(ctx, url, dataDir, metadataDatabaseID, &id); err != nil {
		return "", fmt.Errorf("read the identity of the database: %w", err)
	}
	return id, nil
}

// CanUse reports whether the database that Open would open exists and has a schema that
// this program can use without a migration. It neither creates nor changes the database.
func CanUse(ctx context.Context, url, dataDir string) (bool, error) {
	var contracted int64
	newest, err := schemaVersion()
	version, versionErr := ReadSchemaVersion(ctx, url, dataDir)
	err = errors.Join(err, versionErr,
		query(ctx, url, dataDir, `SELECT max(version) FROM schema_contractions`, &contracted))
	if err != nil {
		return false, fmt.Errorf("read the version of the database: %w", err)
	}
	return version >= newest && contracted <= newest, nil
}

// ReadSchemaVersion returns the version of the schema of the database that Open would open, 0 if it has none. It
// neither creates nor changes the database.
func ReadSchemaVersion(ctx context.Context, url, dataDir string) (version int64, err error) {
	err = query(ctx, url, dataDir, `SELECT max(version_id) FROM goose_db_version`, &version)
	return version, err
}

// query reads one value from the database that Open would open, without opening it for
// writes. It leaves dest alone if the database, the table or the row does not exist.
func query(ctx context.Context, url, dataDir, q string, dest any) error {
	read := func(row db.Row) error { return row.Scan(dest) }
	var err error
	if url != "" {
		err = db.QueryPostgres(ctx, url, q, read)
	} else {
		file := SQLiteFile(dataDir)
		if _, err = os.Stat(file); err == nil {
			err = db.QuerySQLite(ctx, file, q, read)
		}
	}
	if errors.Is(err, fs.ErrNotExist) || db.IsUndefinedTable(err) {
		return nil
	}
	return err
}
