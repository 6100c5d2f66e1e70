package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

type txKey struct{}

// tx is the transaction in a context.
type tx struct {
	conn
	failed bool // a statement failed, after which PostgreSQL accepts no other
}

var errBadConn = driver.ErrBadConn

var errNoTx = errors.New("db: write outside a transaction: use DB.Write")

// RequireTx returns an error if ctx contains no transaction. A statement that writes
// and returns rows, and so runs with Query, calls it first.
func RequireTx(ctx context.Context) error {
	if _, ok := txFrom(ctx); !ok {
		return errNoTx
	}
	return nil
}

func txFrom(ctx context.Context) (*tx, bool) {
	t, ok := ctx.Value(txKey{}).(*tx)
	return t, ok
}

// querier runs a query and calls row for each row of the result.
type querier interface {
	query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error
}

// Exec runs a statement in the transaction of ctx. It returns errNoTx if there
// is none and Unavailable if the database cannot be reached.
func (db *DB) Exec(ctx context.Context, q string, args ...any) error {
	return db.ExecOne(ctx, nil, q, args...)
}

// ExecOne is exec for a statement that must change a row. It returns missing if
// the statement changes none.
func (db *DB) ExecOne(ctx context.Context, missing error, q string, args ...any) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	err := t.exec(ctx, missing, q, args)
	if err != nil && err != missing {
		t.failed = true
	}
	return translate(err)
}

// Insert adds a row in the transaction of ctx. Rows for the same table may be
// merged into one statement.
func (db *DB) Insert(ctx context.Context, into *InsertStmt, row ...any) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	err := t.insert(ctx, into, row)
	t.failed = t.failed || err != nil
	return translate(err)
}

// Query calls row for each row of the result. It runs in the transaction of ctx
// if there is one.
func (db *DB) Query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error {
	t, ok := txFrom(ctx)
	if !ok {
		return translate(db.engine.query(ctx, q, args, row))
	}
	err := t.query(ctx, q, args, row)
	if err != nil {
		t.failed = true
	}
	return translate(err)
}

// QueryRow scans a single row into dest. It returns missing if there is no row.
func (db *DB) QueryRow(ctx context.Context, missing error, q string, args []any, dest ...any) error {
	none := true
	err := db.Query(ctx, q, args, func(scan func(...any) error) error {
		none = false
		return scan(dest...)
	})
	if err == nil && none {
		return missing
	}
	return err
}

// LockRow locks a row until the transaction of ctx ends. It returns missing if
// there is no row with that id.
func (db *DB) LockRow(ctx context.Context, missing error, table, id string) error {
	lock, err := db.ForUpdate(ctx)
	if err != nil {
		return err
	}
	return db.QueryRow(ctx, missing, `SELECT id FROM `+table+` WHERE id = $1`+lock, []any{id}, &id)
}

// ForUpdate returns the end of a SELECT that locks its rows until the transaction
// of ctx ends: empty for SQLite, whose transactions run one after the other. It
// returns an error outside a transaction.
func (db *DB) ForUpdate(ctx context.Context) (string, error) {
	t, ok := txFrom(ctx)
	if !ok {
		return "", errNoTx
	}
	return t.forUpdate(), nil
}

// ForUpdateSkipLocked is ForUpdate for a SELECT that skips rows that another
// transaction has locked.
func (db *DB) ForUpdateSkipLocked(ctx context.Context) (string, error) {
	t, ok := txFrom(ctx)
	if !ok {
		return "", errNoTx
	}
	return t.forUpdateSkipLocked(), nil
}

// NullMillis returns the stored form of a time: Unix milliseconds, or NULL for
// the zero time.
func NullMillis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// NullString returns the stored form of an optional string: NULL if it is empty.
func NullString(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
