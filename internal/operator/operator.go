// Package operator holds who may use the management API: management tokens, users, and
// the sessions of people who signed in to the console. It imports the standard library,
// audit, fault, validate and seal only.
package operator

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
)

// Role says what the bearer of a token may do. The management API has a table of the
// roles that may call each operation.
type Role string

// The roles.
const (
	Owner      Role = "owner"      // everything
	Operator   Role = "operator"   // everything except tokens, users, sessions, backups and deleting customers
	Auditor    Role = "auditor"    // read everything except exports of persons and backups
	Integrator Role = "integrator" // rooms, keys, calls, webhooks and usage of some projects
)

// ProjectIDs are the ids of some projects.
type ProjectIDs []string

// String returns the ids, separated by spaces.
func (p ProjectIDs) String() string { return strings.Join(p, " ") }

// ParseProjectIDs reads what String has written.
func ParseProjectIDs(text string) ProjectIDs {
	if text == "" {
		return nil
	}
	return strings.Fields(text)
}

// MaxProjects is the maximum number of projects of an integrator's token.
const MaxProjects = 100

// Token lets its bearer use the management API. Only its hash is stored.
type Token struct {
	ID         string
	Name       string
	Hash       string
	Role       Role
	ProjectIDs ProjectIDs // of an integrator, at least one
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero for never
	LastUsedAt time.Time // as of the last FlushUses; zero before the first use
	RevokedAt  time.Time // zero while it is not revoked
}

// Live reports whether the token may be used at now.
func (t Token) Live(now time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// NewToken describes a token to create.
type NewToken struct {
	Name       string // 1 to 255 characters
	Role       Role   // empty is Owner
	ProjectIDs ProjectIDs
	ExpiresAt  time.Time // zero for never
}

// Store stores tokens, users and sessions.
type Store interface {
	Write(ctx context.Context, work func(ctx context.Context) error) error
	tokenStore
	userStore
	sessionStore
	audit.Appender
}

type tokenStore interface {
	InsertToken(ctx context.Context, t Token) error
	// TokenByHash fails with NotFound.
	TokenByHash(ctx context.Context, hash string) (Token, error)
	// Token fails with NotFound.
	Token(ctx context.Context, id string) (Token, error)
	// Tokens returns all, the oldest first.
	Tokens(ctx context.Context) ([]Token, error)
	RevokeToken(ctx context.Context, id string, at time.Time) error
	// RecordTokenUse sets the time of the last use.
	RecordTokenUse(ctx context.Context, id string, at time.Time) error
}

// Service creates, authenticates, lists and revokes tokens and sessions, and keeps the users.
type Service struct {
	store Store
	now   func() time.Time
	newID func() string

	tokenUses, sessionUses uses
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time, newID func() string) *Service {
	return &Service{store: store, now: now, newID: newID}
}

// check returns an Invalid error if the token cannot be created.
func (q NewToken) check(now time.Time) error {
	if err := validate.Text("name", q.Name, 1, validate.MaxText, false); err != nil {
		return err
	}
	if err := checkRole(q.Role, q.ProjectIDs); err != nil {
		return err
	}
	if !q.ExpiresAt.IsZero() && !q.ExpiresAt.After(now) {
		return fault.Invalidf("expires_at must be in the future")
	}
	return nil
}

// checkRole returns an Invalid error if no token and no user can have this role in these
// projects.
func checkRole(role Role, projectIDs ProjectIDs) error {
	switch role {
	case Owner, Operator, Auditor:
		if len(projectIDs) > 0 {
			return fault.Invalidf("project_ids is only for the role integrator, not %s", role)
		}
	case Integrator:
		if len(projectIDs) < 1 || len(projectIDs) > MaxProjects {
			return fault.Invalidf("project_ids must have 1 to %d projects for the role integrator, not %d", MaxProjects,
				len(projectIDs))
		}
	default:
		return fault.Invalidf("role must be owner, operator, auditor or integrator, not %q", role)
	}
	return nil
}

// Create creates a token and returns it in clear text, which cannot be read later. Errors:
// Invalid. The caller checks that the projects exist.
func (s *Service) Create(ctx context.Context, q NewToken) (Token, seal.Secret, error) {
	q.Role = cmp.Or(q.Role, Owner)
	if err := q.check(s.now()); err != nil {
		return Token{}, "", err
	}
	clear := seal.NewManagementToken()
	t := Token{
		ID:         s.newID(),
		Name:       q.Name,
		Hash:       seal.Hash(clear.Reveal()),
		Role:       q.Role,
		ProjectIDs: q.ProjectIDs,
		CreatedAt:  s.now(),
		ExpiresAt:  q.ExpiresAt,
	}
	after := auditFields(t.Name, t.Role, t.ProjectIDs)
	if !t.ExpiresAt.IsZero() {
		after["expires_at"] = audit.Timestamp(t.ExpiresAt)
	}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.InsertToken(ctx, t); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, t.CreatedAt, audit.Change{Action: audit.TokenCreated, Subject: t.ID,
			After: after})
	})
	return t, clear, err
}

