package requestlog

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// maxPending is the maximum number of calls that are not stored yet. Further
	// calls are dropped and counted.
	maxPending = 100_000
	// retention and maxCallsPerProject limit the age and the number of the
	// stored calls of each project.
	retention          = 7 * 24 * time.Hour
	maxCallsPerProject = 100_000

	// finalFlushAttempts is how often Run tries to store the calls at its end.
	finalFlushAttempts = 8
	flushEvery         = 250 * time.Millisecond
	pruneEvery         = time.Hour
	// trimSlack is how many calls below maxCallsPerProject a project is trimmed
	// to. It is trimmed again before so many calls were added, so that it never
	// has more than maxCallsPerProject.
	trimSlack = maxCallsPerProject / 10
	// insertBatch is the maximum number of calls in one transaction, because
	// other transactions wait for it.
	insertBatch = 1000
	// blockSize is the maximum number of calls in a block.
	blockSize = 100
	// maxPendingRefusals limits the refused calls that wait for a hint, because
	// each holds its body. Further calls are stored without a hint.
	maxPendingRefusals = 256

	maxUserAgent  = 255      // bytes
	maxSpareCalls = 32 << 10 // capacity in calls up to which a buffer is reused
)

// Recorder collects calls in memory and stores them in batches, so that no request
// waits for the database. A Recorder is safe for use by several goroutines.
type Recorder struct {
	store Store
	now   func() time.Time

	mu      sync.Mutex
	pending []Call
	dropped atomic.Int64
	refused chan pendingRefusal

	flushMu        sync.Mutex // held by Flush and guards the following
	spare          []Call     // buffer to reuse
	lastNumber     int64      // largest number assigned
	addedSinceTrim map[string]int
}

type pendingRefusal struct {
	call    Call
	details RefusedCall
}

// NewRecorder returns a Recorder. Run stores its calls.
func NewRecorder(store Store, now func() time.Time) *Recorder {
	return &Recorder{
		store: store, now: now,
		refused: make(chan pendingRefusal, maxPendingRefusals), addedSinceTrim: map[string]int{},
	}
}

// Dropped returns how many calls were dropped because maxPending was reached.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Record records a call. It drops the call if maxPending is reached.
func (r *Recorder) Record(c Call) {
	r.mu.Lock()
	full := len(r.pending) >= maxPending
	if !full {
		r.pending = append(r.pending, c)
	}
	r.mu.Unlock()
	if full {
		r.dropped.Add(1)
	}
}

// RecordRefused records a call whose signature was not accepted. Another goroutine
// finds the hint, so that the caller does not wait for it.
func (r *Recorder) RecordRefused(c Call, details RefusedCall) {
	select {
	case r.refused <- pendingRefusal{c, details}:
	default:
		r.Record(c)
	}
}

// ExplainPending finds the hints of the refused calls that wait for one, so that
// the next Flush stores all recorded calls.
func (r *Recorder) ExplainPending() {
	for {
		select {
		case p := <-r.refused:
			r.explain(p)
		default:
			return
		}
	}
}

// Run stores calls every quarter of a second, deletes old ones every hour, and
// stores the rest when ctx ends. It calls failed for the first failure of a series
// only.
func (r *Recorder) Run(ctx context.Context, failed func(error)) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { r.runExplainer(ctx) })
	storeCtx := context.WithoutCancel(ctx) // a transaction that has begun is finished
	failing := false
	report := func(err error) {
		if err != nil && !failing {
			failed(err)
		}
		failing = err != nil
	}
	flush, prune := time.NewTicker(flushEvery), time.NewTicker(pruneEvery)
	defer flush.Stop()
	defer prune.Stop()
	report(r.prune(storeCtx))
	for {
		select {
		case <-flush.C:
			report(r.Flush(storeCtx))
		case <-prune.C:
			report(r.prune(storeCtx))
		case <-ctx.Done():
			work.Wait()
			// Calls that are not stored now are lost, so a database that is
			// slow for a moment gets several attempts.
			for range finalFlushAttempts {
				if report(r.Flush(storeCtx)); !failing {
					return
				}
				<-flush.C
			}
			return
		}
	}
}

func (r *Recorder) explain(p pendingRefusal) {
	p.call.Hint = p.details.Hint()
	r.Record(p.call)
}

// runExplainer finds the hints of refused calls until ctx ends and none waits.
func (r *Recorder) runExplainer(ctx context.Context) {
	for {
		select {
		case p := <-r.refused:
			r.explain(p)
		case <-ctx.Done():
			r.ExplainPending()
			return
		}
	}
}

