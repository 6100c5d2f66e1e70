package v5

import (
	"context"
	"sync"
	"time"

	"parley/internal/fault"
)

// timeout is a context that ends fault.UnavailableAfter after its first use. Most calls read memory only and do not use
// it, so that they need no timer.
type timeout struct {
	parent context.Context

	once    sync.Once
	started context.Context // set by once
	cancel  context.CancelFunc
}

// start returns the context with the timer.
func (t *timeout) start() context.Context {
	t.once.Do(func() { t.started, t.cancel = context.WithTimeout(t.parent, fault.UnavailableAfter) })
	return t.started
}

var stopped = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// stop ends the context and frees its timer.
func (t *timeout) stop() {
	t.once.Do(func() { t.started = stopped })
	if t.cancel != nil {
		t.cancel()
	}
}

// Deadline, Done, Err and Value implement context.Context. Value is that of the context with the timer, because a
// context below finds it in this way.
func (t *timeout) Deadline() (time.Time, bool) { return t.start().Deadline() }
func (t *timeout) Done() <-chan struct{}       { return t.start().Done() }
func (t *timeout) Err() error                  { return t.start().Err() }
func (t *timeout) Value(key any) any           { return t.start().Value(key) }