// auditFields are what the audit log says about a token, a user or a sign-in link.
func auditFields(name string, role Role, projectIDs ProjectIDs) audit.Fields {
	fields := audit.Fields{"name": name, "role": string(role)}
	if len(projectIDs) > 0 {
		fields["project_ids"] = []string(projectIDs)
	}
	return fields
}

// Authenticate returns the live token with this clear text, or Unauthorized. The use of the
// token is kept until FlushUses.
func (s *Service) Authenticate(ctx context.Context, clear string) (Token, error) {
	t, err := s.store.TokenByHash(ctx, seal.Hash(clear))
	if fault.Is(err, fault.NotFound) {
		return Token{}, errNoToken
	}
	if err == nil {
		err = t.check(s.now())
	}
	if err != nil {
		return Token{}, err
	}
	s.tokenUses.add(t.ID, s.now())
	return t, nil
}

// IsKnown reports whether a token with this clear text was ever created here, also if it is
// revoked or has expired.
func (s *Service) IsKnown(ctx context.Context, clear string) (bool, error) {
	_, err := s.store.TokenByHash(ctx, seal.Hash(clear))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

var errNoToken = fault.New(fault.Unauthorized, "unauthorized", "a live management token is required")

// check returns an Unauthorized error if the token is not live at now.
func (t Token) check(now time.Time) error {
	switch {
	case !t.RevokedAt.IsZero():
		return fault.New(fault.Unauthorized, "token_revoked", "this management token was revoked at %s: an owner can "+
			"create another one with parley token create", t.RevokedAt.UTC().Format(time.RFC3339))
	case !t.Live(now):
		return fault.New(fault.Unauthorized, "token_expired", "this management token expired at %s: an owner can "+
			"create another one with parley token create", t.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// FlushUses stores when the tokens and the sessions were used last since the last time. If it
// fails, the times are stored the next time.
func (s *Service) FlushUses(ctx context.Context) error {
	return errors.Join(s.flush(ctx, &s.tokenUses, s.store.RecordTokenUse),
		s.flush(ctx, &s.sessionUses, s.store.RecordConsoleSessionUse))
}

func (s *Service) flush(ctx context.Context, u *uses, record func(context.Context, string, time.Time) error) error {
	used := u.take()
	if len(used) == 0 {
		return nil
	}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		for _, id := range slices.Sorted(maps.Keys(used)) {
			if err := record(ctx, id, used[id]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for id, at := range used {
			u.add(id, at)
		}
	}
	return err
}

// uses are times of the last use by ID that are not stored yet.
type uses struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// add keeps a time, unless a later one is known.
func (u *uses) add(id string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[string]time.Time{}
	}
	if at.After(u.last[id]) {
		u.last[id] = at
	}
}

// get returns the time of an ID, zero if none is kept.
func (u *uses) get(id string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last[id]
}

// take returns all times and forgets them.
func (u *uses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.last
	u.last = nil
	return taken
}
