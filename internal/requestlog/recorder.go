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
	// MaxPending is how many calls may wait to be written. Beyond it they are
	// dropped and counted.
	MaxPending = 100_000
	// retention and maxCallsPerProject are how long calls are kept, and how many for
	// each project.
	retention          = 7 * 24 * time.Hour
	maxCallsPerProject = 100_000

	// finalFlushAttempts is how often it is tried to write at the end.
	finalFlushAttempts = 8
	flushEvery         = 250 * time.Millisecond
	pruneEvery         = time.Hour
	// A project is cut down to maxCallsPerProject less slack whenever slack calls
	// were added, so that it never has more than maxCallsPerProject.
	trimSlack = maxCallsPerProject / 10
	// insertBatch is how many calls one transaction writes: others wait for it.
	insertBatch = 1000
	// blockSize is how many calls are kept together at most.
	blockSize = 100
	// maxPendingRefusals bounds the refused calls that wait to be explained, each
	// with its body. Beyond it they are listed without a hint.
	maxPendingRefusals = 256

	maxUserAgent  = 255
	maxSpareCalls = 32 << 10 // calls; a larger buffer is given back
)

// Recorder takes calls in memory and writes them in batches, off the path.
type Recorder struct {
	store Store
	now   func() time.Time

	mu      sync.Mutex
	pending []Call
	dropped atomic.Int64
	refused chan pendingRefusal

	flushMu        sync.Mutex // one flush at a time
	spare          []Call     // the buffer that is not in use
	lastNumber     int64      // the largest number given
	addedSinceTrim map[string]int
}

type pendingRefusal struct {
	call    Call
	details RefusedCall
}

// NewRecorder returns a Recorder. Run writes what it takes.
func NewRecorder(store Store, now func() time.Time) *Recorder {
	return &Recorder{store: store, now: now, refused: make(chan pendingRefusal, maxPendingRefusals), addedSinceTrim: map[string]int{}}
}

// Dropped is how many calls were dropped because too many waited.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Record takes a call.
func (r *Recorder) Record(c Call) {
	r.mu.Lock()
	full := len(r.pending) >= MaxPending
	if !full {
		r.pending = append(r.pending, c)
	}
	r.mu.Unlock()
	if full {
		r.dropped.Add(1)
	}
}

// RecordRefused takes a call whose signature was not accepted. Why is worked
// out elsewhere: the caller does not wait for it.
func (r *Recorder) RecordRefused(c Call, why RefusedCall) {
	select {
	case r.refused <- pendingRefusal{c, why}:
	default:
		r.Record(c)
	}
}

// ExplainPending works out what waits to be explained, so that Flush writes all that
// was taken.
func (r *Recorder) ExplainPending() {
	for {
		select {
		case q := <-r.refused:
			q.call.Hint = q.details.Hint()
			r.Record(q.call)
		default:
			return
		}
	}
}

// Run writes what is taken every quarter of a second, forgets what is old, and
// writes a last time when ctx ends. failed is told of a failure, and not again
// before something has worked.
func (r *Recorder) Run(ctx context.Context, failed func(error)) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { r.runExplainer(ctx) })
	whole := context.WithoutCancel(ctx) // what is under way at the end is finished
	failing := false
	note := func(err error) {
		if err != nil && !failing {
			failed(err) // once, not four times a second
		}
		failing = err != nil
	}
	flush, prune := time.NewTicker(flushEvery), time.NewTicker(pruneEvery)
	defer flush.Stop()
	defer prune.Stop()
	note(r.prune(whole))
	for {
		select {
		case <-flush.C:
			note(r.Flush(whole))
		case <-prune.C:
			note(r.prune(whole))
		case <-ctx.Done():
			work.Wait()
			// What is not written now is lost, so a database that is slow for
			// a moment gets more than one chance.
			for range finalFlushAttempts {
				if note(r.Flush(whole)); !failing {
					return
				}
				<-flush.C
			}
			return
		}
	}
}

// runExplainer works refused calls out until ctx ends, and those that wait by then.
func (r *Recorder) runExplainer(ctx context.Context) {
	for {
		select {
		case q := <-r.refused:
			q.call.Hint = q.details.Hint()
			r.Record(q.call)
		case <-ctx.Done():
			r.ExplainPending()
			return
		}
	}
}

// Flush writes what waits. What cannot be written waits on, as far as there is
// room.
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
	// Calls are noted as their answers end, and listed as they came in.
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
	clear(calls) // let go of the texts
	return nil
}

// blocks numbers calls and puts those of each project together.
func (r *Recorder) blocks(calls []Call) []Block {
	var blocks []Block
	open := map[string]int{} // project → its block that has room
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

func (r *Recorder) requeue(calls []Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := min(len(calls), MaxPending-len(r.pending))
	r.dropped.Add(int64(len(calls) - taken))
	r.pending = append(append(make([]Call, 0, taken+len(r.pending)), calls[len(calls)-taken:]...), r.pending...)
}

// trimProjects keeps projects with many calls within their bound.
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

// prune forgets what is old, and what another process or run left too much of.
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

// List returns the calls of a project with numbers below a bound, the latest
// first, and whether there are more.
func (r *Recorder) List(ctx context.Context, projectID string, below int64, limit int) (calls []NumberedCall, more bool, err error) {
	ends := int64(math.MaxInt64)
	for read := 2; ; read *= 4 { // two full blocks are a page; after a quiet time it takes many
		blocks, err := r.store.Calls(ctx, projectID, below, ends, read)
		if err != nil {
			return nil, false, err
		}
		for _, b := range blocks {
			ends = b.Last()
			if len(calls) > limit && ends < calls[limit].N {
				return calls[:limit], true, nil // what follows is all earlier
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

// sanitizeUserAgent makes a header of a client fit to be kept: bounded, valid, and empty
// when it looks as if it held a credential.
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
