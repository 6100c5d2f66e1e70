package operator

import (
	"context"
	"slices"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/seal"
	"parley/internal/validate"
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
	// MaxLinkLifetime is the maximum lifetime of the session that a link starts.
	MaxLinkLifetime = 7 * 24 * time.Hour
	// openLifetime is how long a sign-in link of a user or an integrator can be opened.
	openLifetime = 24 * time.Hour
	// openLifetimeOfStaff is the same for a link with another role, which gives more rights.
	openLifetimeOfStaff = 15 * time.Minute
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

// SessionState says whether a session works.
type SessionState string

// The states of a session.
const (
	// SessionNotOpened is the state of a link that can still be opened.
	SessionNotOpened SessionState = "not_opened"
	SessionLive      SessionState = "live"
	// SessionIdle is the state after idleLifetime without a call. The session works again only if its
	// user becomes an integrator.
	SessionIdle    SessionState = "idle"
	SessionExpired SessionState = "expired" // also of a link that was not opened in time
	// SessionEnded is the state after the session was revoked, after the person signed out, after the
	// token was revoked or the user deleted, and after a further sign-in ended the session as the earliest.
	SessionEnded SessionState = "ended"
)

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
	// LiveConsoleSessions returns the sessions of a token or a user that have neither ended nor
	// expired, also those whose link was not opened, the latest first.
	LiveConsoleSessions(ctx context.Context, tokenID, userID string, now time.Time) ([]Session, error)
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

// stateAt returns the state of a session at now from its times. A session that is live may be idle.
func (n Session) stateAt(now time.Time) SessionState {
	switch {
	case !n.EndedAt.IsZero():
		return SessionEnded
	case n.Hash == "" && now.Before(n.OpenBy):
		return SessionNotOpened
	case n.Hash == "" || !now.Before(n.ExpiresAt):
		return SessionExpired
	}
	return SessionLive
}

// stateFor returns the state of a session that has this caller.
func (s *Service) stateFor(c Caller, session Session) SessionState {
	now, used := s.now(), session.LastUsedAt
	if lastUse := s.sessionUses.get(session.ID); lastUse.After(used) {
		used = lastUse
	}
	state := session.stateAt(now)
	if state == SessionLive && c.Role != Integrator && now.Sub(used) >= idleLifetime {
		return SessionIdle
	}
	return state
}

// stateOf returns the state of a session. It reads the token or the user if the session may work.
func (s *Service) stateOf(ctx context.Context, session Session) (SessionState, error) {
	if state := session.stateAt(s.now()); state != SessionLive && state != SessionNotOpened {
		return state, nil
	}
	c, err := s.callerOf(ctx, session)
	if fault.Is(err, fault.Unauthorized) {
		return SessionEnded, nil
	}
	return s.stateFor(c, session), err
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
	live, err := s.store.LiveConsoleSessions(ctx, session.TokenID, session.UserID, s.now())
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
	live, err := s.store.LiveConsoleSessions(ctx, tokenID, userID, now)
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

// NewLink describes a sign-in link to create: one of a user, or one with a name and rights of
// its own.
type NewLink struct {
	UserID     string
	Name       string // 1 to 255 characters; not with UserID
	Role       Role   // not with UserID
	ProjectIDs ProjectIDs
	ExpiresAt  time.Time // end of the session; zero for 12 hours from now; not with UserID
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
	if left := session.ExpiresAt.Sub(s.now()); left <= 0 || left > MaxLinkLifetime {
		return fault.Invalidf("expires_at must be in the future and at most 7 days from now")
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

// ListedSession is a session with its state.
type ListedSession struct {
	Session
	State SessionState
}

// Sessions returns at most limit sessions before an ID, the latest first, and whether there are
// more. They include links that were not opened and sessions that ended less than a month ago.
func (s *Service) Sessions(ctx context.Context, before string, limit int) (list []ListedSession, more bool, err error) {
	found, err := s.store.ConsoleSessionsBefore(ctx, before, limit+1)
	if err != nil {
		return nil, false, err
	}
	if more = len(found) > limit; more {
		found = found[:limit]
	}
	for _, session := range found {
		state, err := s.stateOf(ctx, session)
		if err != nil {
			return nil, false, err
		}
		list = append(list, ListedSession{Session: session, State: state})
	}
	return list, more, nil
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
