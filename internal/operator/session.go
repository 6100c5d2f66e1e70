package operator

import (
	"context"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/seal"
)

const (
	// sessionLifetime is how long a session lasts, unless a link says otherwise.
	sessionLifetime = 12 * time.Hour
	// idleLifetime is how long a session lasts without a call. It does not apply to the sessions
	// of integrators, because they often begin with a link that cannot be opened again.
	idleLifetime = time.Hour
	// maxSessions is the maximum number of sessions that a token or a user has at the same time.
	// A further sign-in ends the earliest.
	maxSessions = 20
)

// Session is a session of a person in the console. A session of a link exists before the link
// is opened, which is possible once. A session has the rights of a token, of a user, or of its
// own Role and ProjectIDs.
type Session struct {
	ID         string
	Hash       string     // hash of the secret that the browser has; empty before the link is opened
	CodeHash   string     // hash of the code in the link; empty after the link was opened
	TokenID    string     // token whose rights the session has, or empty
	UserID     string     // user whose rights the session has, or empty
	Name       string     // name of the link, or of the token or the user when the session began
	Role       Role       // empty with TokenID or UserID
	ProjectIDs ProjectIDs // projects of an integrator; empty with TokenID or UserID
	CreatedAt  time.Time
	OpenBy     time.Time // time until which the link can be opened; zero without a link
	ExpiresAt  time.Time
	LastUsedAt time.Time // time of the last use at the last FlushUses; zero before the link is opened
	// EndedAt is zero unless the session or its token was revoked, the user deleted, the person signed out, or a
	// further sign-in ended the session.
	EndedAt time.Time
}

type sessionStore interface {
	InsertConsoleSession(ctx context.Context, session Session) error
	// ConsoleSession, ConsoleSessionByHash and ConsoleSessionByCode fail with NotFound.
	ConsoleSession(ctx context.Context, id string) (Session, error)
	ConsoleSessionByHash(ctx context.Context, hash string) (Session, error)
	ConsoleSessionByCode(ctx context.Context, codeHash string) (Session, error)
	// ConsoleSessionsBefore returns at most limit sessions before an ID, the latest first; the
	// empty ID for the first page.
	ConsoleSessionsBefore(ctx context.Context, id string, limit int) ([]Session, error)
	// OpenConsoleSession stores Hash, ExpiresAt and LastUsedAt of a session and removes its code. It
	// fails with NotFound if the code was used.
	OpenConsoleSession(ctx context.Context, session Session) error
	EndConsoleSession(ctx context.Context, id string, at time.Time) error
	// UnendedConsoleSessions returns the sessions of a token or a user that have neither ended nor
	// expired, also those whose link was not opened, the latest first.
	UnendedConsoleSessions(ctx context.Context, tokenID, userID string, now time.Time) ([]Session, error)
	// RecordConsoleSessionUse sets the time of the last use.
	RecordConsoleSessionUse(ctx context.Context, id string, at time.Time) error
}

// CallerKind is the kind of credential from which a caller has its rights.
type CallerKind string

// The kinds of callers.
const (
	ByToken CallerKind = "token" // a management token, sent with the call or used to sign in
	ByUser  CallerKind = "user"
	ByLink  CallerKind = "link" // a link for a person who is not a user
)

// Caller is the caller of the management API, with its rights.
type Caller struct {
	Kind       CallerKind
	ID         string // ID of the token, the user, or the session of a link
	Name       string
	Role       Role
	ProjectIDs ProjectIDs
	SessionID  string    // empty for a call with the token itself
	ExpiresAt  time.Time // end of the token or the session; zero if the token does not expire
}

// Caller returns the caller that has the rights of the token.
func (t Token) Caller() Caller {
	return Caller{
		Kind:       ByToken,
		ID:         t.ID,
		Name:       t.Name,
		Role:       t.Role,
		ProjectIDs: t.ProjectIDs,
		ExpiresAt:  t.ExpiresAt,
	}
}

