package requestlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/internal/fault"
)

const (
	// maxPending is the maximum number of calls that wait to be stored, beside those
	// that are being stored. Further calls are dropped and counted.
	maxPending = 100_000
	// maxCallsPerProject limits the number of the stored calls of each project and API. The latest rejected ones, up to
	// half of it less the slack, do not give way to accepted ones, because a busy project would lose them within minutes.
	// Package retention limits their age.
	maxCallsPerProject = 100_000

	// finalFlushTimeout is for how long Run tries to store the calls at its end.
	finalFlushTimeout = 2 * time.Second
	// FlushInterval is how often Run stores the recorded calls.
	FlushInterval  = 250 * time.Millisecond
	explainTimeout = time.Second
	trimEvery      = time.Hour
	trimRetry      = time.Minute
	// trimSlack is how many calls below maxCallsPerProject a project is trimmed to. It is trimmed again before a node has
	// added so many, so that only calls of several nodes can exceed the maximum, until one of them trims.
	trimSlack = maxCallsPerProject / 10
	// insertBatch is the maximum number of calls in one transaction, because
	// other transactions wait for it.
	insertBatch = 1000
	// blockSize is the maximum number of calls in a block.
	blockSize = 100
	// blockSpan is the maximum time between the first call of a block and a later one. Calls wait for longer
	// while the database is unavailable, and Find looks for a call in the blocks of searchTime only.
	blockSpan = searchTime / 6
	// maxUnexplained limits the rejected calls that wait for a hint, because each holds
	// its body. Further calls are stored without a hint.
	maxUnexplained = 256

	maxSpareCalls = 32 << 10 // capacity in calls up to which a buffer is reused
)

// Recorder collects calls in memory and stores them in batches, so that no request
// waits for the database. A Recorder is safe for use by several goroutines.
type Recorder struct {
	store Store
	now   func() time.Time

	mu          sync.Mutex
	pending     []NumberedCall // without numbers
	dropped     atomic.Int64
	unexplained chan unexplainedCall
	rejections  rejectionCounter
	totals      totalCounter
	callers     callerRecorder

	flushMu        sync.Mutex     // held by Flush and guards the following
	spare          []NumberedCall // buffer to reuse
	unconfirmed    []Block        // stored perhaps: the database did not say so in time
	countersErr    error          // of the last attempt to store totals and callers
	trimErr        error          // of the last attempt to trim projects to which calls were added
	lastNumber     int64          // largest number assigned
	addedSinceTrim map[logKey]int
}

// Explain returns the mistake of a rejected call as a sentence, or an empty string, and a
// cause that replaces the recorded one if it is not empty. It may read the database.
type Explain = func(ctx context.Context) (cause, hint string)

type unexplainedCall struct {
	call    Call
	explain Explain
}

// logKey is the part of the log that is trimmed by itself.
type logKey struct{ projectID, api string }

// NewRecorder returns a Recorder. Run stores its calls.
func NewRecorder(store Store, now func() time.Time) *Recorder {
	return &Recorder{
		store:          store,
		now:            now,
		unexplained:    make(chan unexplainedCall, maxUnexplained),
		rejections:     newRejectionCounter(),
		addedSinceTrim: map[logKey]int{},
	}
}

// Dropped returns how many calls were dropped because maxPending was reached.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Record records a call. It drops the call if maxPending is reached. Another goroutine
// calls explain, so that the caller does not wait for it; nil if there is nothing to
// explain.
func (r *Recorder) Record(c Call, explain Explain) {
	ended := c.ReceivedAt.Add(time.Duration(c.Micros) * time.Microsecond)
	r.totals.add(c.API, c.ProjectID, c.Status < minRejected, ended)
	r.callers.add(&c)
	r.enqueue(&c, explain)
}

func (r *Recorder) enqueue(c *Call, explain Explain) {
	if explain != nil {
		select {
		case r.unexplained <- unexplainedCall{*c, explain}:
			return
		default:
		}
	}
	r.mu.Lock()
	full := len(r.pending) >= maxPending
	if !full {
		r.pending = append(r.pending, NumberedCall{Call: *c})
	}
	r.mu.Unlock()
	if full {
		r.dropped.Add(1)
	}
}

