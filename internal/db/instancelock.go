package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// instanceLockID is the id of the advisory lock: "parley" in ASCII.
	instanceLockID = 0x7061726c6579
	// acquireTimeout is the longest wait for the lock, because the server
	// releases the lock of a killed process a moment later.
	acquireTimeout = 2 * time.Second
	// stoppingLockID is the id of the lock that a stopping process holds in
	// addition. stoppingTimeout is the longest wait for such a process.
	stoppingLockID  = instanceLockID + 1
	stoppingTimeout = 15 * time.Second
	// lockPingInterval is the time between two checks of the connection.
	lockPingInterval = time.Second
)

// ErrInUse is the error of AcquireInstanceLock if the lock of another
// process conflicts with the requested one.
var ErrInUse = errors.New("another Parley is running on this database")

// InstanceLock is a PostgreSQL advisory lock that prevents other processes from
// using the database: all others if it is exclusive, or those that want it
// exclusively if it is shared. The server releases it with the connection, so
// also when this process is killed.
type InstanceLock struct {
	config    *pgx.ConnConfig
	lockQuery string
	cancel    context.CancelFunc
	done      sync.WaitGroup

	stopping     chan struct{} // closed by MarkStopping
	stoppingOnce sync.Once
}

// AcquireInstanceLock locks the database at url or returns ErrInUse. The
// lock has its own connection. If that connection is lost, the lock is acquired
// again in the background. Each time this starts to fail, lost is called with
// the error; the process keeps running.
func AcquireInstanceLock(ctx context.Context, url string, shared bool, lost func(error)) (*InstanceLock, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	config.ConnectTimeout = writeTimeout
	// A machine that has lost its network must not hold the lock for hours.
	for name, value := range map[string]string{
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3",
		"application_name": "parley instance lock",
	} {
		config.RuntimeParams[name] = value
	}
	c := &InstanceLock{
		config: config, stopping: make(chan struct{}),
		lockQuery: "SELECT pg_try_advisory_lock($1)",
	}
	if shared {
		c.lockQuery = "SELECT pg_try_advisory_lock_shared($1)"
	}
	var conn *pgx.Conn
	timeout := acquireTimeout
	for began := time.Now(); ; {
		conn, err = c.acquire(ctx)
		// Stays so long, because a process that releases its lock between the two statements of acquire does not
		// look like one that is stopping.
		if errors.Is(err, errOtherStopping) {
			timeout = stoppingTimeout
		}
		if err == nil || !errors.Is(err, ErrInUse) || time.Since(began) > timeout {
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

// MarkStopping makes processes that wait for the lock wait longer, because this
// process will release it soon. It may be called more than once.
func (c *InstanceLock) MarkStopping() { c.stoppingOnce.Do(func() { close(c.stopping) }) }

// Release releases the lock and closes its connection.
func (c *InstanceLock) Release() {
	c.cancel()
	c.done.Wait()
}

// acquire opens a connection and tries once to lock the database with it.
func (c *InstanceLock) acquire(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, reachError(err)
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

// errOtherStopping is ErrInUse if the other process is stopping.
var errOtherStopping = fmt.Errorf("%w", ErrInUse)

// conflictError returns errOtherStopping if the process that holds the lock is
// stopping, else ErrInUse.
func conflictError(ctx context.Context, conn *pgx.Conn) error {
	running := false
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(stoppingLockID)).Scan(&running); err != nil {
		return err
	}
	if running { // the caller closes the connection, which releases this lock
		return ErrInUse
	}
	return errOtherStopping
}

// acquireStoppingLock acquires the lock that marks this process as stopping. It
// is shared, because several nodes may stop at the same time.
func (c *InstanceLock) acquireStoppingLock(ctx context.Context, conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	// conflictError in another process may hold the lock for a moment. A failure
	// is ignored, because it only makes other processes wait for less time.
	_, _ = conn.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", int64(stoppingLockID))
}

// maintain checks the connection that holds the lock and replaces it if it is
// lost, until ctx ends.
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
		attempt, cancel := context.WithTimeout(ctx, writeTimeout)
		if conn != nil {
			if conn.Ping(attempt) != nil {
				closePgx(conn)
				conn = nil
			}
		}
		if conn == nil {
			conn, err = c.acquire(attempt)
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
