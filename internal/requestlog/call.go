// Package requestlog records the calls of the signed APIs and of the management API. With
// them, an integrator finds out why a call was rejected, and an operator sees the callers. The
// package depends on neither HTTP nor the database.
package requestlog

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Causes of a rejected signature. If several apply to a call, an earlier one in this list
// is recorded. Other rejected calls have the code of their error as the cause.
const (
	CauseUnknownKey     = "unknown_key"     // no project has the API key
	CauseUnknownProject = "unknown_project" // the body names a project that does not exist
	CauseRetiredKey     = "retired_key"     // the overlap of the API key has ended
	CauseStaleTimestamp = "stale_timestamp" // also a timestamp that is missing or not a number
	CauseBadSignature   = "bad_signature"   // also a signature that is missing or sent twice
)

// The slots of credentials. Package key defines the slots of API keys that may be used.
const (
	SlotRetired       = "retired"        // API key whose overlap has ended
	SlotSecret        = "secret"         // current project secret
	SlotOverlapSecret = "overlap_secret" // old project secret during an overlap
	SlotToken         = "token"          // management token
	SlotSession       = "session"        // session of the console
)

// minRejected is the smallest status of a rejected call.
const minRejected = 400

// ManagementAPI is the name of the management API in records.
const ManagementAPI = "manage"

// Call is one call of an API. It contains no secrets, and no query string because that may
// contain one.
type Call struct {
	RequestID  string    `json:"id"`
	ProjectID  string    `json:"-"` // project that the call names; empty for the management API
	API        string    `json:"-"` // "v3", "v4", "v5" or "manage"
	ReceivedAt time.Time `json:"at"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`
	Route      string    `json:"route,omitempty"` // path with the names of its parameters; empty if it equals Path
	Status     int       `json:"status"`
	Micros     int64     `json:"us"` // duration of the call in microseconds
	// KeySlot is the slot of the credential: "current", "overlap" or SlotRetired for an API
	// key, SlotSecret or SlotOverlapSecret for a project secret, SlotToken for a management
	// token, SlotSession for a session of the console, and empty if no credential matched.
	KeySlot string `json:"slot"`
	// SignerSlot is the slot of the credential that signed, if the call names another one: usually a project secret
	// beside an API key.
	SignerSlot string `json:"signer,omitempty"`
	TokenID    string `json:"token,omitempty"` // management token of the call, or with which its session began
	Cause      string `json:"cause,omitempty"` // cause for which the call was rejected; empty if it was not
	Hint       string `json:"hint,omitempty"`  // recognized mistake of the client
	// ClockSkew is the client's clock minus the server's clock in seconds. It is
	// valid only if HasTimestamp.
	ClockSkew    int64  `json:"skew,omitempty"`
	HasTimestamp bool   `json:"dated,omitempty"`  // whether the call has a timestamp that is a number
	Address      string `json:"client,omitempty"` // IP address of the caller
	UserAgent    string `json:"agent,omitempty"`
}

// RouteOrPath returns the path of the call with the names of its parameters.
func (c *Call) RouteOrPath() string {
	if c.Route == "" {
		return c.Path
	}
	return c.Route
}

// hasRejectedSignature reports whether the credential or the signature of the call was wrong. The
// status does not tell, because it is 429 beyond the limit of failures.
func (c *Call) hasRejectedSignature() bool {
	switch c.Cause {
	case CauseUnknownKey, CauseUnknownProject, CauseRetiredKey, CauseStaleTimestamp, CauseBadSignature:
		return true
	}
	return false
}

// isRejected reports whether the call belongs to the rejected ones. A call with a cause does, whatever its status.
func (c *Call) isRejected() bool { return c.Status >= minRejected || c.Cause != "" }

// NumberedCall is a call with its number in its project. Later calls have larger
// numbers. A number is the time of its call in Unix nanoseconds, or slightly more.
type NumberedCall struct {
	N int64 `json:"n"`
	Call
}

// Block is a group of calls of one project and API that are stored together, the earliest
// first. Rejected calls and accepted ones are in different blocks. The numbers of two blocks may overlap.
type Block struct {
	ProjectID string
	API       string
	Calls     []NumberedCall // at least one call
}

