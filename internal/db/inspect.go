package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

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
	// Pooled says that a connection pooler gives the same connection of PostgreSQL to several clients, in turns.
	// Then what a session holds, such as an advisory lock, may be of another client.
	Pooled bool
}

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
		return state, fmt.Errorf("reach PostgreSQL: %w", err)
	}
	defer closePgx(conn)
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000,
		pg_is_in_recovery(), ARRAY(SELECT name FROM pg_settings
		WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name)`).
		Scan(&state.Version, &state.Standby, &state.Unsafe)
	if err != nil {
		return state, fmt.Errorf("read the settings of PostgreSQL: %w", err)
	}
	var now time.Time
	before := time.Now()
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return state, fmt.Errorf("read the clock of PostgreSQL: %w", err)
	}
	state.ClockOffset = now.Sub(before.Add(time.Since(before) / 2))
	state.Pooled, err = sharesBackend(ctx, config, conn)
	return state, err
}

// sharesBackend reports whether another connection has the same process of PostgreSQL as conn. A pooler gives a new
// client the process that became free last.
func sharesBackend(ctx context.Context, config *pgx.ConnConfig, conn *pgx.Conn) (bool, error) {
	other, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, fmt.Errorf("reach PostgreSQL again: %w", err)
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
