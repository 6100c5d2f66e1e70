package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"parley/internal/fault"
)

// connectError is an error of pgx on one line. pgx has a line for each attempt, and the same line twice if it tries
// with and without TLS.
type connectError struct{ error }

// Error returns each line of the error once.
func (e connectError) Error() string {
	first, rest, several := strings.Cut(e.error.Error(), "\n\t")
	if !several {
		return first
	}
	var attempts []string
	for line := range strings.SplitSeq(rest, "\n\t") {
		if !slices.Contains(attempts, line) {
			attempts = append(attempts, line)
		}
	}
	return first + " " + strings.Join(attempts, "; ")
}

// Unwrap returns the error of pgx.
func (e connectError) Unwrap() error { return e.error }

// reachError returns the error of a connection to PostgreSQL that could not be opened.
func reachError(err error) error { return fmt.Errorf("reach PostgreSQL: %w", connectError{err}) }

// unavailable returns the error for a database that cannot be reached.
func unavailable(cause error) *fault.Error {
	if errors.As(cause, new(*pgconn.ConnectError)) {
		cause = connectError{cause}
	}
	return &fault.Error{
		Kind:       fault.Unavailable,
		Code:       "unavailable",
		Message:    "the database does not answer, try again in a moment",
		Operator:   whyNoWrites(cause),
		RetryAfter: time.Second,
		Err:        cause,
	}
}

// whyNoWrites returns a sentence for operators about a database that responds and accepts no writes, or an empty string
// for another error.
func whyNoWrites(err error) string {
	const sentence = "the database accepts no writes"
	switch disk := fullDisk(err); {
	case disk != "":
		return sentence + ", because the disk of " + disk + " is full"
	case err != nil && blocksWrites(err):
		return sentence
	}
	return ""
}

// fullDisk returns whose disk an error calls full, or an empty string.
func fullDisk(err error) string {
	switch {
	case IsServerDiskFull(err):
		return "the PostgreSQL server"
	case IsDiskFull(err):
		return "the data directory"
	}
	return ""
}

// inDoubt marks an Unavailable error of a commit: the database may have made the change.
func inDoubt(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable {
		return err
	}
	marked := *f
	marked.InDoubt = true
	return &marked
}

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

// IsUniqueViolation reports whether err is a violation of the named unique index.
// columns names its columns as SQLite does in its errors, because these lack the
// name of the index: "table.a, table.b".
func IsUniqueViolation(err error, index, columns string) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505" && pg.ConstraintName == index
	}
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE &&
		strings.Contains(err.Error(), columns)
}

// IsUndefinedTable reports whether err says that a table does not exist.
func IsUndefinedTable(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "42P01"
	}
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && lite.Code() == sqlite3.SQLITE_ERROR && strings.Contains(lite.Error(), "no such table")
}

// IsDiskFull reports whether err says that a disk of this machine is full.
func IsDiskFull(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	lite, ok := errors.AsType[*sqlite.Error](err)
	// The second is the file in memory beside the log, which SQLite cannot make larger.
	return ok && (lite.Code() == sqlite3.SQLITE_FULL || lite.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// These errors are what a program of PostgreSQL says about the server.
var (
	errServerDiskFull = errors.New("the disk of the PostgreSQL server is full")
	errConnectionLost = errors.New("the PostgreSQL server does not answer")
)

// IsServerDiskFull reports whether err says that the disk of the PostgreSQL server is full.
func IsServerDiskFull(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "53100" || errors.Is(err, errServerDiskFull)
}

// IsConnectionLost reports whether err says that the PostgreSQL server cannot be reached, or has ended a connection.
func IsConnectionLost(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (strings.HasPrefix(pg.Code, "08") ||
		strings.HasPrefix(pg.Code, "57P")) { // the classes connection and operator intervention, without query_canceled
		return true
	}
	return errors.Is(err, errConnectionLost) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, new(*pgconn.ConnectError)) || errors.As(err, new(*net.OpError))
}

// writeFailureTTL is the time for which RecentWriteError reports a failure. It is
// three times the heartbeat interval of a process without Redis, which writes too, so that a disk
// that stays full is not reported as healthy in between.
const writeFailureTTL = 15 * time.Second

// writeFailure is a write that failed although the database responds.
type writeFailure struct {
	err error
	at  time.Time
}

// RecentWriteError returns the error of a write that failed in the last 15
// seconds although the database responds: a full disk, an I/O error, or a file
// system or server that is read-only. Its text names a full disk. It runs no query.
func (db *DB) RecentWriteError() error {
	if f := db.lastWriteFailure.Load(); f != nil && time.Since(f.at) < writeFailureTTL {
		return f.err
	}
	return nil
}

// recordWriteFailure stores the error of a write for RecentWriteError.
func (db *DB) recordWriteFailure(err error) {
	if err == nil || !blocksWrites(err) {
		return
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Err != nil {
		err = f.Err // without the message for callers
	}
	if disk := fullDisk(err); disk != "" {
		err = fmt.Errorf("the disk of %s is full: %w", disk, err)
	}
	db.lastWriteFailure.Store(&writeFailure{err: err, at: time.Now()})
}

// blocksWrites reports whether other writes will fail with the same error while
// reads succeed.
func blocksWrites(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY:
			return true
		}
		return false
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	// Disk full, I/O error, read-only transaction (Appendix A).
	return ok && (pg.Code == "53100" || pg.Code == "58030" || pg.Code == "25006")
}
