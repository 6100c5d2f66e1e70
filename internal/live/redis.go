package live

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
	// answerWithin is how long one command may take before Redis counts as
	// gone. Nobody waits for it again until it answers.
	answerWithin = 250 * time.Millisecond
	// beat is how often Redis is asked whether it is there, and silence how
	// long it may say nothing: a dead subscription is known by then.
	beat    = 250 * time.Millisecond
	silence = time.Second
	// startWithin is how long a start waits for Redis.
	startWithin = 5 * time.Second
)

// changes is the channel on which nodes tell each other what has changed.
const changes = "parley:changes"

var errGone = errors.New("Redis does not answer")

func init() { redis.SetLogger(quiet{}) }

// quiet drops what the client would print: its errors come back as errors.
type quiet struct{}

// Printf implements the client's logger.
func (quiet) Printf(context.Context, string, ...any) {}

// Memory is what a node holds that other nodes may change.
type Memory interface {
	// Forget drops what is held of a project.
	Forget(projectID string)
	// Distrust has nothing answered from memory any more; Trust forgets all
	// of it and begins anew.
	Distrust()
	Trust()
}

// Redis is what the nodes of one service share while they run. Nothing in it
// needs to last: the database has what must be kept.
type Redis struct {
	client *redis.Client
	node   string // tells this process from the others
	log    *slog.Logger

	trustFor time.Duration

	up       atomic.Bool // commands are answered
	work     []func(ctx context.Context)
	returned []func() // told when Redis is there, the first time and again

	mu     sync.Mutex
	untold map[string]struct{} // projects whose change could not be told yet
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
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = answerWithin, answerWithin, answerWithin
	options.PoolTimeout, options.ContextTimeoutEnabled = answerWithin, true
	options.DisableIdentity = true
	r := &Redis{client: redis.NewClient(options), node: uuid.NewString(), log: log, trustFor: trustFor, untold: map[string]struct{}{}}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		if err = r.client.Ping(ctx).Err(); err == nil {
			r.up.Store(true)
			return r, nil
		}
		var refusal redis.Error
		if pause(ctx, beat) != nil || errors.As(err, &refusal) {
			_ = r.client.Close()
			return nil, fmt.Errorf("no answer from Redis at %s: %w", options.Addr, err)
		}
	}
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Available reports whether Redis answers.
func (r *Redis) Available() bool { return r.up.Load() }

// try runs commands, and fails at once while Redis is known to be gone.
func (r *Redis) try(ctx context.Context, commands func(ctx context.Context) error) error {
	if !r.up.Load() {
		return errGone
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := commands(ctx)
	if err != nil {
		r.up.Store(false)
	}
	return err
}

// Tell lets the other nodes know that a project has changed. Call it after the
// commit. While that cannot be told it waits until Redis is back.
func (r *Redis) Tell(projectID string) {
	r.mu.Lock()
	r.untold[projectID] = struct{}{}
	r.mu.Unlock()
	r.tell(projectID)
}

func (r *Redis) tell(projectID string) {
	err := r.try(context.Background(), func(ctx context.Context) error {
		return r.client.Publish(ctx, changes, r.node+" "+projectID).Err()
	})
	if err == nil {
		r.mu.Lock()
		delete(r.untold, projectID)
		r.mu.Unlock()
	}
}

func (r *Redis) tellRest() {
	r.mu.Lock()
	rest := make([]string, 0, len(r.untold))
	for projectID := range r.untold {
		rest = append(rest, projectID)
	}
	r.mu.Unlock()
	for _, projectID := range rest {
		r.tell(projectID)
	}
}

// pause waits, and returns why if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
