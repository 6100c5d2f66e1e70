package operator

import (
	"context"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
)

const (
	// MaxLinkLifetime is the maximum lifetime of the session that a link starts.
	MaxLinkLifetime = 7 * 24 * time.Hour
	// openLifetime is how long a sign-in link of a user or an integrator can be opened.
	openLifetime = 24 * time.Hour
	// openLifetimeOfStaff is the same for a link with another role, which gives more rights.
	openLifetimeOfStaff = 15 * time.Minute
	// clockTolerance is how far the clock of a caller may be ahead that asks for MaxLinkLifetime.
	clockTolerance = 5 * time.Minute
)

// NewLink describes a sign-in link to create: one of a user, or one with a name and rights of
// its own.
type NewLink struct {
	UserID     string
	Name       string // 1 to 255 characters; not with UserID
	Role       Role   // not with UserID
	ProjectIDs ProjectIDs
	// ExpiresAt is the end of the session; zero for 12 hours from now; not with UserID. A time that is later
	// than MaxLinkLifetime from now by at most clockTolerance counts as MaxLinkLifetime from now.
	ExpiresAt time.Time
}

// CreateLink creates a link that starts one session, and returns the code in it. A link can be
// opened for 24 hours, or 15 minutes if it has a role other than integrator, but not after
// ExpiresAt. Errors: Invalid, NotFound. The caller checks that the projects exist.
func (s *Service) CreateLink(ctx context.Context, q NewLink) (Session, seal.Secret, error) {
	session := Session{
		ID:         s.newID(),
		UserID:     q.UserID,
		Name:       q.Name,
		Role:       q.Role,
		ProjectIDs: q.ProjectIDs,
		CreatedAt:  s.now(),
		OpenBy:     s.now().Add(openLifetime),
		ExpiresAt:  q.ExpiresAt,
	}
	if q.ExpiresAt.IsZero() {
		session.ExpiresAt = s.now().Add(sessionLifetime)
	}
	if err := s.completeLink(ctx, &session, q); err != nil {
		return Session{}, "", err
	}
	code := seal.NewSessionSecret()
	session.CodeHash = seal.Hash(code.Reveal())
	after := audit.Fields{"name": session.Name, "open_by": audit.Timestamp(session.OpenBy)}
	if session.UserID == "" {
		after = auditFields(session.Name, session.Role, session.ProjectIDs)
		after["expires_at"] = audit.Timestamp(session.ExpiresAt)
	}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.InsertConsoleSession(ctx, session); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, session.CreatedAt,
			audit.Change{Action: audit.LinkCreated, Subject: session.ID, After: after})
	})
	return session, code, err
}

// completeLink checks the rights of a link and sets the fields of its session that follow from
// these rights.
func (s *Service) completeLink(ctx context.Context, session *Session, q NewLink) error {
	if q.UserID != "" {
		if q.Name != "" || q.Role != "" || len(q.ProjectIDs) > 0 || !q.ExpiresAt.IsZero() {
			return fault.Invalidf("name, role, project_ids and expires_at are not allowed with user_id, " +
				"because the user has them")
		}
		u, err := s.store.User(ctx, q.UserID)
		session.Name, session.ExpiresAt = u.Name, session.OpenBy // until it is opened
		return err
	}
	if err := validate.Name("name", q.Name, 1, validate.MaxText); err != nil {
		return err
	}
	if err := checkRole(q.Role, q.ProjectIDs); err != nil {
		return err
	}
	left := session.ExpiresAt.Sub(s.now())
	if left <= 0 || left > MaxLinkLifetime+clockTolerance {
		return fault.Invalidf("expires_at must be in the future and at most 7 days from now")
	}
	if left > MaxLinkLifetime {
		session.ExpiresAt = s.now().Add(MaxLinkLifetime)
	}
	if q.Role != Integrator {
		session.OpenBy = s.now().Add(openLifetimeOfStaff)
	}
	if session.ExpiresAt.Before(session.OpenBy) {
		session.OpenBy = session.ExpiresAt
	}
	return nil
}

// SignInWithLink starts the session of a link and returns its secret. Errors: Unauthorized.
func (s *Service) SignInWithLink(ctx context.Context, code string, origin audit.Origin) (
	c Caller, secret seal.Secret, err error,
) {
	secret = seal.NewSessionSecret()
	err = s.store.Write(ctx, func(ctx context.Context) error {
		session, err := s.store.ConsoleSessionByCode(ctx, seal.Hash(code))
		if fault.Is(err, fault.NotFound) || err == nil && (!session.EndedAt.IsZero() || !s.now().Before(session.OpenBy)) {
			return errNoLink
		}
		if err != nil {
			return err
		}
		session.Hash, session.LastUsedAt = seal.Hash(secret.Reveal()), s.now()
		if session.UserID != "" {
			session.ExpiresAt = s.now().Add(sessionLifetime)
		}
		if c, err = s.callerOf(ctx, session); err != nil {
			return err
		}
		if err := s.endEarliest(ctx, session, origin); err != nil {
			return err
		}
		if err := s.store.OpenConsoleSession(ctx, session); err != nil {
			return err
		}
		if session.UserID != "" {
			if err := s.store.RecordSignIn(ctx, session.UserID, s.now()); err != nil {
				return err
			}
		}
		return s.recordStart(ctx, c, origin)
	})
	return c, secret, err
}
