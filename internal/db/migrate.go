package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// migrate migrates db to the newest schema in dir. If the schema of db is newer, it
// changes nothing, and fails if a migration that dir lacks has contracted the schema.
func migrate(
	ctx context.Context, db *sql.DB, dialect goose.Dialect, dir fs.FS, opts ...goose.ProviderOption,
) error {
	// goose is the migration library because it runs the same plain SQL files
	// on both engines and can lock PostgreSQL meanwhile.
	others, err := fs.Glob(dir, "*."+otherDialect(dialect)+".sql")
	if err != nil {
		return fmt.Errorf("list the migrations: %w", err)
	}
	versions, err := newVersionStore(dialect, dir)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectCustom, db, dir,
		append(opts, goose.WithExcludeNames(others), goose.WithStore(versions))...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	newest := int64(0)
	for _, s := range p.ListSources() {
		newest = max(newest, s.Version)
	}
	current, err := maxVersion(ctx, db, dialect, "goose_db_version", "version_id")
	if err != nil {
		return fmt.Errorf("read the database's version: %w", err)
	}
	if current > newest {
		return checkContractions(ctx, db, dialect, current, newest)
	}
	if current == newest {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database from version %d to %d: %w", current, newest, err)
	}
	return nil
}

// checkContractions returns an error if the schema of db has been contracted by a
// migration after newest.
func checkContractions(ctx context.Context, db *sql.DB, dialect goose.Dialect, current, newest int64) error {
	contracted, err := maxVersion(ctx, db, dialect, contractionsTable, "version")
	if err != nil {
		return fmt.Errorf("read the contractions of the database: %w", err)
	}
	if contracted > newest {
		return fmt.Errorf("the database is at version %d, written by a newer Parley; "+
			"this one knows versions up to %d: start the newer binary, or restore a backup", current, newest)
	}
	return nil
}

// NewestVersion returns the version of the schema that a directory of migrations
// leads to.
func NewestVersion(dir fs.FS) (int64, error) {
	newest := int64(0)
	err := eachMigration(dir, func(version int64, _ string) error {
		newest = max(newest, version)
		return nil
	})
	return newest, err
}

// expandMark is the line with which a migration declares that it expands the schema:
// programs that do not know the migration can use the database afterwards.
var expandMark = regexp.MustCompile(`(?m)^-- parley: expand$`)

// Contractions returns the versions, in order, of the migrations that contract the schema:
// those without the line "-- parley: expand".
func Contractions(dir fs.FS) ([]int64, error) {
	var versions []int64
	err := eachMigration(dir, func(version int64, file string) error {
		text, err := fs.ReadFile(dir, file)
		if err == nil && !expandMark.Match(text) && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
		return err
	})
	return versions, err
}

// eachMigration calls f for each file of a directory of migrations, in order.
func eachMigration(dir fs.FS, f func(version int64, file string) error) error {
	files, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return fmt.Errorf("list the migrations: %w", err)
	}
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err == nil {
			err = f(version, file)
		}
		if err != nil {
			return fmt.Errorf("migration %s: %w", file, err)
		}
	}
	return nil
}

// versionStore is goose's table of applied migrations. In the transaction of a migration
// that contracts the schema, it also adds the version to the table schema_contractions,
// because a program that does not have the migration cannot know what it declares.
type versionStore struct {
	database.StoreExtender
	contractions []int64
}

func newVersionStore(dialect goose.Dialect, dir fs.FS) (*versionStore, error) {
	contractions, err := Contractions(dir)
	if err != nil {
		return nil, err
	}
	s, err := database.NewStore(dialect, goose.DefaultTablename)
	if err != nil {
		return nil, err
	}
	return &versionStore{StoreExtender: s.(database.StoreExtender), contractions: contractions}, nil
}

func (s *versionStore) Insert(ctx context.Context, tx database.DBTxConn, req database.InsertRequest) error {
	if err := s.StoreExtender.Insert(ctx, tx, req); err != nil || !slices.Contains(s.contractions, req.Version) {
		return err
	}
	_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+contractionsTable+` (version BIGINT PRIMARY KEY)`)
	if err == nil {
		_, err = tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s (version) VALUES (%d)`, contractionsTable, req.Version))
	}
	return err
}

// otherDialect returns the engine whose migration files must be skipped. If the
// engines differ, a version has two files, for example 00008_events.sqlite.sql
// and 00008_events.postgres.sql.
func otherDialect(dialect goose.Dialect) string {
	if dialect == goose.DialectPostgres {
		return "sqlite"
	}
	return "postgres"
}

// maxVersion returns the highest version in a table, 0 without the table. It takes no lock.
func maxVersion(ctx context.Context, db *sql.DB, dialect goose.Dialect, table, column string) (int64, error) {
	exists := `SELECT count(*) FROM sqlite_master WHERE name = '` + table + `'`
	if dialect == goose.DialectPostgres {
		exists = `SELECT count(*) FROM pg_tables
			WHERE schemaname = ANY (current_schemas(false)) AND tablename = '` + table + `'`
	}
	var n int
	if err := db.QueryRowContext(ctx, exists).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	var v sql.NullInt64
	err := db.QueryRowContext(ctx, `SELECT max(`+column+`) FROM `+table).Scan(&v)
	return v.Int64, err
}
