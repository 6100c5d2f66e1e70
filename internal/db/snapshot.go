package db

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Snapshot writes a copy of the database to an empty file while the database is in use,
// and calls inspect with a Reader of exactly what the copy contains. The copy has every
// transaction that was committed before the call. For PostgreSQL the copy is the output of
// pg_dump, which must be in PATH. Snapshot does not sync the file. On SQLite it waits for a
// compaction and for other snapshots.
func (db *DB) Snapshot(ctx context.Context, file string, inspect func(*Reader) error) error {
	if _, ok := db.engine.(compacter); ok {
		if !acquire(ctx, db.compactions.copying) {
			return unavailable(ctx.Err())
		}
		defer func() { <-db.compactions.copying }()
	}
	return db.engine.snapshot(ctx, file, inspect)
}

// snapshot uses VACUUM INTO on a connection of its own. It reads one transaction, so it
// ends although others write, and the writer does not wait for it. SQLite's backup API
// starts again at each write and never ends under load.
func (e *sqliteEngine) snapshot(ctx context.Context, file string, inspect func(*Reader) error) error {
	pool, err := sql.Open("sqlite", sqliteURL(e.path, url.Values{"_pragma": {"busy_timeout(5000)"}}))
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	if err := checkSpace(ctx, pool, filepath.Dir(file), 1); err != nil {
		return err
	}
	if _, err := pool.ExecContext(ctx, `VACUUM INTO ?`, file); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return ReadSQLite(ctx, file, inspect)
}

// minSpareSpace is the space that a copy leaves to the running database, in bytes; for a
// large database it is a tenth of its size.
const minSpareSpace = 256 << 20

// requiredSpace returns the free space that a copy of a database needs, in bytes.
func requiredSpace(size uint64) uint64 { return size + max(size/10, minSpareSpace) }

// checkSpace returns an error if a directory has less free space than a number of copies of
// the database need.
func checkSpace(ctx context.Context, pool *sql.DB, dir string, copies uint64) error {
	var need uint64
	err := pool.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&need)
	if err != nil {
		return fmt.Errorf("read the size of the database: %w", err)
	}
	need *= copies
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	if free, required := fs.Bavail*uint64(fs.Bsize), requiredSpace(need); free < required {
		return fmt.Errorf("%s has %d bytes free, and this needs %d, of which %d stay free for the "+
			"running database: free some space", dir, free, required, required-need)
	}
	return nil
}

func (e *sqliteEngine) readSnapshot(ctx context.Context, read func(*Reader) error) error {
	return readSQLiteSnapshot(ctx, e.readPool, read)
}

// snapshot makes pg_dump use the snapshot of its own transaction, in which inspect reads
// too.
func (e *pgEngine) snapshot(ctx context.Context, file string, inspect func(*Reader) error) error {
	config := e.readPool.Config().ConnConfig
	return readPostgresSnapshot(ctx, config, func(r *Reader, conn *pgx.Conn) error {
		var snapshot string
		var serverVersion int
		err := r.query(ctx, `SELECT pg_export_snapshot(), current_setting('server_version_num')::int`, nil,
			func(row Row) error { return row.Scan(&snapshot, &serverVersion) })
		if err != nil {
			return err
		}
		if err := checkToolVersion(ctx, "pg_dump", serverVersion/10000); err != nil {
			return err
		}
		if err := inspect(r); err != nil {
			return err
		}
		// Another server does not have the snapshot.
		return runPostgresTool(ctx, config, reachedAddress(ctx, conn), "pg_dump", "--format=custom", "--no-owner",
			"--no-privileges", "--snapshot="+snapshot, "--file="+file)
	})
}

func (e *pgEngine) readSnapshot(ctx context.Context, read func(*Reader) error) error {
	return readPostgresSnapshot(ctx, e.readPool.Config().ConnConfig,
		func(r *Reader, _ *pgx.Conn) error { return read(r) })
}