// First returns the smallest number in the block.
func (b Block) First() int64 { return b.Calls[0].N }

// Last returns the largest number in the block.
func (b Block) Last() int64 { return b.Calls[len(b.Calls)-1].N }

// IsAccepted reports whether no call in the block was rejected.
func (b Block) IsAccepted() bool {
	return !slices.ContainsFunc(b.Calls, func(c NumberedCall) bool { return c.isRejected() })
}

// StoredBlock is a block as it is read.
type StoredBlock struct {
	First, Last int64 // its smallest and its largest number
	// Calls yields the calls that match the filter of the query, the latest first. It decodes each when it is
	// asked for it, because a page needs few calls of a block. It ends after an error.
	Calls iter.Seq2[NumberedCall, error]
}

// BlockQuery selects blocks of a project, and calls of these blocks.
type BlockQuery struct {
	ProjectID  string
	API        string // empty for all APIs
	Since      int64  // minimum of the last number of a block
	FirstBelow int64  // the first number of a block is below FirstBelow
	LastBelow  int64  // the last number of a block is below LastBelow
	Limit      int    // maximum number of blocks
	Filter     Filter // selects calls; a block without any is returned too, unless it is left out
	// Rejected leaves out the blocks of accepted calls.
	Rejected bool
}

// BlockPosition is the position of a block among those of all projects, in the order of their last numbers.
type BlockPosition struct {
	Last      int64  // last number of the block
	ProjectID string // orders the blocks with the same last number
}

// RejectionCount is the number of rejected calls of one day that were not recorded, with the
// same API, cause and address.
type RejectionCount struct {
	Day     time.Time // start of the day in UTC
	API     string
	Cause   string
	Address string // IPv4 address or IPv6 /64; empty for the addresses beyond a limit
	Calls   int64
	LastAt  time.Time
}

// Store stores calls.
type Store interface {
	// InsertCalls adds blocks. It keeps nothing of their memory, which is used again.
	InsertCalls(ctx context.Context, blocks []Block) error
	// Calls calls each with the blocks that q selects, ordered by the last number, the largest first. It ends when
	// each returns an error, and returns it. A block is valid until each returns.
	Calls(ctx context.Context, q BlockQuery, each func(StoredBlock) error) error
	// SearchCalls reads at most limit blocks of all projects that come after a position and whose last number is
	// below a bound. It returns their calls that match the filter, and the position of the last block that it read;
	// zero if there are no further blocks.
	SearchCalls(ctx context.Context, after BlockPosition, below int64, f Filter, limit int) (
		[]NumberedCall, BlockPosition, error)
	// TrimCalls deletes the earliest blocks of a project and an API until it has at most latest calls. Accepted calls
	// displace rejected ones only while there are more than latest/2 of these.
	TrimCalls(ctx context.Context, projectID, api string, latest int) error
	// CallProjects returns the projects that have calls of an API.
	CallProjects(ctx context.Context, api string) ([]string, error)
	// AddRejections adds to the stored numbers.
	AddRejections(ctx context.Context, r []RejectionCount) error
	// AddCallTotals adds to the stored numbers. CallTotals returns the sum since a time,
	// MostRejected the sums of at most limit projects with rejected calls, the most first,
	// and DeleteCallTotals deletes those of periods that began before a time.
	AddCallTotals(ctx context.Context, totals []CallTotal) error
	CallTotals(ctx context.Context, projectID string, since time.Time) (CallTotal, error)
	MostRejected(ctx context.Context, since time.Time, limit int) ([]CallTotal, error)
	DeleteCallTotals(ctx context.Context, before time.Time) error
	// SetKeyCallers stores the time of each caller, unless a later one is stored, and keeps at most MaxKeyCallers with
	// each credential, as mostRecent does. KeyCallers returns the callers of a project by slot, and the latest first.
	SetKeyCallers(ctx context.Context, callers []KeyCaller) error
	KeyCallers(ctx context.Context, projectID string) ([]KeyCaller, error)
	// Rejections returns at most limit rejections whose last call was at or after since,
	// the latest first, that come after another one in this order; the zero value for the
	// first page.
	Rejections(ctx context.Context, since time.Time, after RejectionCount, limit int) ([]RejectionCount, error)
}