// ExplainPending does at once what Run does in the background: it finds the hints of the
// rejected calls that wait for one, and counts the rejected calls without a project. The
// next Flush then stores all calls that were recorded before.
func (r *Recorder) ExplainPending() {
	for {
		select {
		case u := <-r.unexplained:
			r.explain(u)
		case c := <-r.rejections.waiting:
			r.rejections.count(c)
		default:
			return
		}
	}
}

// Run stores calls every quarter of a second, deletes old ones of the APIs every hour, and
// stores the rest when ctx ends. It calls stored with the result of each attempt to store calls, and
// trimmed with that of each deletion.
func (r *Recorder) Run(ctx context.Context, apis []string, stored, trimmed func(error)) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { r.runExplainer(ctx) })
	work.Go(func() { r.runTrimmer(ctx, apis, trimmed) }) // many projects take a while
	storeCtx := context.WithoutCancel(ctx)               // a transaction that has begun is finished
	failing := false
	report := func(err error) {
		stored(err)
		failing = err != nil
	}
	flush := time.NewTicker(FlushInterval)
	defer flush.Stop()
	for n := 1; ; n++ {
		select {
		case <-flush.C:
			report(r.flush(storeCtx, n%flushesPerTotals == 0))
		case <-ctx.Done():
			work.Wait()
			// Calls that are not stored now are lost, so a database that is
			// slow for a moment gets several attempts.
			for ends := time.Now().Add(finalFlushTimeout); time.Now().Before(ends); {
				if report(r.Flush(storeCtx)); !failing {
					return
				}
				<-flush.C
			}
			return
		}
	}
}

func (r *Recorder) explain(u unexplainedCall) {
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()
	cause, hint := u.explain(ctx)
	u.call.Cause, u.call.Hint = cmp.Or(cause, u.call.Cause), cmp.Or(hint, u.call.Hint)
	if cause == CauseRetiredKey {
		u.call.KeySlot = SlotRetired
	}
	r.enqueue(&u.call, nil)
}

// runExplainer finds the hints of rejected calls, and counts those without a project, until
// ctx ends and none waits.
func (r *Recorder) runExplainer(ctx context.Context) {
	for {
		select {
		case u := <-r.unexplained:
			r.explain(u)
		case c := <-r.rejections.waiting:
			r.rejections.count(c)
		case <-ctx.Done():
			r.ExplainPending()
			return
		}
	}
}

// Flush stores the pending calls, rejections, totals and callers. Calls that cannot be stored stay
// pending, up to maxPending.
func (r *Recorder) Flush(ctx context.Context) error { return r.flush(ctx, true) }

func (r *Recorder) flush(ctx context.Context, withCounters bool) error {
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	rejectionsErr := r.rejections.flush(ctx, r.store)
	if withCounters {
		r.countersErr = r.totals.flush(ctx, r.store, r.now())
		if r.trimErr != nil { // perhaps no call is added that would repeat it
			r.trimErr = r.trimProjects(ctx)
		}
	}
	if err := r.flushCalls(ctx); err != nil {
		return err
	}
	if withCounters { // at the end, because after an outage it may take many transactions
		r.countersErr = errors.Join(r.countersErr, r.callers.flush(ctx, r.store))
	}
	return errors.Join(rejectionsErr, r.countersErr, r.trimErr)
}

func (r *Recorder) flushCalls(ctx context.Context) error {
	if err := r.insert(ctx, r.unconfirmed); err != nil {
		return err
	}
	r.mu.Lock()
	calls := r.pending
	r.pending = r.spare[:0]
	r.mu.Unlock()
	r.spare = nil
	// Calls are recorded when they end, and listed in the order of their arrival.
	slices.SortStableFunc(calls, func(a, b NumberedCall) int { return a.ReceivedAt.Compare(b.ReceivedAt) })
	for start := 0; start < len(calls); start += insertBatch {
		end := min(start+insertBatch, len(calls))
		if err := r.insert(ctx, r.blocks(calls[start:end])); err != nil {
			r.requeue(calls[end:])
			return err
		}
	}
	clear(calls) // release the strings
	if cap(calls) <= maxSpareCalls {
		r.spare = calls
	}
	return nil
}

