package db

// Writers returns the number of concurrent transactions.
func (db *DB) Writers() int { return db.engine.writeOptions().writers }

// Queued returns the number of callers that wait for a writer.
func (db *DB) Queued() int { return len(db.queue) }

// RequiredSpace returns the free space that a copy of a SQLite database needs.
var RequiredSpace = requiredSpace

// ErrClosed is the cause of the error of a closed database.
var ErrClosed = errClosed
