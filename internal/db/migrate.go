package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// migrate migrates db to the newest schema in dir. It fails if the schema of db
// is newer.
func migrate(
	ctx context.Context, db *sql.DB, dialect goose.Dialect, dir fs.FS, opts ...goose.ProviderOption,
) error {
	// goose is the migration library because it runs the same plain SQL files
	// on both engines and can lock PostgreSQL meanwhile.
	others, err := fs.Glob(dir, "*."+otherDialect(dialect)+".sql")
	if err != nil {
		return fmt.Errorf("list the migrations: %w", err)
	}
	p, err := goose.NewProvider(dialect, db, dir, append(opts, goose.WithExcludeNames(others))...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	newest := int64(0)
	for _, s := range p.ListSources() {
		newest = max(newest, s.Version)
	}
	current, err := schemaVersion(ctx, db, dialect)
	if err != nil {
		return fmt.Errorf("read the database's version: %w", err)
	}
	if current > newest {
		return fmt.Errorf("the database is at version %d, written by a newer Parley; "+
			"this one knows versions up to %d: start the newer binary, or restore a backup", current, newest)
	}
	if current == newest {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database from version %d to %d: %w", current, newest, err)
	}
	return nil
}

// NewestVersion returns the version of the schema that a directory of migrations
// leads to.
func NewestVersion(dir fs.FS) (int64, error) {
	files, err := fs.Glob(dir, "*.sql")
	newest := int64(0)
	for _, file := range files {
		version, verr := goose.NumericComponent(file)
		newest, err = max(newest, version), errors.Join(err, verr)
	}
	return newest, err
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

// schemaVersion returns the schema version of a database, 0 for an empty one. It
// takes no lock.
func schemaVersion(ctx context.Context, db *sql.DB, dialect goose.Dialect) (int64, error) {
	exists := `SELECT count(*) FROM sqlite_master WHERE name = 'goose_db_version'`
	if dialect == goose.DialectPostgres {
		exists = `SELECT count(*) FROM pg_tables
			WHERE schemaname = ANY (current_schemas(false)) AND tablename = 'goose_db_version'`
	}
	var n int
	if err := db.QueryRowContext(ctx, exists).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	var v sql.NullInt64
	err := db.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&v)
	return v.Int64, err
}
