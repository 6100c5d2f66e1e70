package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"parley/internal/fault"
)

// translate turns a driver's error into one of ours, in this one place: a
// database that cannot be reached is Unavailable, all else stays as it is and
// will be told as internal.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	if isUnavailable(err) {
		return unavailable(err)
	}
	return err
}

func isUnavailable(err error) bool {
	var refused *pgconn.ConnectError
	if errors.As(err, &refused) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// 08 connection, 53 resources, 57 operator intervention, and a standby
		// that takes no writes (Appendix A).
		switch {
		case strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "53"), strings.HasPrefix(pg.Code, "57"), pg.Code == "25006":
			return true
		}
		return false
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			return true
		}
		return false
	}
	for _, e := range []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, e) {
			return true
		}
	}
	var netErr net.Error
	return errors.As(err, &netErr) || pgconn.SafeToRetry(err) ||
		strings.Contains(err.Error(), "database is closed") || strings.Contains(err.Error(), "closed pool")
}

// isLockConflict reports that somebody else's lock was in the way of the work, so
// that it may simply run again: serialization, deadlock, lock not available.
func isLockConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "55P03")
}

// isUniqueViolation reports that err is a violation of the named unique index.
func isUniqueViolation(err error, index string) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505" && pg.ConstraintName == index
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) && lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		return strings.Contains(err.Error(), uniqueColumns[index])
	}
	return false
}

// uniqueColumns says how SQLite names our unique indexes in its errors: by
// their columns.
var uniqueColumns = map[string]string{
	"rooms_client_room_id": "rooms.project_id, rooms.client_room_id",
}
