// Package conncheck lets a machine elsewhere check over which paths media reaches the server. An operator
// creates a check with a code that starts it once. The other machine then asks for media tokens of the
// preflight session, and reports what it saw.
package conncheck

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
)

const (
	// codeLifetime is how long a check can be started.
	codeLifetime = time.Hour
	// runLifetime is how long a check can run.
	runLifetime = 10 * time.Minute
	// retention is how long a check is kept after its code has expired.
	retention = 24 * time.Hour
	// maxAddressBytes bounds an address in a report.
	maxAddressBytes = 300
)

// Check is one check of the connection.
type Check struct {
	ID         string
	CodeHash   string
	KeyHash    string // of the key of the machine that runs it; empty before the start
	CreatedAt  time.Time
	ExpiresAt  time.Time // of the code, or after the start of the key
	StartedAt  time.Time // zero before
	FinishedAt time.Time // zero before
	Paths      Paths     // the report; nil before
}

// Path is what a machine saw of one path of media.
type Path struct {
	Name    string `json:"name"` // one of PathNames
	Offered bool   `json:"offered"`
	Works   bool   `json:"works"`
	Address string `json:"address"` // of the server, such as 203.0.113.7:7882; empty if the machine does not know it
}

// Paths are the paths of a report.
type Paths []Path

// String returns the paths as JSON, or an empty string without any.
func (p Paths) String() string {
	if len(p) == 0 {
		return ""
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // the types above can be encoded
	}
	return string(text)
}

// ParsePaths reads what String has written.
func ParsePaths(text string) (paths Paths) {
	_ = json.Unmarshal([]byte(text), &paths) // an empty text has no paths
	return paths
}

// PathNames are the names of paths in reports.
var PathNames = []string{"udp", "ice_tcp", "turn_tcp", "turn_tls"}

// State is the state of a check.
type State string

// The states of a check.
const (
	Waiting  State = "waiting" // for another machine to start it
	Running  State = "running"
	Finished State = "finished"
	Expired  State = "expired" // it was not started or not finished in time
)

// State returns the state at a time.
func (c Check) State(now time.Time) State {
	switch {
	case !c.FinishedAt.IsZero():
		return Finished
	case !now.Before(c.ExpiresAt):
		return Expired
	case !c.StartedAt.IsZero():
		return Running
	}
	return Waiting
}

// Store stores checks.
type Store interface {
	// Write runs work in a transaction.
	Write(ctx context.Context, work func(ctx context.Context) error) error
	audit.Appender
	// InsertConnectionCheck stores a new check and deletes those whose ExpiresAt is before a time.
	InsertConnectionCheck(ctx context.Context, c Check, deleteBefore time.Time) error
	// ConnectionCheck returns a check. The error is NotFound if there is none.
	ConnectionCheck(ctx context.Context, id string) (Check, error)
	// ConnectionCheckByCode returns the check that a code starts. The error is NotFound if there is none.
	ConnectionCheckByCode(ctx context.Context, codeHash string) (Check, error)
	// ConnectionCheckByKey returns the check that runs with a key. The error is NotFound if there is none.
	ConnectionCheckByKey(ctx context.Context, keyHash string) (Check, error)
	// StartConnectionCheck sets KeyHash, StartedAt and ExpiresAt of the check with a code that was not
	// started and expires after startedAt. The error is NotFound if there is none.
	StartConnectionCheck(ctx context.Context, codeHash, keyHash string, startedAt, expiresAt time.Time) error
	// FinishConnectionCheck sets Paths and FinishedAt of a check that runs with a key. The error is NotFound
	// if there is none.
	FinishConnectionCheck(ctx context.Context, keyHash string, paths Paths, finishedAt time.Time) error
}

// Media returns tokens of the preflight session, as room.Joining does.
type Media interface {
	PreflightToken(ctx context.Context, client netip.Addr) (string, error)
}

