package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the tables up to date. Nodes that start at once take turns;
// a database from a newer version is refused.
func (db *DB) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	dialect := goose.DialectSQLite3
	var opts []goose.ProviderOption
	if db.engine == onPostgres {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
		if err != nil {
			return err
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	// goose is the migration library because it runs the same plain SQL
	// files on both engines and locks PostgreSQL while it does.
	p, err := goose.NewProvider(dialect, db.write, dir, opts...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	newest := int64(0)
	for _, s := range p.ListSources() {
		newest = max(newest, s.Version)
	}
	current, err := db.version(ctx)
	if err != nil {
		return fmt.Errorf("read the database's version: %w", err)
	}
	if current > newest {
		return fmt.Errorf("the database is at version %d, written by a newer Parley; this one knows versions up to %d: start the newer binary, or restore a backup", current, newest)
	}
	if current == newest {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the database from version %d to %d: %w", current, newest, err)
	}
	return nil
}

// version reads the version a database stands at without taking a lock; 0 for
// a new one.
func (db *DB) version(ctx context.Context) (int64, error) {
	exists := `SELECT count(*) FROM sqlite_master WHERE name = 'goose_db_version'`
	if db.engine == onPostgres {
		exists = `SELECT count(*) FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = 'goose_db_version'`
	}
	var n int
	if err := db.read.QueryRowContext(ctx, exists).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	var v sql.NullInt64
	err := db.read.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&v)
	return v.Int64, err
}
