// Package requestlog records the calls of API version 5, so that the developer of
// a client can see why a call was refused. It imports the standard library and
// client/sign only, and depends on neither HTTP nor the database.
package requestlog

import (
	"context"
	"time"
)

// AuthResult is the result of checking the signature of a call.
type AuthResult string

// The results. If several apply, RetiredKey precedes StaleTimestamp, and that
// precedes BadSignature.
const (
	OK             AuthResult = "ok"
	RetiredKey     AuthResult = "retired_key"
	StaleTimestamp AuthResult = "stale_timestamp"
	BadSignature   AuthResult = "bad_signature"
)

// Call is one call with an API key of a project. It contains no secrets, and no
// query string because that may contain one.
type Call struct {
	RequestID  string     `json:"id"`
	ProjectID  string     `json:"-"`
	ReceivedAt time.Time  `json:"at"`
	Method     string     `json:"method"`
	Path       string     `json:"path"`
	Status     int        `json:"status"`
	Code       string     `json:"code,omitempty"` // error code; empty on success
	Micros     int64      `json:"us"`             // duration of the call in microseconds
	KeySlot    string     `json:"slot"`           // current, overlap or retired
	AuthResult AuthResult `json:"auth"`
	Hint       string     `json:"hint,omitempty"` // recognized mistake of the client
	// ClockSkew is the client's clock minus the server's clock in seconds. It is
	// valid only if HasTimestamp.
	ClockSkew    int64  `json:"skew,omitempty"`
	HasTimestamp bool   `json:"dated,omitempty"` // the timestamp is a number
	UserAgent    string `json:"agent,omitempty"`
}

// NumberedCall is a call with its number in its project. Later calls have larger
// numbers.
type NumberedCall struct {
	N int64 `json:"n"`
	Call
}

// Block is calls of one project that are stored together, the earliest first. The
// numbers of two blocks may overlap if several processes write.
type Block struct {
	ProjectID string
	Calls     []NumberedCall // at least one
}

// First returns the smallest number in the block.
func (b Block) First() int64 { return b.Calls[0].N }

// Last returns the largest number in the block.
func (b Block) Last() int64 { return b.Calls[len(b.Calls)-1].N }

// Store stores calls.
type Store interface {
	// InsertCalls adds blocks.
	InsertCalls(ctx context.Context, blocks []Block) error
	// Calls returns at most limit blocks of a project whose first number is
	// below firstBelow and whose last number is below lastBelow, ordered by the
	// last number, the largest first.
	Calls(ctx context.Context, projectID string, firstBelow, lastBelow int64, limit int) ([]Block, error)
	// PruneCalls deletes the blocks of all projects whose last number
	// is below the given one.
	PruneCalls(ctx context.Context, below int64) error
	// TrimCalls deletes the earliest blocks of a project until it has at most
	// latest calls.
	TrimCalls(ctx context.Context, projectID string, latest int) error
	// CallProjects returns the projects that have calls.
	CallProjects(ctx context.Context) ([]string, error)
}
