package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

type txKey struct{}

// tx is the transaction a context carries: a connection with the statements
// prepared on it.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

var errBadConn = driver.ErrBadConn

var errNoTx = errors.New("store: a write outside Write")

func txFrom(ctx context.Context) (*tx, bool) {
	t, ok := ctx.Value(txKey{}).(*tx)
	return t, ok
}

// stmt prepares a statement once for a connection: parsing it costs more than
// running it.
func (t *tx) stmt(ctx context.Context, q string) (*sql.Stmt, error) {
	if s, ok := t.stmts[q]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(ctx, q)
	if err != nil {
		return nil, err
	}
	t.stmts[q] = s
	return s, nil
}

func (t *tx) exec(ctx context.Context, q string, args ...any) (sql.Result, error) {
	s, err := t.stmt(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (t *tx) close() {
	for _, s := range t.stmts {
		_ = s.Close()
	}
}

// exec writes inside the transaction of ctx.
func (db *DB) exec(ctx context.Context, q string, args ...any) (sql.Result, error) {
	t, ok := txFrom(ctx)
	if !ok {
		return nil, errNoTx
	}
	return t.exec(ctx, q, args...)
}

// must writes inside the transaction of ctx and returns the driver's error
// translated.
func (db *DB) must(ctx context.Context, q string, args ...any) error {
	_, err := db.exec(ctx, q, args...)
	return translate(err)
}

// changed is must for a statement that has to meet exactly one row; a miss is
// missing.
func (db *DB) changed(ctx context.Context, missing error, q string, args ...any) error {
	res, err := db.exec(ctx, q, args...)
	if err != nil {
		return translate(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return translate(err)
	}
	if n == 0 {
		return missing
	}
	return nil
}

// prepared returns q ready to run: in the transaction of ctx, or on the
// readers.
func (db *DB) prepared(ctx context.Context, q string) (*sql.Stmt, error) {
	if t, ok := txFrom(ctx); ok {
		return t.stmt(ctx, q)
	}
	db.mu.RLock()
	s, ok := db.stmts[q]
	db.mu.RUnlock()
	if ok {
		return s, nil
	}
	s, err := db.read.PrepareContext(ctx, q)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if other, ok := db.stmts[q]; ok {
		_ = s.Close()
		return other, nil
	}
	db.stmts[q] = s
	return s, nil
}

// one reads a single row into dest; no row is missing.
func (db *DB) one(ctx context.Context, missing error, q string, args []any, dest ...any) error {
	if _, in := txFrom(ctx); !in {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	s, err := db.prepared(ctx, q)
	if err != nil {
		return translate(err)
	}
	err = s.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return translate(err)
}

// each reads rows one after another.
func (db *DB) each(ctx context.Context, q string, args []any, scan func(scan func(...any) error) error) error {
	if _, in := txFrom(ctx); !in {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	s, err := db.prepared(ctx, q)
	if err != nil {
		return translate(err)
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return translate(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}

// millis turns a moment into its stored form; the zero time is NULL.
func millis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// moment scans a stored moment; NULL is the zero time.
type moment struct{ to *time.Time }

// Scan implements sql.Scanner.
func (m moment) Scan(v any) error {
	var n sql.NullInt64
	if err := n.Scan(v); err != nil {
		return err
	}
	*m.to = time.Time{}
	if n.Valid {
		*m.to = time.UnixMilli(n.Int64).UTC()
	}
	return nil
}

// nullable stores an empty string as NULL.
func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
