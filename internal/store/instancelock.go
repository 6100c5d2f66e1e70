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
	// instanceLockID is the number of the lock in PostgreSQL: "parley" in ASCII.
	instanceLockID = 0x7061726c6579
	// acquireTimeout is how long a start waits for a claim: that of a process
	// which was killed ends a moment after it.
	acquireTimeout = 2 * time.Second
	// stoppingLockID is the lock that a process which is stopping holds beside
	// its claim, and stoppingTimeout how long a start waits for such a process.
	stoppingLockID  = instanceLockID + 1
	stoppingTimeout = 15 * time.Second
	// lockPingInterval is how often a claim is looked after.
	lockPingInterval = time.Second
)

// ErrDatabaseInUse says that another process has claimed the database in a way that
// does not go together with what was asked for.
var ErrDatabaseInUse = errors.New("another Parley is running on this database")

// InstanceLock is this process's right to use a PostgreSQL database: alone, or with
// others that share it. The server drops it with the connection, however this
// process ends.
type InstanceLock struct {
	config    *pgx.ConnConfig
	lockQuery string
	cancel    context.CancelFunc
	done      sync.WaitGroup

	stopping     chan struct{} // closed by Stopping
	stoppingOnce sync.Once
}

// AcquireInstanceLock claims the database at url, or fails with ErrDatabaseInUse. The claim
// has a connection of its own. If that is lost the claim is taken again, and
// lost is told each time this begins to fail: nothing else stops then.
func AcquireInstanceLock(ctx context.Context, url string, shared bool, lost func(error)) (*InstanceLock, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	config.ConnectTimeout = writeTimeout
	// A machine that was cut off must not keep its claim for hours.
	for name, value := range map[string]string{"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "application_name": "parley claim"} {
		config.RuntimeParams[name] = value
	}
	c := &InstanceLock{config: config, stopping: make(chan struct{}), lockQuery: "SELECT pg_try_advisory_lock($1)"}
	if shared {
		c.lockQuery = "SELECT pg_try_advisory_lock_shared($1)"
	}
	var conn *pgx.Conn
	for began := time.Now(); ; {
		conn, err = c.acquire(ctx)
		within := acquireTimeout
		if errors.Is(err, errOtherStopping) {
			within = stoppingTimeout
		}
		if err == nil || !errors.Is(err, ErrDatabaseInUse) || time.Since(began) > within {
			break
		}
		if sleep(ctx, retryBackoff) != nil {
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.done.Go(func() { c.maintain(ctx, conn, lost) })
	return c, nil
}

// MarkStopping tells processes that wait for the claim that this one is stopping,
// so that they wait longer.
func (c *InstanceLock) MarkStopping() { c.stoppingOnce.Do(func() { close(c.stopping) }) }

// Release gives the claim up.
func (c *InstanceLock) Release() {
	c.cancel()
	c.done.Wait()
}

func (c *InstanceLock) acquire(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, fmt.Errorf("reach PostgreSQL: %w", err)
	}
	taken := false
	if err = conn.QueryRow(ctx, c.lockQuery, int64(instanceLockID)).Scan(&taken); err == nil && !taken {
		err = conflictError(ctx, conn)
	}
	if err != nil {
		closePgx(conn)
		return nil, err
	}
	return conn, nil
}

// errOtherStopping is ErrDatabaseInUse by a process that is stopping.
var errOtherStopping = fmt.Errorf("%w", ErrDatabaseInUse)

// conflictError tells whether a process that has claimed the database is stopping.
func conflictError(ctx context.Context, conn *pgx.Conn) error {
	running := false
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(stoppingLockID)).Scan(&running); err != nil {
		return err
	}
	if running { // nobody holds it; the connection is closed, and the lock with it
		return ErrDatabaseInUse
	}
	return errOtherStopping
}

// acquireStoppingLock takes the lock that tells others. Several nodes that stop share
// it.
func (c *InstanceLock) acquireStoppingLock(ctx context.Context, conn *pgx.Conn) {
	if conn == nil {
		return
	}
	asked, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	// A process that asks whether it is taken holds it for a moment. Without the
	// mark others do not wait for long, which is all.
	_, _ = conn.Exec(asked, "SELECT pg_advisory_lock_shared($1)", int64(stoppingLockID))
}

// maintain looks after the connection that holds the claim until ctx ends.
func (c *InstanceLock) maintain(ctx context.Context, conn *pgx.Conn, lost func(error)) {
	failing, stopping := false, c.stopping
	for {
		select {
		case <-ctx.Done():
			if conn != nil {
				closePgx(conn)
			}
			return
		case <-stopping:
			stopping = nil
			c.acquireStoppingLock(ctx, conn)
			continue
		case <-time.After(lockPingInterval):
		}
		var err error
		asked, cancel := context.WithTimeout(ctx, writeTimeout)
		if conn != nil {
			if conn.Ping(asked) != nil {
				closePgx(conn)
				conn = nil
			}
		}
		if conn == nil {
			conn, err = c.acquire(asked)
		}
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			lost(err)
		}
		failing = err != nil
	}
}

func closePgx(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
