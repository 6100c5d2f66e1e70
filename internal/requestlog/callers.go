package requestlog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// MaxKeyCallers limits the stored callers with each credential of a project.
const MaxKeyCallers = 20

// KeyCaller is a caller with a credential of a project. An address and a user agent are one caller.
type KeyCaller struct {
	ProjectID string
	KeySlot   string // the slot of the credential at the time of the call; see Call
	Address   string
	UserAgent string
	At        time.Time // of the latest call
}

// credentialSlots are the slots whose callers are stored. SlotRetired is missing, because every call
// with a retired key is rejected.
var credentialSlots = []string{"current", "overlap", SlotSecret, SlotOverlapSecret}

// maxCallersBatch is the maximum number of callers that are stored in one transaction. After an outage of the database
// those with thousands of credentials wait, and one transaction for all of them could exceed the time limit of a
// transaction each time.
const maxCallersBatch = 10 * MaxKeyCallers

// callerRecorder collects the recent callers with each credential.
type callerRecorder struct {
	mu       sync.Mutex
	unstored map[callerKey]map[client]*KeyCaller
}

// maxUnstoredCallers is the number of callers with a credential beyond which the recorder keeps the most recent only.
const maxUnstoredCallers = 10 * MaxKeyCallers

// callerKey names a credential.
type callerKey struct{ projectID, slot string }

type client struct{ address, userAgent string }

// add records the caller of a call whose signature was valid, with the key that the call names and with the credential
// that signed it.
func (r *callerRecorder) add(c *Call) {
	if c.ProjectID == "" || c.hasRejectedSignature() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, slot := range [...]string{c.KeySlot, c.SignerSlot} {
		if slices.Contains(credentialSlots, slot) {
			r.keepLatest(KeyCaller{
				ProjectID: c.ProjectID,
				KeySlot:   slot,
				Address:   c.Address,
				UserAgent: c.UserAgent,
				At:        c.ReceivedAt,
			})
		}
	}
}

func (r *callerRecorder) keepLatest(c KeyCaller) {
	k, by := callerKey{c.ProjectID, c.KeySlot}, client{c.Address, c.UserAgent}
	callers := r.unstored[k]
	if known := callers[by]; known != nil {
		if known.At.Before(c.At) {
			known.At = c.At
		}
		return
	}
	if r.unstored == nil {
		r.unstored = map[callerKey]map[client]*KeyCaller{}
	}
	if callers == nil || len(callers) >= maxUnstoredCallers {
		kept := mostRecent(slices.Collect(maps.Values(callers)))
		callers = map[client]*KeyCaller{}
		for _, known := range kept {
			callers[client{known.Address, known.UserAgent}] = known
		}
		r.unstored[k] = callers
	}
	added := c // so that only a new caller needs memory
	callers[by] = &added
}

// mostRecent returns at most MaxKeyCallers of the callers with one credential. The latest caller with each user agent
// comes before the second latest with any, so that a client with many addresses does not displace the other clients. It
// changes the order of callers.
func mostRecent(callers []*KeyCaller) []*KeyCaller {
	if len(callers) <= MaxKeyCallers {
		return callers
	}
	slices.SortStableFunc(callers, func(a, b *KeyCaller) int { return b.At.Compare(a.At) })
	var rounds [][]*KeyCaller // the first has the latest caller with each user agent
	sameAgent := map[string]int{}
	for _, c := range callers {
		n := sameAgent[c.UserAgent]
		sameAgent[c.UserAgent]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], c)
	}
	return slices.Concat(rounds...)[:MaxKeyCallers]
}

// flush stores the callers, those with a few credentials at a time. Those that cannot be stored are kept for the next
// flush.
func (r *callerRecorder) flush(ctx context.Context, store Store) error {
	r.mu.Lock()
	taken := r.unstored
	r.unstored = nil
	r.mu.Unlock()
	for len(taken) > 0 {
		var batch []KeyCaller
		var credentials []callerKey
		for k, callers := range taken {
			if len(batch)+MaxKeyCallers > maxCallersBatch {
				break
			}
			for _, c := range mostRecent(slices.Collect(maps.Values(callers))) {
				stored := *c
				stored.UserAgent = Sanitize(c.UserAgent)
				batch = append(batch, stored)
			}
			credentials = append(credentials, k)
		}
		if err := store.SetKeyCallers(ctx, batch); err != nil {
			r.putBack(taken)
			return err
		}
		for _, k := range credentials {
			delete(taken, k)
		}
	}
	return nil
}

func (r *callerRecorder) putBack(taken map[callerKey]map[client]*KeyCaller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, callers := range taken {
		for _, c := range callers {
			r.keepLatest(*c)
		}
	}
}

// KeyCallers returns the recent callers with each credential of a project, the latest first, by the slot of the
// credential at that time. There are at most MaxKeyCallers of each. Callers of the last seconds may be missing, and
// those that are older than the records of calls.
func (r *Recorder) KeyCallers(ctx context.Context, projectID string) (map[string][]KeyCaller, error) {
	all, err := r.store.KeyCallers(ctx, projectID)
	found := map[string][]KeyCaller{}
	for _, c := range all {
		found[c.KeySlot] = append(found[c.KeySlot], c)
	}
	return found, err
}
