package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// beginMigrated opens a connection to a PostgreSQL database, begins a transaction and runs all migrations in it. Nobody
// may migrate the database at the same time. The caller closes the connection of the transaction.
func beginMigrated(ctx context.Context, config *pgx.ConnConfig, migrations fs.FS) (_ pgx.Tx, err error) {
	opened, err := stdlib.GetConnector(*longTransactions(config)).Connect(ctx)
	if err != nil {
		return nil, reachError(err)
	}
	conn := opened.(*stdlib.Conn)
	defer func() {
		if err != nil {
			closePgx(conn.Conn())
		}
	}()
	tx, err := conn.Conn().Begin(ctx)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(migrationConn{conn})
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // because all of them would be the same connection
	return tx, migrate(ctx, db, goose.DialectPostgres, migrations)
}

// migrationConn is a connection with an open transaction for goose, which begins a transaction for each migration:
// these become savepoints. It is also the driver.Connector that returns itself. Close leaves the connection open.
type migrationConn struct{ *stdlib.Conn }

// Connect implements driver.Connector.
func (c migrationConn) Connect(context.Context) (driver.Conn, error) { return c, nil }

// Driver implements driver.Connector.
func (c migrationConn) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// Close implements driver.Conn.
func (c migrationConn) Close() error { return nil }

// ResetSession implements driver.SessionResetter. Otherwise the pool of database/sql would discard a connection that
// has an open transaction.
func (c migrationConn) ResetSession(context.Context) error { return nil }

// BeginTx implements driver.ConnBeginTx.
func (c migrationConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	_, err := c.Conn.Conn().Exec(ctx, "SAVEPOINT migration")
	return migrationTx{c.Conn.Conn()}, err
}

// migrationTx is the savepoint of one migration.
type migrationTx struct{ conn *pgx.Conn }

// Commit implements driver.Tx.
func (t migrationTx) Commit() error { return t.exec("RELEASE SAVEPOINT migration") }

// Rollback implements driver.Tx.
func (t migrationTx) Rollback() error { return t.exec("ROLLBACK TO SAVEPOINT migration") }

func (t migrationTx) exec(statement string) error {
	_, err := t.conn.Exec(context.Background(), statement)
	return err
}