// auditOrigin returns the origin of the changes that the caller makes.
func (c Caller) auditOrigin(origin audit.Origin) audit.Origin {
	origin.Kind, origin.ActorID, origin.ActorName = audit.Kind(c.Kind), c.ID, c.Name
	return origin
}

var (
	errNoSession = fault.New(fault.Unauthorized, "unauthorized",
		"you are not signed in, or your session has ended: sign in again")
	errNoLink = fault.New(fault.Unauthorized, "link_not_valid",
		"this sign-in link was opened before, has expired or was revoked: ask for another one, or run parley console")
)

// AuthenticateSession returns the caller that has the session with this secret. A session ends
// with the token or the user whose rights it has. repeated means that a page repeats the call
// by itself, so the call is not a use of the session. Errors: Unauthorized.
func (s *Service) AuthenticateSession(ctx context.Context, secret string, repeated bool) (Caller, error) {
	session, err := s.store.ConsoleSessionByHash(ctx, seal.Hash(secret))
	if fault.Is(err, fault.NotFound) {
		return Caller{}, errNoSession
	}
	if err != nil {
		return Caller{}, err
	}
	// The caller comes first, so that the error says that the token was revoked.
	c, err := s.callerOf(ctx, session)
	if err != nil {
		return Caller{}, err
	}
	if s.stateFor(c, session) != SessionLive {
		return Caller{}, errNoSession
	}
	if !repeated {
		s.sessionUses.add(session.ID, s.now())
	}
	return c, nil
}

// callerOf returns the caller that has a session, with its current rights. Errors: Unauthorized.
func (s *Service) callerOf(ctx context.Context, session Session) (c Caller, err error) {
	switch {
	case session.TokenID != "":
		t, err := s.store.Token(ctx, session.TokenID)
		if fault.Is(err, fault.NotFound) {
			return Caller{}, errNoSession
		}
		if err == nil {
			err = t.check(s.now())
		}
		if err != nil {
			return Caller{}, err
		}
		c = t.Caller()
	case session.UserID != "":
		u, err := s.store.User(ctx, session.UserID)
		if fault.Is(err, fault.NotFound) {
			return Caller{}, errNoSession
		}
		if err != nil {
			return Caller{}, err
		}
		c = Caller{
			Kind:       ByUser,
			ID:         u.ID,
			Name:       u.Name,
			Role:       u.Role,
			ProjectIDs: u.ProjectIDs,
		}
	default:
		c = Caller{
			Kind:       ByLink,
			ID:         session.ID,
			Name:       session.Name,
			Role:       session.Role,
			ProjectIDs: session.ProjectIDs,
		}
	}
	c.SessionID, c.ExpiresAt = session.ID, session.ExpiresAt
	return c, nil
}

// SignInWithToken starts a session with the rights of a management token and returns its
// secret. The session ends with the token. Errors: Unauthorized.
func (s *Service) SignInWithToken(ctx context.Context, clear string, origin audit.Origin) (Caller, seal.Secret, error) {
	t, err := s.Authenticate(ctx, clear)
	if err != nil {
		return Caller{}, "", err
	}
	session := Session{TokenID: t.ID, Name: t.Name, ExpiresAt: s.now().Add(sessionLifetime)}
	if !t.ExpiresAt.IsZero() && t.ExpiresAt.Before(session.ExpiresAt) {
		session.ExpiresAt = t.ExpiresAt
	}
	return s.start(ctx, session, origin)
}

// SignInWithOpenID starts a session of the user with an OpenID account and returns its secret.
// Errors: Forbidden.
func (s *Service) SignInWithOpenID(ctx context.Context, a OpenIDAccount, origin audit.Origin) (
	c Caller, secret seal.Secret, err error,
) {
	err = s.store.Write(ctx, func(ctx context.Context) error {
		u, err := s.userOf(ctx, a)
		if err != nil {
			return err
		}
		if err := s.store.RecordSignIn(ctx, u.ID, s.now()); err != nil {
			return err
		}
		c, secret, err = s.start(ctx, Session{UserID: u.ID, Name: u.Name, ExpiresAt: s.now().Add(sessionLifetime)}, origin)
		return err
	})
	return c, secret, err
}