// Flush stores the pending calls. Calls that cannot be stored stay pending, up to
// maxPending.
func (r *Recorder) Flush(ctx context.Context) error {
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	r.mu.Lock()
	calls := r.pending
	r.pending = r.spare[:0]
	r.mu.Unlock()
	if r.spare = nil; cap(calls) <= maxSpareCalls {
		r.spare = calls
	}
	// Calls are recorded when they end, and listed in the order of their arrival.
	slices.SortStableFunc(calls, func(a, b Call) int { return a.ReceivedAt.Compare(b.ReceivedAt) })
	for start := 0; start < len(calls); start += insertBatch {
		end := min(start+insertBatch, len(calls))
		if err := r.store.InsertCalls(ctx, r.blocks(calls[start:end])); err != nil {
			r.requeue(calls[start:])
			return err
		}
		for _, c := range calls[start:end] {
			r.addedSinceTrim[c.ProjectID]++
		}
		if err := r.trimProjects(ctx); err != nil {
			r.requeue(calls[end:])
			return err
		}
	}
	clear(calls) // release the strings
	return nil
}

// blocks assigns numbers to calls and returns them in blocks.
func (r *Recorder) blocks(calls []Call) []Block {
	var blocks []Block
	open := map[string]int{} // project → index of its block that is not full
	for _, c := range calls {
		r.lastNumber = max(r.lastNumber+1, c.ReceivedAt.UnixNano())
		c.UserAgent = sanitizeUserAgent(c.UserAgent)
		i, ok := open[c.ProjectID]
		if !ok || len(blocks[i].Calls) == blockSize {
			i = len(blocks)
			open[c.ProjectID] = i
			blocks = append(blocks, Block{ProjectID: c.ProjectID})
		}
		blocks[i].Calls = append(blocks[i].Calls, NumberedCall{N: r.lastNumber, Call: c})
	}
	return blocks
}

// requeue puts calls back before the pending ones. It drops the earliest calls
// beyond maxPending.
func (r *Recorder) requeue(calls []Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(calls), maxPending-len(r.pending))
	r.dropped.Add(int64(len(calls) - n))
	r.pending = slices.Concat(calls[len(calls)-n:], r.pending)
}

// trimProjects trims the projects that may exceed maxCallsPerProject soon.
func (r *Recorder) trimProjects(ctx context.Context) error {
	for project, n := range r.addedSinceTrim {
		if n < trimSlack-insertBatch {
			continue
		}
		if err := r.store.TrimCalls(ctx, project, maxCallsPerProject-trimSlack); err != nil {
			return err
		}
		delete(r.addedSinceTrim, project)
	}
	return nil
}

// prune deletes old calls, and trims all projects because another process or an
// earlier run may have added calls.
func (r *Recorder) prune(ctx context.Context) error {
	if err := r.store.PruneCalls(ctx, r.now().Add(-retention).UnixNano()); err != nil {
		return err
	}
	projects, err := r.store.CallProjects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := r.store.TrimCalls(ctx, project, maxCallsPerProject-trimSlack); err != nil {
			return err
		}
	}
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	clear(r.addedSinceTrim)
	return nil
}

// List returns at most limit calls of a project with numbers below the given one,
// the latest first, and whether there are more.
func (r *Recorder) List(
	ctx context.Context, projectID string, below int64, limit int,
) (calls []NumberedCall, more bool, err error) {
	lastBelow := int64(math.MaxInt64)
	// Two full blocks are a page. Small blocks, written while calls were rare, need
	// more queries.
	for read := 2; ; read *= 4 {
		blocks, err := r.store.Calls(ctx, projectID, below, lastBelow, read)
		if err != nil {
			return nil, false, err
		}
		for _, b := range blocks {
			lastBelow = b.Last()
			if len(calls) > limit && lastBelow < calls[limit].N {
				return calls[:limit], true, nil // all further blocks are earlier
			}
			for _, c := range b.Calls {
				if c.N < below {
					calls = append(calls, c)
				}
			}
			slices.SortFunc(calls, func(a, b NumberedCall) int { return cmp.Compare(b.N, a.N) })
		}
		if len(blocks) < read {
			return calls[:min(limit, len(calls))], len(calls) > limit, nil
		}
	}
}

// sanitizeUserAgent returns a User-Agent header that can be stored: valid UTF-8 of
// at most maxUserAgent bytes, or "[secret]" if it seems to contain a credential.
func sanitizeUserAgent(agent string) string {
	if agent == "" {
		return ""
	}
	for _, prefix := range []string{"pk_", "gs_", "whsec_", "pt_"} {
		if strings.Contains(agent, prefix) {
			return "[secret]"
		}
	}
	agent = strings.ToValidUTF8(agent, "\uFFFD")
	if len(agent) > maxUserAgent {
		agent = agent[:maxUserAgent]
		for !utf8.ValidString(agent) {
			agent = agent[:len(agent)-1]
		}
	}
	return agent
}