// Service creates and runs checks. It is safe for use by several goroutines.
type Service struct {
	store Store
	media Media
	now   func() time.Time
	newID func() string
}

// NewService returns a Service.
func NewService(store Store, media Media, now func() time.Time, newID func() string) *Service {
	return &Service{store: store, media: media, now: now, newID: newID}
}

// errCode is the error for a code that starts nothing. It does not tell why, so that nobody learns of a
// code by trying.
var errCode = fault.New(fault.NotFound, "check_not_found",
	"this check is unknown, was started already or has expired: create another one with parley doctor --invite")

// Create creates a check, whose code can start it for an hour.
func (s *Service) Create(ctx context.Context) (Check, seal.Secret, error) {
	code, now := seal.NewLinkToken(), s.now()
	c := Check{ID: s.newID(), CodeHash: seal.Hash(code.Reveal()), CreatedAt: now, ExpiresAt: now.Add(codeLifetime)}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.InsertConnectionCheck(ctx, c, now.Add(-retention)); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, now, audit.Change{Action: audit.ConnectionCheckCreated, Subject: c.ID,
			After: audit.Fields{"expires_at": audit.Timestamp(c.ExpiresAt)}})
	})
	return c, code, err
}

// Get returns a check and its state. The error is NotFound.
func (s *Service) Get(ctx context.Context, id string) (Check, State, error) {
	c, err := s.store.ConnectionCheck(ctx, id)
	return c, c.State(s.now()), err
}

// Start starts the check of a code and returns the key with which the other machine continues for ten
// minutes. The error is NotFound for a code that is unknown, used or expired.
func (s *Service) Start(ctx context.Context, code string) (key seal.Secret, err error) {
	// Read first, so that a wrong code costs no transaction.
	if err := s.require(Waiting)(s.store.ConnectionCheckByCode(ctx, seal.Hash(code))); err != nil {
		return "", err
	}
	key, now := seal.NewLinkToken(), s.now()
	err = s.store.Write(ctx, func(ctx context.Context) error {
		return s.store.StartConnectionCheck(ctx, seal.Hash(code), seal.Hash(key.Reveal()), now, now.Add(runLifetime))
	})
	return key, explain(err)
}

// MediaToken returns a token for one connection of the check that runs with a key, see Media. The error is
// also NotFound, if no check does.
func (s *Service) MediaToken(ctx context.Context, key string, client netip.Addr) (string, error) {
	if err := s.require(Running)(s.store.ConnectionCheckByKey(ctx, seal.Hash(key))); err != nil {
		return "", err
	}
	return s.media.PreflightToken(ctx, client)
}

// Finish stores the report of the check that runs with a key. It has no paths if the machine could test
// none. Errors: Invalid, NotFound.
func (s *Service) Finish(ctx context.Context, key string, paths Paths) error {
	if len(paths) > len(PathNames) {
		return fault.Invalidf("paths must have at most %d elements", len(PathNames))
	}
	for _, p := range paths {
		if !slices.Contains(PathNames, p.Name) {
			return fault.Invalidf("the name of each path must be one of udp, ice_tcp, turn_tcp and turn_tls")
		}
		if err := validate.Text("address", p.Address, 0, maxAddressBytes, false); err != nil {
			return err
		}
	}
	if err := s.require(Running)(s.store.ConnectionCheckByKey(ctx, seal.Hash(key))); err != nil {
		return err
	}
	return explain(s.store.Write(ctx, func(ctx context.Context) error {
		return s.store.FinishConnectionCheck(ctx, seal.Hash(key), paths, s.now())
	}))
}

// require returns a function that returns errCode unless a check exists and is in a state.
func (s *Service) require(state State) func(Check, error) error {
	return func(c Check, err error) error {
		if err == nil && c.State(s.now()) != state {
			return errCode
		}
		return explain(err)
	}
}

// explain replaces the error for a check that does not exist.
func explain(err error) error {
	if fault.Is(err, fault.NotFound) {
		return errCode
	}
	return err
}