// start stores a new session.
func (s *Service) start(ctx context.Context, session Session, origin audit.Origin) (
	c Caller, secret seal.Secret, err error,
) {
	secret = seal.NewSessionSecret()
	session.ID, session.Hash = s.newID(), seal.Hash(secret.Reveal())
	session.CreatedAt, session.LastUsedAt = s.now(), s.now()
	err = s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.endEarliest(ctx, session, origin); err != nil {
			return err
		}
		if err := s.store.InsertConsoleSession(ctx, session); err != nil {
			return err
		}
		if c, err = s.callerOf(ctx, session); err != nil {
			return err
		}
		return s.recordStart(ctx, c, origin)
	})
	return c, secret, err
}

// endEarliest makes room for a new session: it ends the earliest sessions of the same token or user
// until fewer than maxSessions are live.
func (s *Service) endEarliest(ctx context.Context, session Session, origin audit.Origin) error {
	if session.TokenID+session.UserID == "" {
		return nil
	}
	live, err := s.store.UnendedConsoleSessions(ctx, session.TokenID, session.UserID, s.now())
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(n Session) bool { return n.Hash == "" }) // links that were not opened
	if len(live) < maxSessions {
		return nil
	}
	for _, earliest := range live[maxSessions-1:] {
		c, err := s.callerOf(ctx, earliest)
		if err != nil {
			return err
		}
		if err := s.end(audit.WithOrigin(ctx, c.auditOrigin(origin)), earliest.ID); err != nil {
			return err
		}
	}
	return nil
}

// endAll ends the sessions of a token or a user, also the links of the user that were not opened, and then records
// the cause and the ends.
func (s *Service) endAll(ctx context.Context, tokenID, userID string, cause audit.Change) error {
	now := s.now()
	live, err := s.store.UnendedConsoleSessions(ctx, tokenID, userID, now)
	if err != nil {
		return err
	}
	for _, session := range live {
		if err := s.store.EndConsoleSession(ctx, session.ID, now); err != nil {
			return err
		}
	}
	if err := audit.Record(ctx, s.store, now, cause); err != nil {
		return err
	}
	for _, session := range live {
		if err := s.recordEnd(ctx, session.ID, now); err != nil {
			return err
		}
	}
	return nil
}

// end ends a session and records it.
func (s *Service) end(ctx context.Context, id string) error {
	now := s.now()
	if err := s.store.EndConsoleSession(ctx, id, now); err != nil {
		return err
	}
	return s.recordEnd(ctx, id, now)
}

func (s *Service) recordEnd(ctx context.Context, id string, at time.Time) error {
	return audit.Record(ctx, s.store, at, audit.Change{Action: audit.SessionEnded, Subject: id,
		After: audit.Fields{"ended_at": audit.Timestamp(at)}})
}

func (s *Service) recordStart(ctx context.Context, c Caller, origin audit.Origin) error {
	return audit.Record(audit.WithOrigin(ctx, c.auditOrigin(origin)), s.store, s.now(),
		audit.Change{Action: audit.SessionStarted, Subject: c.SessionID,
			After: audit.Fields{"role": string(c.Role), "expires_at": audit.Timestamp(c.ExpiresAt)}})
}

// Session returns a session, also one that has ended. Errors: NotFound.
func (s *Service) Session(ctx context.Context, id string) (Session, error) {
	return s.store.ConsoleSession(ctx, id)
}

// RevokeSession ends a session at once; a link that was not opened can then not be opened. It
// does not change a session that has ended. Errors: NotFound.
func (s *Service) RevokeSession(ctx context.Context, id string) (Session, error) {
	var session Session
	err := s.store.Write(ctx, func(ctx context.Context) (err error) {
		if session, err = s.store.ConsoleSession(ctx, id); err != nil || !session.EndedAt.IsZero() {
			return err
		}
		session.EndedAt = s.now()
		return s.end(ctx, id)
	})
	return session, err
}
