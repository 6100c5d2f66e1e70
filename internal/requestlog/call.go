// Package requestlog remembers calls of version 5, so that a client whose call
// was refused can learn why. It imports the standard library and client/sign;
// it knows no HTTP and no database.
package requestlog

import (
	"context"
	"time"
)

// AuthResult is what became of a call's signature.
type AuthResult string

// The results. Of several causes the first of retired, stale, bad counts.
const (
	OK             AuthResult = "ok"
	RetiredKey     AuthResult = "retired_key"
	StaleTimestamp AuthResult = "stale_timestamp"
	BadSignature   AuthResult = "bad_signature"
)

// Call is one call that named a key of a project. It holds no secret, and no
// query string, which may hold one.
type Call struct {
	RequestID  string     `json:"id"`
	ProjectID  string     `json:"-"`
	ReceivedAt time.Time  `json:"at"`
	Method     string     `json:"method"`
	Path       string     `json:"path"`
	Status     int        `json:"status"`
	Code       string     `json:"code,omitempty"` // of the refusal; empty on success
	Micros     int64      `json:"us"`             // how long the answer took
	KeySlot    string     `json:"slot"`           // current, overlap or retired
	AuthResult AuthResult `json:"auth"`
	Hint       string     `json:"hint,omitempty"` // a slip that was recognised
	// ClockSkew is the client's clock minus ours, in seconds. It means
	// nothing unless Dated, for a timestamp that is a number.
	ClockSkew    int64  `json:"skew,omitempty"`
	HasTimestamp bool   `json:"dated,omitempty"`
	UserAgent    string `json:"agent,omitempty"`
}

// NumberedCall is a call with its place among those of its project. Later calls
// have larger numbers.
type NumberedCall struct {
	N int64 `json:"n"`
	Call
}

// Block is some calls of one project that are kept together, the earliest
// first. The numbers of two blocks may overlap when several processes write.
type Block struct {
	ProjectID string
	Calls     []NumberedCall // at least one
}

// First returns the smallest number in the block.
func (b Block) First() int64 { return b.Calls[0].N }

// Last returns the largest number in the block.
func (b Block) Last() int64 { return b.Calls[len(b.Calls)-1].N }

// Store keeps calls.
type Store interface {
	// InsertCalls adds blocks.
	InsertCalls(ctx context.Context, blocks []Block) error
	// Calls returns the blocks of a project that begin below one number and
	// end below another, the latest end first, at most limit.
	Calls(ctx context.Context, projectID string, firstBelow, lastBelow int64, limit int) ([]Block, error)
	// PruneCalls forgets the blocks of every project that end below a number.
	PruneCalls(ctx context.Context, below int64) error
	// TrimCalls forgets the earliest blocks of a project until it has no more
	// than so many calls.
	TrimCalls(ctx context.Context, projectID string, latest int) error
	// CallProjects returns the projects that have calls.
	CallProjects(ctx context.Context) ([]string, error)
}
