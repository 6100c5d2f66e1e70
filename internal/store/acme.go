package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
)

func (s *DB) SaveACMEFile(ctx context.Context, path string, value []byte, at time.Time) error {
	return s.Exec(ctx, `INSERT INTO acme_files (path, sealed_value, modified_at) VALUES ($1, $2, $3)
		ON CONFLICT (path) DO UPDATE SET sealed_value = excluded.sealed_value, modified_at = excluded.modified_at`,
		path, s.box.Seal(path+columnACMEFile, value), at.UnixMilli())
}

func (s *DB) ACMEFile(ctx context.Context, path string) (value []byte, modifiedAt time.Time, err error) {
	var sealed string
	notFound := fault.New(fault.NotFound, "acme_file_not_found", "no file has the path %s", path)
	err = s.QueryRow(ctx, notFound, `SELECT sealed_value, modified_at FROM acme_files WHERE path = $1`, []any{path},
		&sealed, db.ScanTime(&modifiedAt))
	if err != nil {
		return nil, time.Time{}, err
	}
	value, err = s.openColumn(path+columnACMEFile, sealed)
	return value, modifiedAt, err
}

// acmeFilesBelow is the condition for the files below the folder $1. It reads the whole table,
// which has a few rows for each domain.
const acmeFilesBelow = `substr(path, 1, length(CAST($1 AS TEXT)) + 1) = CAST($1 AS TEXT) || '/'`

func (s *DB) ACMEFilesBelow(ctx context.Context, folder string) (paths []string, err error) {
	err = s.Query(ctx, `SELECT path FROM acme_files WHERE `+acmeFilesBelow+` ORDER BY path`, []any{folder},
		func(row db.Row) error {
			var path string
			err := row.Scan(&path)
			paths = append(paths, path)
			return err
		})
	return paths, err
}

func (s *DB) DeleteACMEFiles(ctx context.Context, path string) error {
	return s.Exec(ctx, `DELETE FROM acme_files WHERE path = CAST($1 AS TEXT) OR `+acmeFilesBelow, path)
}

func (s *DB) LockACME(ctx context.Context, name, holder string, now, until time.Time) (locked bool, err error) {
	err = s.ExecReturning(ctx, `INSERT INTO acme_locks (name, holder, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
			WHERE acme_locks.expires_at < $4 OR acme_locks.holder = excluded.holder
		RETURNING name`, []any{name, holder, until.UnixMilli(), now.UnixMilli()}, func(row db.Row) error {
		locked = true
		return row.Scan(&name)
	})
	return locked, err
}

func (s *DB) RenewACMELock(ctx context.Context, name, holder string, until time.Time) (locked bool, err error) {
	err = s.ExecReturning(ctx, `UPDATE acme_locks SET expires_at = $3 WHERE name = $1 AND holder = $2 RETURNING name`,
		[]any{name, holder, until.UnixMilli()}, func(row db.Row) error {
			locked = true
			return row.Scan(&name)
		})
	return locked, err
}

func (s *DB) UnlockACME(ctx context.Context, name, holder string) error {
	return s.Exec(ctx, `DELETE FROM acme_locks WHERE name = $1 AND holder = $2`, name, holder)
}
