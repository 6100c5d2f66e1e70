package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/google/uuid"

	"parley/internal/db"
	"parley/internal/seal"
)

// Contents describes what a database or a copy of it contains.
type Contents struct {
	Schema         int64
	Contraction    int64 // see db.Reader.Contraction
	DatabaseID     string
	KeyFingerprint string           // of the master key that sealed the secrets; see seal.Key.ID
	Rows           map[string]int64 // by table
}

// SnapshotFile writes a copy of the database to an empty file while the database is in use,
// and describes it. See db.DB.Snapshot.
func (s *DB) SnapshotFile(ctx context.Context, file string) (Contents, error) {
	var c Contents
	err := s.Snapshot(ctx, file, func(r *db.Reader) (err error) {
		c, err = readContents(ctx, r)
		return err
	})
	return c, err
}

// ReadContents checks the database that Open would open for damage and describes it. It
// changes nothing. On SQLite no process may use the database.
func ReadContents(ctx context.Context, url, dataDir string) (Contents, error) {
	var c Contents
	err := read(ctx, url, dataDir, func(r *db.Reader) (err error) {
		if err := r.CheckIntegrity(ctx); err != nil {
			return err
		}
		c, err = readContents(ctx, r)
		return err
	})
	return c, err
}

// restoringTable marks a PostgreSQL database into which a restore is not complete.
const restoringTable = "restoring"

// BeginRestore marks an empty PostgreSQL database as one into which a restore is not complete.
func BeginRestore(ctx context.Context, url string) error {
	return db.ExecPostgres(ctx, url, `CREATE TABLE IF NOT EXISTS `+restoringTable+` AS SELECT now() AS began_at`)
}

// EndRestore removes the mark of BeginRestore.
func EndRestore(ctx context.Context, url string) error {
	return db.ExecPostgres(ctx, url, `DROP TABLE IF EXISTS `+restoringTable)
}

// IsRestoring reports whether a PostgreSQL database has the mark of BeginRestore.
func IsRestoring(ctx context.Context, url string) (bool, error) {
	marked := false
	err := query(ctx, url, "", `SELECT true FROM `+restoringTable, &marked)
	return marked, err
}

// HasTables reports whether the database that Open would open exists and has tables, besides
// the mark of BeginRestore. It changes nothing.
func HasTables(ctx context.Context, url, dataDir string) (bool, error) {
	has := false
	err := read(ctx, url, dataDir, func(r *db.Reader) error {
		tables, err := r.Tables(ctx)
		has = slices.ContainsFunc(tables, func(name string) bool { return name != restoringTable })
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return has, err
}

func read(ctx context.Context, url, dataDir string, read func(*db.Reader) error) error {
	if url == "" {
		return db.ReadSQLite(ctx, SQLiteFile(dataDir), read)
	}
	return db.ReadPostgres(ctx, url, read)
}

func readContents(ctx context.Context, r *db.Reader) (Contents, error) {
	tables, err := r.Tables(ctx)
	if err != nil {
		return Contents{}, err
	}
	table := "metadata"
	if slices.Contains(tables, earlierMetadataTable) {
		table = earlierMetadataTable
	}
	values := map[string]string{}
	err = r.Query(ctx, `SELECT name, value FROM `+table, nil, func(row db.Row) error {
		var name, value string
		err := row.Scan(&name, &value)
		values[name] = value
		return err
	})
	if err != nil {
		return Contents{}, err
	}
	c := Contents{DatabaseID: values[metadataDatabaseID]}
	if c.KeyFingerprint, err = seal.KeyID(values[metadataMediaSecret]); err != nil {
		return Contents{}, fmt.Errorf("read which master key sealed the secrets: %w", err)
	}
	if c.Schema, err = r.SchemaVersion(ctx); err != nil {
		return Contents{}, err
	}
	if c.Contraction, err = r.Contraction(ctx); err != nil {
		return Contents{}, err
	}
	c.Rows, err = r.CountRows(ctx)
	return c, err
}

// NewestSchema returns the version of the schema that Open migrates to.
func NewestSchema() (int64, error) { return db.NewestVersion(migrations()) }

// OpenSecrets opens every secret with the box of Unlock and returns their number. It
// returns an error that names the row if one does not open.
func (s *DB) OpenSecrets(ctx context.Context) (int, error) {
	count := 0
	err := s.ReadSnapshot(ctx, func(r *db.Reader) error {
		for _, c := range sealedColumns {
			err := r.Query(ctx, c.list, nil, func(row db.Row) error {
				var rowID, sealed string
				if err := row.Scan(&rowID, &sealed); err != nil {
					return err
				}
				count++
				_, err := s.openColumn(rowID+c.column, sealed)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return count, err
}

// openColumn opens the sealed value of a row and column. Its error names them.
func (s *DB) openColumn(rowID, sealed string) ([]byte, error) {
	clear, err := s.box.Open(rowID, sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", rowID, err)
	}
	return clear, nil
}

// seededTables are the tables to which the migrations add rows.
var seededTables = []string{"audit_chain"}

// CopyTo copies all rows to the empty PostgreSQL database at url and returns the number of
// rows by table. The secrets stay sealed. The copy gets an identity of its own, so that
// the two databases cannot be mistaken for each other. record is called in the transaction
// of the copy, as its last step. No process may use either database.
func (s *DB) CopyTo(ctx context.Context, url string,
	record func(ctx context.Context, target *DB, databaseID string) error,
) (counts map[string]int64, databaseID string, err error) {
	databaseID = uuid.NewString()
	counts, err = s.CopyToPostgres(ctx, url, migrations(), seededTables, func(ctx context.Context, target *db.DB) error {
		t := &DB{DB: target}
		if err := t.setMetadata(ctx, metadataDatabaseID, databaseID); err != nil {
			return err
		}
		return record(ctx, t, databaseID)
	})
	return counts, databaseID, err
}
