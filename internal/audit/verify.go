package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
)

// hashedEntry is the form of an entry that is hashed. The names and their order must
// never change, because they are part of every hash.
type hashedEntry struct {
	N         int64  `json:"n"`
	At        int64  `json:"at"` // Unix milliseconds
	ActorKind Kind   `json:"actor_kind"`
	ActorID   string `json:"actor_id"`
	ActorName string `json:"actor_name"`
	RequestID string `json:"request_id"`
	Address   string `json:"address"`
	Node      string `json:"node"`
	Action    Action `json:"action"`
	Subject   string `json:"subject"`
	ProjectID string `json:"project_id"`
	Before    string `json:"before"`
	After     string `json:"after"`
}

// computeHash returns the SHA-256 of PrevHash, followed by the entry as JSON, in hex.
func (e *Entry) computeHash() string {
	text, err := json.Marshal(hashedEntry{
		N:         e.N,
		At:        e.At.UnixMilli(),
		ActorKind: e.Kind,
		ActorID:   e.ActorID,
		ActorName: e.ActorName,
		RequestID: e.RequestID,
		Address:   e.Address,
		Node:      e.Node,
		Action:    e.Action,
		Subject:   e.Subject,
		ProjectID: e.ProjectID,
		Before:    e.Before,
		After:     e.After,
	})
	if err != nil {
		panic(err) // impossible: all fields are strings and integers
	}
	hash := sha256.Sum256(append([]byte(e.PrevHash), text...))
	return hex.EncodeToString(hash[:])
}

// Defect is what is wrong with the entry that a Problem names.
type Defect string

// The defects.
const (
	Changed  Defect = "changed"  // the hash does not match the values
	Moved    Defect = "moved"    // the entry belongs to another position, as after a swap
	Replaced Defect = "replaced" // the entry and the one before it do not belong together
	Removed  Defect = "removed"  // the entry is missing, and later ones exist
	CutOff   Defect = "cut_off"  // the entry and all later ones are missing
	Inserted Defect = "inserted" // the entry is outside the chain
)

// Problem is the first entry at which the chain is broken.
type Problem struct {
	N      int64
	Defect Defect
}

// String returns a sentence about the problem.
func (p Problem) String() string {
	switch p.Defect {
	case Changed:
		return fmt.Sprintf("entry %d was changed", p.N)
	case Moved:
		return fmt.Sprintf("entry %d was moved from another position", p.N)
	case Replaced:
		return fmt.Sprintf("entry %d or the one before it was replaced", p.N)
	case Removed:
		return fmt.Sprintf("entry %d was removed", p.N)
	case CutOff:
		return fmt.Sprintf("the entries from %d on were cut off", p.N)
	}
	return fmt.Sprintf("entry %d was inserted", p.N)
}

// Report is the result of Verify.
type Report struct {
	Rows    int64    // number of entries that are intact
	N       int64    // number of the last entry of the chain
	Hash    string   // of that entry
	Problem *Problem // nil if the chain is intact
}

// verifyBatch is the number of entries that Verify holds in memory at a time.
const verifyBatch = 500

// Verify checks the hash chain from the first entry that was not pruned to the last one.
// Entries that are added meanwhile are not checked.
func (s *Service) Verify(ctx context.Context) (Report, error) {
	for {
		chain, newest, err := s.store.AuditChain(ctx)
		if err != nil {
			return Report{}, err
		}
		report := Report{N: chain.N, Hash: chain.Hash}
		if err := s.verify(ctx, chain, newest, &report); err != nil || report.Problem == nil {
			return report, err
		}
		now, _, err := s.store.AuditChain(ctx)
		if err != nil || now.PrunedN == chain.PrunedN {
			return report, err
		}
		// Entries were pruned during the verification, so it starts again.
	}
}

// verify checks the entries of a chain and sets the rows and the problem of the report.
// newest is the highest number of an entry.
func (s *Service) verify(ctx context.Context, chain Chain, newest int64, report *Report) error {
	fail := func(n int64, d Defect) { report.Problem = &Problem{N: n, Defect: d} }
	expected, prevHash := chain.PrunedN+1, chain.PrunedHash
	after := int64(math.MinInt64)
	for expected <= chain.N {
		entries, err := s.store.AuditEntriesAfter(ctx, after, verifyBatch)
		if err != nil {
			return err
		}
		if len(entries) == 0 || entries[0].N > chain.N {
			fail(expected, CutOff)
			return nil
		}
		for _, e := range entries {
			if expected > chain.N {
				break
			}
			if defect := chain.check(e, expected, prevHash); defect != "" {
				fail(min(e.N, expected), defect)
				return nil
			}
			report.Rows++
			after, expected, prevHash = e.N, expected+1, e.Hash
		}
	}
	switch {
	case newest > chain.N:
		fail(newest, Inserted)
	case prevHash != chain.Hash:
		fail(chain.N, Replaced)
	}
	return nil
}

// check returns what is wrong with an entry that is read at the position of the entry
// expected; empty if nothing is.
func (c Chain) check(e Entry, expected int64, prevHash string) Defect {
	switch {
	case e.N < expected:
		return Inserted
	case e.N > c.N:
		return CutOff
	case e.N > expected:
		return Removed
	case e.computeHash() != e.Hash:
		if c.hasOtherPosition(e) {
			return Moved
		}
		return Changed
	case e.PrevHash != prevHash:
		return Replaced
	}
	return ""
}

// maxPositions bounds the search for the position of an entry, because somebody may have
// changed the ends of the chain too.
const maxPositions = 1_000_000

// hasOtherPosition reports whether the entry is intact except for its number.
func (c Chain) hasOtherPosition(e Entry) bool {
	for n := c.PrunedN + 1; n <= min(c.N, c.PrunedN+maxPositions); n++ {
		if e.N = n; e.computeHash() == e.Hash {
			return true
		}
	}
	return false
}
