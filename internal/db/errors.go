package db

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

// translate turns the error of a driver that cannot reach its database into
// Unavailable. It returns any other error as it is, which makes it an internal
// error.
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

// isUnavailable reports whether err says that the database cannot be reached or
// cannot be written.
func isUnavailable(err error) bool {
	var refused *pgconn.ConnectError
	if errors.As(err, &refused) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// 08 connection, 53 resources, 57 operator intervention, 25006 a
		// read-only standby (PostgreSQL, Appendix A).
		switch {
		case strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "53"),
			strings.HasPrefix(pg.Code, "57"), pg.Code == "25006":
			return true
		}
		return false
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL,
			sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			return true
		}
		return false
	}
	for _, e := range []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF,
		context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, e) {
			return true
		}
	}
	var netErr net.Error
	return errors.As(err, &netErr) || pgconn.SafeToRetry(err) ||
		strings.Contains(err.Error(), "database is closed") || strings.Contains(err.Error(), "closed pool")
}

// isLockConflict reports whether err is a conflict with another transaction, so
// that the work can run again: serialization failure, deadlock, lock not
// available.
func isLockConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "55P03")
}

// IsUniqueViolation reports whether err is a violation of the unique index with
// this name. columns is how SQLite names it: "table.column, table.column".
func IsUniqueViolation(err error, index, columns string) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505" && pg.ConstraintName == index
	}
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE &&
		strings.Contains(err.Error(), columns)
}
