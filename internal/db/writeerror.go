package db

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writeFailureTTL is the time for which RecentWriteError reports a failure. It is
// three times the heartbeat interval of a node, which writes too, so that a disk
// that stays full is not reported as healthy in between.
const writeFailureTTL = 15 * time.Second

// writeFailure is a write that failed although the database responds.
type writeFailure struct {
	err error
	at  time.Time
}

// RecentWriteError returns the error of a write that failed in the last 15
// seconds although the database responds: a full disk, an I/O error, or a file
// system or server that is read-only. It runs no query.
func (db *DB) RecentWriteError() error {
	if f := db.lastWriteFailure.Load(); f != nil && time.Since(f.at) < writeFailureTTL {
		return f.err
	}
	return nil
}

// recordWriteFailure stores the error of a write for RecentWriteError.
func (db *DB) recordWriteFailure(err error) {
	if err != nil && blocksWrites(err) {
		db.lastWriteFailure.Store(&writeFailure{err: err, at: time.Now()})
	}
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
