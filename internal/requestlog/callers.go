package requestlog

import (
	"context"
	"slices"
	"sync"
	"time"
)

// KeyCaller is the latest caller with a credential of a project.
type KeyCaller struct {
	ProjectID string
	KeySlot   string // the slot of the credential at the time of the call; see Call
	At        time.Time
	Address   string
	UserAgent string
}

// credentialSlots are the slots whose callers are stored. SlotRetired is missing, because every call
// with a retired key is rejected.
var credentialSlots = []string{"current", "overlap", SlotSecret, SlotOverlapSecret}

// callerRecorder collects the latest callers with each credential.
type callerRecorder struct {
	mu       sync.Mutex
	unstored map[callerKey]KeyCaller
}

type callerKey struct{ projectID, slot string }

// add records the caller of a call whose signature was valid.
func (r *callerRecorder) add(c Call) {
	if c.ProjectID == "" || c.hasRejectedSignature() || !slices.Contains(credentialSlots, c.KeySlot) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keepLatest(KeyCaller{
		ProjectID: c.ProjectID,
		KeySlot:   c.KeySlot,
		At:        c.ReceivedAt,
		Address:   c.Address,
		UserAgent: c.UserAgent,
	})
}

func (r *callerRecorder) keepLatest(c KeyCaller) {
	if r.unstored == nil {
		r.unstored = map[callerKey]KeyCaller{}
	}
	if k := (callerKey{c.ProjectID, c.KeySlot}); !c.At.Before(r.unstored[k].At) {
		r.unstored[k] = c
	}
}

// flush stores the callers. Those that cannot be stored are kept for the next flush.
func (r *callerRecorder) flush(ctx context.Context, store Store) error {
	r.mu.Lock()
	taken := r.unstored
	r.unstored = nil
	r.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	callers := make([]KeyCaller, 0, len(taken))
	for _, c := range taken {
		c.UserAgent = Sanitize(c.UserAgent)
		callers = append(callers, c)
	}
	err := store.SetKeyCallers(ctx, callers)
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range taken {
		r.keepLatest(c)
	}
	return err
}

// KeyCallers returns the latest caller with each credential of a project, by the slot of the
// credential at that time. Callers of the last seconds may be missing, and those that are
// older than the records of calls.
func (r *Recorder) KeyCallers(ctx context.Context, projectID string) (map[string]KeyCaller, error) {
	all, err := r.store.KeyCallers(ctx, projectID)
	found := map[string]KeyCaller{}
	for _, c := range all {
		found[c.KeySlot] = c
	}
	return found, err
}
