// Package cluster connects the nodes of one service through Redis: exact counts,
// limits that hold on all nodes together, and invalidation of caches. It imports
// counter and ratelimit, uuid, go-redis and the standard library only.
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
	"github.com/redis/go-redis/v9" // pub/sub and scripts in one well-maintained client, which LiveKit needs anyway
)

const (
	// commandTimeout is how long one command may take. After that Redis counts
	// as unavailable, and no other call waits for it until it answers a ping.
	commandTimeout = 250 * time.Millisecond
	// pingInterval is how often the connections are checked.
	pingInterval = 250 * time.Millisecond
	// subscriptionTimeout is how long the subscription may be silent before it
	// counts as lost.
	subscriptionTimeout = time.Second
	// connectTimeout is how long Connect waits for Redis.
	connectTimeout = 5 * time.Second
)

// changesChannel is the channel on which nodes publish changed projects.
const changesChannel = "parley:changes"

var errUnavailable = errors.New("Redis does not answer")

func init() { redis.SetLogger(discardLogger{}) }

// discardLogger drops the messages of the Redis client, because it also returns
// them as errors.
type discardLogger struct{}

func (discardLogger) Printf(context.Context, string, ...any) {}

// Cache is the memory of a node for data that other nodes may change.
type Cache interface {
	// Invalidate drops the entries of a project.
	Invalidate(projectID string)
	// BypassCache makes every read go to the database.
	BypassCache()
	// EnableCache drops all entries and uses the cache again.
	EnableCache()
}

// Redis is a node's connection to the other nodes of the service. Nothing in
// Redis needs to survive, because the database has everything that must be
// kept.
type Redis struct {
	client *redis.Client
	nodeID string // differs for each process
	log    *slog.Logger

	cacheMaxAge time.Duration

	up          atomic.Bool                 // the last command was answered
	tasks       []func(ctx context.Context) // run until Run ends
	onAvailable []func()                    // called each time that Redis becomes available

	mu          sync.Mutex
	unpublished map[string]struct{} // projects whose change is not published yet
}

// Connect connects to Redis. It waits up to five seconds for an answer. Errors
// do not contain the URL, because it may hold a password.
func Connect(ctx context.Context, url string, log *slog.Logger) (*Redis, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("must be a URL such as redis://user:password@host:6379/0")
	}
	// A command fails once and quickly, because the callers have their own
	// fallback without Redis and retries of the client would only delay it.
	options.Protocol = 2
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = commandTimeout, commandTimeout, commandTimeout
	options.PoolTimeout, options.ContextTimeoutEnabled = commandTimeout, true
	options.DisableIdentity = true
	r := &Redis{
		client:      redis.NewClient(options),
		nodeID:      uuid.NewString(),
		log:         log,
		cacheMaxAge: cacheMaxAge,
		unpublished: map[string]struct{}{},
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for {
		if err = r.client.Ping(ctx).Err(); err == nil {
			r.up.Store(true)
			return r, nil
		}
		var replyError redis.Error // such as a wrong password, for which a retry is useless
		if sleep(ctx, pingInterval) != nil || errors.As(err, &replyError) {
			_ = r.client.Close()
			return nil, fmt.Errorf("no answer from Redis at %s: %w", options.Addr, err)
		}
	}
}

// Close closes the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Available reports whether Redis answers.
func (r *Redis) Available() bool { return r.up.Load() }

// runIfAvailable runs commands with a timeout. It fails at once while Redis is
// unavailable.
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

// PublishChange tells the other nodes that a project has changed. Call it after
// the commit. If Redis is unavailable, the change is published when it is back.
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
	pending := make([]string, 0, len(r.unpublished))
	for projectID := range r.unpublished {
		pending = append(pending, projectID)
	}
	r.mu.Unlock()
	for _, projectID := range pending {
		r.publish(projectID)
	}
}

// sleep waits for d. If ctx ends first, it returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