// insert stores blocks, and trims the projects that have too many calls then. Blocks that it could not store are
// unconfirmed: they keep their numbers, so that none is stored twice if the database has stored it nevertheless.
func (r *Recorder) insert(ctx context.Context, blocks []Block) error {
	if len(blocks) == 0 {
		return nil
	}
	r.unconfirmed = blocks
	if err := r.store.InsertCalls(ctx, blocks); err != nil {
		return err
	}
	r.unconfirmed = nil
	for _, b := range blocks {
		r.addedSinceTrim[logKey{b.ProjectID, b.API}] += len(b.Calls)
	}
	r.trimErr = r.trimProjects(ctx)
	return nil
}

// blocks assigns numbers to calls, which are in the order of their arrival, and sorts them into blocks. The
// blocks use the memory of calls.
func (r *Recorder) blocks(calls []NumberedCall) []Block {
	for i := range calls {
		c := &calls[i]
		r.lastNumber = max(r.lastNumber+1, c.ReceivedAt.UnixNano())
		c.N = r.lastNumber
		c.UserAgent, c.Path, c.Hint = Sanitize(c.UserAgent), Sanitize(c.Path), Sanitize(c.Hint)
	}
	slices.SortStableFunc(calls, func(a, b NumberedCall) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.API, b.API), compareOutcome(&a.Call, &b.Call))
	})
	var blocks []Block
	for len(calls) > 0 {
		first, n := &calls[0], 1
		for n < min(blockSize, len(calls)) && calls[n].ProjectID == first.ProjectID && calls[n].API == first.API &&
			compareOutcome(&calls[n].Call, &first.Call) == 0 && calls[n].N-first.N <= int64(blockSpan) {
			n++
		}
		blocks = append(blocks, Block{ProjectID: first.ProjectID, API: first.API, Calls: calls[:n:n]})
		calls = calls[n:]
	}
	return blocks
}

// compareOutcome orders accepted calls before rejected ones.
func compareOutcome(a, b *Call) int {
	switch aRejected := a.isRejected(); {
	case aRejected == b.isRejected():
		return 0
	case aRejected:
		return 1
	}
	return -1
}

// requeue puts calls back before the pending ones. It drops the earliest calls
// beyond maxPending.
func (r *Recorder) requeue(calls []NumberedCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(calls), maxPending-len(r.pending))
	r.dropped.Add(int64(len(calls) - n))
	r.pending = slices.Concat(calls[len(calls)-n:], r.pending)
}

// trimProjects trims the projects that may exceed maxCallsPerProject soon.
func (r *Recorder) trimProjects(ctx context.Context) error {
	for k, n := range r.addedSinceTrim {
		if n < trimSlack-insertBatch {
			continue
		}
		if err := r.store.TrimCalls(ctx, k.projectID, k.api, maxCallsPerProject-trimSlack); err != nil {
			return err
		}
		delete(r.addedSinceTrim, k)
	}
	return nil
}

// runTrimmer trims all projects every hour, and a minute after a failure, until ctx ends.
func (r *Recorder) runTrimmer(ctx context.Context, apis []string, trimmed func(error)) {
	for {
		err := r.trimAll(ctx, apis)
		if ctx.Err() != nil {
			return
		}
		trimmed(err)
		wait := trimEvery
		if err != nil {
			wait = trimRetry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// trimAll trims all projects, because another process or an earlier run may have added
// calls.
func (r *Recorder) trimAll(ctx context.Context, apis []string) (failed error) {
	if err := r.store.DeleteCallTotals(ctx, r.now().Add(-keepTotals)); err != nil {
		return err
	}
	for _, api := range apis {
		projects, err := r.store.CallProjects(ctx, api)
		if err != nil {
			return err
		}
		for _, project := range projects {
			err := r.store.TrimCalls(ctx, project, api, maxCallsPerProject-trimSlack)
			if fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
				return err
			}
			if err != nil { // a project that fails does not keep the others
				failed = errors.Join(failed, fmt.Errorf("project %s: %w", project, err))
			}
		}
	}
	if failed != nil {
		return failed
	}
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	clear(r.addedSinceTrim)
	return nil
}
