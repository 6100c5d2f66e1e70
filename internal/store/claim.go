package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// claimNumber is the number of the lock in PostgreSQL: "parley" in ASCII.
	claimNumber = 0x7061726c6579
	// claimWithin is how long a start waits for a claim: that of a process
	// which was killed ends a moment after it.
	claimWithin = 2 * time.Second
	// stoppingNumber is the lock that a process which is stopping holds beside
	// its claim, and claimStopping how long a start waits for such a process.
	stoppingNumber = claimNumber + 1
	claimStopping  = 15 * time.Second
	// claimBeat is how often a claim is looked after.
	claimBeat = time.Second
)

// ErrClaimed says that another process has claimed the database in a way that
// does not go together with what was asked for.
var ErrClaimed = errors.New("another Parley is running on this database")

// Claim is this process's right to use a PostgreSQL database: alone, or with
// others that share it. The server drops it with the connection, however this
// process ends.
type Claim struct {
	config *pgx.ConnConfig
	lock   string
	end    context.CancelFunc
	done   sync.WaitGroup

	stopping     chan struct{} // closed by Stopping
	stoppingOnce sync.Once
}

// ClaimPostgres claims the database at url, or fails with ErrClaimed. The claim
// has a connection of its own. If that is lost the claim is taken again, and
// lost is told each time this begins to fail: nothing else stops then.
func ClaimPostgres(ctx context.Context, url string, shared bool, lost func(error)) (*Claim, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	config.ConnectTimeout = patience
	// A machine that was cut off must not keep its claim for hours.
	for name, value := range map[string]string{"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "application_name": "parley claim"} {
		config.RuntimeParams[name] = value
	}
	c := &Claim{config: config, stopping: make(chan struct{}), lock: "SELECT pg_try_advisory_lock($1)"}
	if shared {
		c.lock = "SELECT pg_try_advisory_lock_shared($1)"
	}
	var conn *pgx.Conn
	for began := time.Now(); ; {
		conn, err = c.take(ctx)
		within := claimWithin
		if errors.Is(err, errStopping) {
			within = claimStopping
		}
		if err == nil || !errors.Is(err, ErrClaimed) || time.Since(began) > within {
			break
		}
		if wait(ctx, stepBack) != nil {
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.done.Go(func() { c.keep(ctx, conn, lost) })
	return c, nil
}

// Stopping tells processes that wait for the claim that this one is stopping,
// so that they wait longer.
func (c *Claim) Stopping() { c.stoppingOnce.Do(func() { close(c.stopping) }) }

// Release gives the claim up.
func (c *Claim) Release() {
	c.end()
	c.done.Wait()
}

func (c *Claim) take(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, fmt.Errorf("reach PostgreSQL: %w", err)
	}
	taken := false
	if err = conn.QueryRow(ctx, c.lock, int64(claimNumber)).Scan(&taken); err == nil && !taken {
		err = refusal(ctx, conn)
	}
	if err != nil {
		closeSoon(conn)
		return nil, err
	}
	return conn, nil
}

// errStopping is ErrClaimed by a process that is stopping.
var errStopping = fmt.Errorf("%w", ErrClaimed)

// refusal tells whether a process that has claimed the database is stopping.
func refusal(ctx context.Context, conn *pgx.Conn) error {
	running := false
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(stoppingNumber)).Scan(&running); err != nil {
		return err
	}
	if running { // nobody holds it; the connection is closed, and the lock with it
		return ErrClaimed
	}
	return errStopping
}

// markStopping takes the lock that tells others. Several nodes that stop share
// it.
func (c *Claim) markStopping(ctx context.Context, conn *pgx.Conn) {
	if conn == nil {
		return
	}
	asked, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// A process that asks whether it is taken holds it for a moment. Without the
	// mark others do not wait for long, which is all.
	_, _ = conn.Exec(asked, "SELECT pg_advisory_lock_shared($1)", int64(stoppingNumber))
}

// keep looks after the connection that holds the claim until ctx ends.
func (c *Claim) keep(ctx context.Context, conn *pgx.Conn, lost func(error)) {
	failing, stopping := false, c.stopping
	for {
		select {
		case <-ctx.Done():
			if conn != nil {
				closeSoon(conn)
			}
			return
		case <-stopping:
			stopping = nil
			c.markStopping(ctx, conn)
			continue
		case <-time.After(claimBeat):
		}
		var err error
		asked, cancel := context.WithTimeout(ctx, patience)
		if conn != nil {
			if conn.Ping(asked) != nil {
				closeSoon(conn)
				conn = nil
			}
		}
		if conn == nil {
			conn, err = c.take(asked)
		}
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			lost(err)
		}
		failing = err != nil
	}
}

func closeSoon(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = conn.Close(ctx)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
