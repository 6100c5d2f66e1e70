package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

type txKey struct{}

// tx is the transaction a context carries.
type tx struct {
	conn
	failed bool // a statement did, so that PostgreSQL takes no others
}

var errBadConn = driver.ErrBadConn

var errNoTx = errors.New("store: a write outside Write")

func txFrom(ctx context.Context) (*tx, bool) {
	t, ok := ctx.Value(txKey{}).(*tx)
	return t, ok
}

// querier reads rows one after another.
type querier interface {
	query(ctx context.Context, q string, args []any, row func(scan func(...any) error) error) error
}

// exec writes inside the transaction of ctx and returns the driver's error
// translated.
func (db *DB) exec(ctx context.Context, q string, args ...any) error {
	return db.execOne(ctx, nil, q, args...)
}

// execOne is must for a statement that has to meet a row; a miss is missing.
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

// insert is must for a table that gets many rows at once.
func (db *DB) insert(ctx context.Context, into *insertStmt, row ...any) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	err := t.insert(ctx, into, row)
	t.failed = t.failed || err != nil
	return translate(err)
}

// query reads rows, in the transaction of ctx if it carries one.
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

// queryRow reads a single row into dest; no row is missing.
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

// lockRow keeps others from changing a row until the transaction ends.
func (db *DB) lockRow(ctx context.Context, missing error, table, id string) error {
	t, ok := txFrom(ctx)
	if !ok {
		return errNoTx
	}
	return db.queryRow(ctx, missing, `SELECT id FROM `+table+` WHERE id = $1`+t.forUpdate(), []any{id}, &id)
}

// nullMillis turns a moment into its stored form; the zero time is NULL.
func nullMillis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// nullTime scans a stored moment; NULL is the zero time.
type nullTime struct{ dest *time.Time }

// Scan implements sql.Scanner.
func (m nullTime) Scan(v any) error {
	var n sql.NullInt64
	if err := n.Scan(v); err != nil {
		return err
	}
	*m.dest = time.Time{}
	if n.Valid {
		*m.dest = time.UnixMilli(n.Int64).UTC()
	}
	return nil
}

// nullString stores an empty string as NULL.
func nullString(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
