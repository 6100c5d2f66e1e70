package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// MinPostgres is the oldest major version of PostgreSQL that the service supports.
const MinPostgres = 13

// SQLiteState is what was seen of a SQLite database.
type SQLiteState struct {
	Bytes, LogBytes int64 // size of the file, and of its write-ahead log
	// Damage is the first sentence of SQLite about damage; empty if there is none, or if it was not looked for.
	Damage string
	// Checked says that damage was looked for.
	Checked bool
}

// InspectSQLite looks at the existing database in a file. It changes no data. It looks for damage, which reads all of
// the file, if that has at most maxBytes, and until ctx ends.
func InspectSQLite(ctx context.Context, file string, maxBytes int64) (state SQLiteState, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return state, err
	}
	state.Bytes = info.Size()
	if log, err := os.Stat(file + "-wal"); err == nil { // before the connection, the end of which may empty it
		state.LogBytes = log.Size()
	}
	if state.Bytes > maxBytes {
		return state, nil
	}
	err = QuerySQLite(ctx, file, `PRAGMA quick_check(1)`, func(row Row) error { return row.Scan(&state.Damage) })
	switch {
	case ctx.Err() != nil:
		return state, nil
	case isDamage(err):
		state.Damage, err = err.Error(), nil
	case err != nil:
		return state, fmt.Errorf("check the database: %w", err)
	}
	state.Checked = true
	if state.Damage == "ok" {
		state.Damage = ""
	}
	return state, nil
}

// isDamage reports whether SQLite cannot read a database because it is damaged.
func isDamage(err error) bool {
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && (lite.Code()&0xff == sqlite3.SQLITE_CORRUPT || lite.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// PostgresState is what a PostgreSQL server says about itself.
type PostgresState struct {
	// Version is the major version.
	Version int
	// Unsafe are the settings that are off, of those without which a crash can lose what was committed:
	// fsync, full_page_writes and synchronous_commit.
	Unsafe []string
	// Standby says that the server is a standby, which accepts no writes.
	Standby bool
	// ClockOffset is how far the clock of the server is ahead of the clock here. It is wrong by at most half
	// of the time that the question took.
	ClockOffset time.Duration
	// Latency is the shortest time of some queries, which the network takes.
	Latency time.Duration
	// Pooled says that a connection pooler gives the same connection of PostgreSQL to several clients, in turns.
	// Then what a session holds, such as an advisory lock, may be of another client.
	Pooled bool
}

const (
	// latencyQueries is the number of queries of which the shortest time counts, so that a busy machine does not matter.
	latencyQueries = 10
	// latencyTime is the time after which there is no further query than minLatencyQueries, so that the first ones are not
	// alone if the machine stops for a moment.
	latencyTime       = time.Second
	minLatencyQueries = 3
)

// InspectPostgres asks the PostgreSQL server at url about itself. It changes nothing. Errors do not contain
// the password.
func InspectPostgres(ctx context.Context, url string) (state PostgresState, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return state, fmt.Errorf("open PostgreSQL: %w", err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // a pooler may lose prepared statements
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return state, reachError(err)
	}
	defer closePgx(conn)
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000,
		pg_is_in_recovery(), ARRAY(SELECT name FROM pg_settings
		WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name)`).
		Scan(&state.Version, &state.Standby, &state.Unsafe)
	if err != nil {
		return state, fmt.Errorf("read the settings of PostgreSQL: %w", err)
	}
	for began, i := time.Now(), 0; i < minLatencyQueries || i < latencyQueries && time.Since(began) < latencyTime; i++ {
		var now time.Time
		before := time.Now()
		if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
			return state, fmt.Errorf("read the clock of PostgreSQL: %w", err)
		}
		if took := time.Since(before); i == 0 || took < state.Latency {
			state.Latency, state.ClockOffset = took, now.Sub(before.Add(took/2))
		}
	}
	state.Pooled, err = sharesBackend(ctx, config, conn)
	return state, err
}

// sharesBackend reports whether another connection has the same process of PostgreSQL as conn. A pooler gives a new
// client the process that became free last.
func sharesBackend(ctx context.Context, config *pgx.ConnConfig, conn *pgx.Conn) (bool, error) {
	other, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, reachError(err)
	}
	defer closePgx(other)
	var pids [2]int64
	for i, c := range []*pgx.Conn{conn, other} {
		if err := c.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pids[i]); err != nil {
			return false, fmt.Errorf("read the process of PostgreSQL: %w", err)
		}
	}
	return pids[0] == pids[1], nil
}
