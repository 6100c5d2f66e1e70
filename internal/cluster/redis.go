package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9" // pub/sub and scripts over one well-kept client, which LiveKit brings anyway
)

const (
	// commandTimeout is how long one command may take before Redis counts as
	// gone. Nobody waits for it again until it answers.
	commandTimeout = 250 * time.Millisecond
	// pingInterval is how often Redis is asked whether it is there, and silence how
	// long it may say nothing: a dead subscription is known by then.
	pingInterval        = 250 * time.Millisecond
	subscriptionTimeout = time.Second
	// connectTimeout is how long a start waits for Redis.
	connectTimeout = 5 * time.Second
)

// changesChannel is the channel on which nodes tell each other what has changed.
const changesChannel = "parley:changes"

var errUnavailable = errors.New("Redis does not answer")

func init() { redis.SetLogger(discardLogger{}) }

// discardLogger drops what the client would print: its errors come back as errors.
type discardLogger struct{}

// Printf implements the client's logger.
func (discardLogger) Printf(context.Context, string, ...any) {}

// Cache is what a node holds that other nodes may change.
type Cache interface {
	// Forget drops what is held of a project.
	Invalidate(projectID string)
	// Distrust has nothing answered from memory any more; Trust forgets all
	// of it and begins anew.
	BypassCache()
	EnableCache()
}

// Redis is what the nodes of one service share while they run. Nothing in it
// needs to last: the database has what must be kept.
type Redis struct {
	client *redis.Client
	nodeID string // tells this process from the others
	log    *slog.Logger

	cacheMaxAge time.Duration

	up          atomic.Bool // commands are answered
	tasks       []func(ctx context.Context)
	onAvailable []func() // told when Redis is there, the first time and again

	mu          sync.Mutex
	unpublished map[string]struct{} // projects whose change could not be told yet
}

// Connect finds Redis. The error does not repeat the URL, which may hold a
// password.
func Connect(ctx context.Context, url string, log *slog.Logger) (*Redis, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("must be a URL such as redis://user:password@host:6379/0")
	}
	// A command fails once and quickly: what to do without Redis is decided
	// here, and a client that tries again by itself would only hold callers up.
	options.Protocol = 2
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = commandTimeout, commandTimeout, commandTimeout
	options.PoolTimeout, options.ContextTimeoutEnabled = commandTimeout, true
	options.DisableIdentity = true
	r := &Redis{client: redis.NewClient(options), nodeID: uuid.NewString(), log: log, cacheMaxAge: cacheMaxAge, unpublished: map[string]struct{}{}}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for {
		if err = r.client.Ping(ctx).Err(); err == nil {
			r.up.Store(true)
			return r, nil
		}
		var refusal redis.Error
		if sleep(ctx, pingInterval) != nil || errors.As(err, &refusal) {
			_ = r.client.Close()
			return nil, fmt.Errorf("no answer from Redis at %s: %w", options.Addr, err)
		}
	}
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Available reports whether Redis answers.
func (r *Redis) Available() bool { return r.up.Load() }

// runIfAvailable runs commands, and fails at once while Redis is known to be gone.
func (r *Redis) runIfAvailable(ctx context.Context, commands func(ctx context.Context) error) error {
	if !r.up.Load() {
		return errUnavailable
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	err := commands(ctx)
	if err != nil {
		r.up.Store(false)
	}
	return err
}

// PublishChange lets the other nodes know that a project has changed. Call it after the
// commit. While that cannot be told it waits until Redis is back.
func (r *Redis) PublishChange(projectID string) {
	r.mu.Lock()
	r.unpublished[projectID] = struct{}{}
	r.mu.Unlock()
	r.publish(projectID)
}

func (r *Redis) publish(projectID string) {
	err := r.runIfAvailable(context.Background(), func(ctx context.Context) error {
		return r.client.Publish(ctx, changesChannel, r.nodeID+" "+projectID).Err()
	})
	if err == nil {
		r.mu.Lock()
		delete(r.unpublished, projectID)
		r.mu.Unlock()
	}
}

func (r *Redis) publishPending() {
	r.mu.Lock()
	rest := make([]string, 0, len(r.unpublished))
	for projectID := range r.unpublished {
		rest = append(rest, projectID)
	}
	r.mu.Unlock()
	for _, projectID := range rest {
		r.publish(projectID)
	}
}

// sleep waits, and returns why if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
