package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// The tables that the migrations themselves fill: that of goose, the migration library,
// and that of versionStore.
const (
	migrationsTable   = "goose_db_version"
	contractionsTable = "schema_contractions"
)

// Reader reads a database as it was at one point in time. It has no timeout.
type Reader struct {
	querier
	dialect goose.Dialect
}

// ReadSnapshot calls read with a Reader, which is valid until read returns.
func (db *DB) ReadSnapshot(ctx context.Context, read func(*Reader) error) error {
	return db.engine.readSnapshot(ctx, read)
}

// ReadSQLite is DB.ReadSnapshot for the file of a database that no process uses. It
// changes neither the database nor its files.
func ReadSQLite(ctx context.Context, file string, read func(*Reader) error) error {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", sqliteURL(file, url.Values{"mode": {"ro"}}))
	if err != nil {
		return fmt.Errorf("open %s: %w", file, err)
	}
	defer func() { _ = pool.Close() }()
	return readSQLiteSnapshot(ctx, pool, read)
}

func readSQLiteSnapshot(ctx context.Context, pool *sql.DB, read func(*Reader) error) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return read(&Reader{querier: sqlQuerier{tx}, dialect: goose.DialectSQLite3})
}

// ReadPostgres is DB.ReadSnapshot for the PostgreSQL database at url.
func ReadPostgres(ctx context.Context, url string, read func(*Reader) error) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("open PostgreSQL: %w", err)
	}
	return readPostgresSnapshot(ctx, config, func(r *Reader, _ *pgx.Conn) error { return read(r) })
}

// readPostgresSnapshot also passes the connection that the transaction of the Reader uses.
func readPostgresSnapshot(ctx context.Context, config *pgx.ConnConfig, read func(*Reader, *pgx.Conn) error) error {
	conn, err := connectPostgres(ctx, config)
	if err != nil {
		return err
	}
	defer closePgx(conn)
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	return read(&Reader{querier: pgxQuerier{tx}, dialect: goose.DialectPostgres}, conn)
}

// longTransactions returns a copy of config for connections that have long transactions.
func longTransactions(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	config.RuntimeParams["statement_timeout"] = "0"
	return config
}

// connectPostgres opens a connection for a long transaction.
func connectPostgres(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, longTransactions(config))
	if err != nil {
		return nil, reachError(err)
	}
	return conn, nil
}

// sqlQuerier is a transaction of database/sql.
type sqlQuerier struct{ *sql.Tx }

func (q sqlQuerier) query(ctx context.Context, text string, args []any, row func(Row) error) error {
	rows, err := q.QueryContext(ctx, positionalParams(text), args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// pgxQuerier is a transaction of pgx.
type pgxQuerier struct{ pgx.Tx }

func (q pgxQuerier) query(ctx context.Context, text string, args []any, row func(Row) error) error {
	rows, err := q.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	return readRows(rows, row)
}

// Query calls row for each row of the result.
func (r *Reader) Query(ctx context.Context, q string, args []any, row func(Row) error) error {
	return r.query(ctx, q, args, row)
}

// Tables returns the names of all tables in order, except the one of the migration
// library and those that Litestream adds to a database that it replicates.
func (r *Reader) Tables(ctx context.Context) ([]string, error) {
	tables, err := r.allTables(ctx)
	return slices.DeleteFunc(tables, func(name string) bool {
		return name == migrationsTable || name == contractionsTable
	}), err
}

func (r *Reader) allTables(ctx context.Context) (tables []string, err error) {
	q := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name NOT IN ('_litestream_seq', '_litestream_lock') ORDER BY name`
	if r.dialect == goose.DialectPostgres {
		q = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`
	}
	err = r.query(ctx, q, nil, func(row Row) error {
		var name string
		err := row.Scan(&name)
		tables = append(tables, name)
		return err
	})
	return tables, err
}

// CountRows returns the number of rows of each table.
func (r *Reader) CountRows(ctx context.Context) (map[string]int64, error) {
	tables, err := r.Tables(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, table := range tables {
		err := r.query(ctx, `SELECT count(*) FROM `+quoteName(table), nil, func(row Row) error {
			var n int64
			err := row.Scan(&n)
			counts[table] = n
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("count the rows of %s: %w", table, err)
		}
	}
	return counts, nil
}

// SchemaVersion returns the version of the schema.
func (r *Reader) SchemaVersion(ctx context.Context) (version int64, err error) {
	err = r.query(ctx, `SELECT max(version_id) FROM `+migrationsTable+` WHERE is_applied`, nil,
		func(row Row) error { return row.Scan(&version) })
	return version, err
}

// Contraction returns the version of the schema that a program must know to use the database, 0 for any version.
func (r *Reader) Contraction(ctx context.Context) (version int64, err error) {
	tables, err := r.allTables(ctx)
	if err != nil || !slices.Contains(tables, contractionsTable) {
		return 0, err
	}
	err = r.query(ctx, `SELECT coalesce(max(version), 0) FROM `+contractionsTable, nil,
		func(row Row) error { return row.Scan(&version) })
	return version, err
}

// CheckIntegrity returns an error if SQLite finds damage in the file. PostgreSQL has no
// such check: a dump reads every row.
func (r *Reader) CheckIntegrity(ctx context.Context) error {
	if r.dialect == goose.DialectPostgres {
		return nil
	}
	var findings []error
	err := r.query(ctx, `PRAGMA integrity_check(10)`, nil, func(row Row) error {
		var finding string
		if err := row.Scan(&finding); err != nil || finding == "ok" {
			return err
		}
		findings = append(findings, errors.New(finding))
		return nil
	})
	if err == nil && len(findings) > 0 {
		err = errors.Join(findings...)
	}
	if err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}

// quoteName returns a name as an identifier in SQL.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }
