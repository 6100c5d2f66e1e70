package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
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
	if gone(err) {
		return unavailable(err)
	}
	return err
}

func gone(err error) bool {
	var netErr net.Error
	var connErr *pgconn.ConnectError
	if errors.As(err, &netErr) || errors.As(err, &connErr) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// 08 connection, 53 resources, 57 operator intervention (Appendix A).
		switch pg.Code[:2] {
		case "08", "53", "57":
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
	return errors.Is(err, sql.ErrConnDone) || strings.Contains(err.Error(), "database is closed") || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "unexpected EOF")
}

// contended reports that the database undid the work because of somebody
// else's lock, so that it may simply run again.
func contended(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// taken reports that err is a violation of the named unique index.
func taken(err error, index string) bool {
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
