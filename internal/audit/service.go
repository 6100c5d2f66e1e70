package audit

import (
	"context"
	"time"

	"parley/internal/validate"
)

// Query selects entries for a list. Empty fields do not filter.
type Query struct {
	ProjectID string
	Action    Action
	Actor     string    // name or ID of the actor
	Subject   string    // ID of the changed object
	Since     time.Time // only entries from the first one at or after this time
	Before    time.Time // only entries older than this time
	BelowN    int64     // only entries with a lower number
	Limit     int       // 1 to validate.MaxPage
}

// needsSearch reports whether q has a condition for which there is no index.
func (q Query) needsSearch() bool { return q.Action != "" || q.Actor != "" || q.Subject != "" }

// matches reports whether an entry meets the conditions for which there is no index.
func (q Query) matches(e Entry) bool {
	return (q.Action == "" || q.Action == e.Action) && (q.Subject == "" || q.Subject == e.Subject) &&
		(q.Actor == "" || q.Actor == e.Actor() || q.Actor == e.ActorID)
}

// maxScanned is how many entries a page of List reads to find those that have no index.
const maxScanned = 1000

// Store stores the entries. Methods that write must run inside Write.
type Store interface {
	Appender
	Write(ctx context.Context, work func(ctx context.Context) error) error
	// AuditChain returns the chain and the highest number of a stored entry, both at the same
	// moment. If this number is not that of the chain, the database was changed by hand.
	AuditChain(ctx context.Context) (chain Chain, newest int64, err error)
	// AuditEntries returns entries, the newest first. It ignores Action, Actor and Subject of q.
	AuditEntries(ctx context.Context, q Query) ([]Entry, error)
	// AuditEntriesAfter returns entries with a higher number than n, in order.
	AuditEntriesAfter(ctx context.Context, n int64, limit int) ([]Entry, error)
	// PruneAuditEntries deletes the entries up to e and records e as the last one that
	// was pruned.
	PruneAuditEntries(ctx context.Context, e Entry) error
}

// Service lists, verifies and prunes the entries.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// List returns a page of entries, the newest first, and the number below which the next page begins; 0 if there is
// none. With Action, Actor or Subject, a page that is not full may have a next one, because List limits how many
// entries it reads. Errors: Invalid.
func (s *Service) List(ctx context.Context, q Query) (page []Entry, next int64, err error) {
	if err := validate.Range("limit", q.Limit, 1, validate.MaxPage); err != nil {
		return nil, 0, err
	}
	limit := q.Limit
	if q.Limit++; q.needsSearch() {
		q.Limit = maxScanned
	}
	read, err := s.store.AuditEntries(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range read {
		if !q.matches(e) {
			continue
		}
		if len(page) == limit {
			return page, page[limit-1].N, nil
		}
		page = append(page, e)
	}
	if len(read) == q.Limit {
		next = read[len(read)-1].N
	}
	return page, next, nil
}

// Head returns the number and the hash of the last entry, and 0 before the first entry. If the
// hash is stored outside the database, it proves later that no earlier entry was changed.
func (s *Service) Head(ctx context.Context) (n int64, hash string, err error) {
	chain, _, err := s.store.AuditChain(ctx)
	return chain.N, chain.Hash, err
}

const (
	// pruneBatch is the number of entries that one transaction deletes at most.
	pruneBatch = 500
	// idleFactor is the pause after a transaction as a multiple of its duration, as in the deletion of other old data, so
	// that Prune takes at most a fifth of the time of the database.
	idleFactor = 4
)

// Prune deletes the oldest entries. It stops at the first entry with a time from before until now. Entries with a time
// in the future, from a clock that was wrong, do not stop it, and are deleted if an entry older than before follows
// them. The chain continues from the hash of the last deleted entry,
// so that the remaining entries can still be verified. The audit log records the deletion too. Prune pauses between its
// transactions, so that changes by others do not wait for all of them.
func (s *Service) Prune(ctx context.Context, before time.Time) error {
	for {
		began, more := time.Now(), false
		err := s.store.Write(ctx, func(ctx context.Context) (err error) {
			more, err = s.pruneSome(ctx, before)
			return err
		})
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(idleFactor * time.Since(began)):
		}
	}
}

// pruneSome deletes a batch and reports whether there may be more entries to delete.
func (s *Service) pruneSome(ctx context.Context, before time.Time) (more bool, err error) {
	chain, err := s.store.LockAuditChain(ctx)
	if err != nil {
		return false, err
	}
	first, last, err := s.oldEntries(ctx, chain.PrunedN, before)
	if err != nil || last.N == 0 {
		return false, err
	}
	if err := s.store.PruneAuditEntries(ctx, last); err != nil {
		return false, err
	}
	// An entry about a deletion may itself be old, if the clock was set back.
	return last.N-first+1 >= pruneBatch, Record(ctx, s.store, s.now(), Change{Action: AuditPruned,
		Before: Fields{"first": first, "last": last.N}})
}

// oldEntries returns the number of the first entry after n, and the last entry to delete: in the first batch with
// entries older than before, the last of these. Without such an entry, last is zero.
func (s *Service) oldEntries(ctx context.Context, n int64, before time.Time) (first int64, last Entry, err error) {
	now := s.now()
	for more := true; more && last.N == 0; {
		entries, err := s.store.AuditEntriesAfter(ctx, n, pruneBatch)
		if err != nil || len(entries) == 0 {
			return 0, Entry{}, err
		}
		if first == 0 {
			first = entries[0].N
		}
		more = len(entries) == pruneBatch
		for _, e := range entries {
			if e.At.Before(before) {
				last = e
			} else if !e.At.After(now) {
				more = false
				break
			}
			n = e.N
		}
	}
	return first, last, nil
}
