package operator

import (
	"context"
	"time"

	"parley/internal/fault"
)

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

// stateAt returns the state at now, from the times of the session alone. It does not know whether a session is idle,
// and returns SessionLive for it; stateFor does.
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
