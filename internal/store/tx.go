package store

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

var errNoTx = errors.New("store: write outside a transaction: use DB.Write")

func txFrom(ctx context.Context) (*tx, bool) {
	t, ok := ctx.Value(txKey{}).(*tx)
	return t, ok
}

// querier runs a query and calls row for each row of the result.
type querier interface {
	query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error
}

// exec runs a statement in the transaction of ctx. It returns errNoTx if there
// is none and Unavailable if the database cannot be reached.
func (db *DB) exec(ctx context.Context, q string, args ...any) error {
	return db.execOne(ctx, nil, q, args...)
}

// execOne is exec for a statement that must change a row. It returns missing if
// the statement changes none.
func (db *DB) execOne(ctx context.Context, missing error, q string, args ...any) error {
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

// insert adds a row in the transaction of ctx. Rows for the same table may be
// merged into one statement.
func (db *DB) insert(ctx context.Context, into *insertStmt, row ...any) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	err := t.insert(ctx, into, row)
	t.failed = t.failed || err != nil
	return translate(err)
}

// query calls row for each row of the result. It runs in the transaction of ctx
// if there is one.
func (db *DB) query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error {
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

// queryRow scans a single row into dest. It returns missing if there is no row.
func (db *DB) queryRow(ctx context.Context, missing error, q string, args []any, dest ...any) error {
	none := true
	err := db.query(ctx, q, args, func(scan func(...any) error) error {
		none = false
		return scan(dest...)
	})
	if err == nil && none {
		return missing
	}
	return err
}

// lockRow locks a row until the transaction of ctx ends. It returns missing if
// there is no row with that id.
func (db *DB) lockRow(ctx context.Context, missing error, table, id string) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	return db.queryRow(ctx, missing, `SELECT id FROM `+table+` WHERE id = $1`+t.forUpdate(), []any{id}, &id)
}

// nullMillis returns the stored form of a time: Unix milliseconds, or NULL for
// the zero time.
func nullMillis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// nullString returns the stored form of an optional string: NULL if it is empty.
func nullString(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
