package manage

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/operator"
)

func (s *server) ListSessions(w http.ResponseWriter, r *http.Request) {
	out, err := s.listSessions(r)
	writeResult(w, r, out, err)
}

func (s *server) listSessions(r *http.Request) (SessionList, error) {
	cursor, limit, err := parsePage(r.URL.RawQuery)
	if err != nil {
		return SessionList{}, err
	}
	found, more, err := s.Console.Sessions(r.Context(), cursor, limit)
	if err != nil {
		return SessionList{}, err
	}
	out := SessionList{Sessions: []Session{}}
	for _, n := range found {
		out.Sessions = append(out.Sessions, newSession(r, n.Session, n.State))
	}
	if more {
		out.NextCursor = &found[len(found)-1].ID
	}
	return out, nil
}

func newSession(r *http.Request, n operator.Session, state operator.SessionState) Session {
	kind := operator.ByLink
	switch {
	case n.TokenID != "":
		kind = operator.ByToken
	case n.UserID != "":
		kind = operator.ByUser
	}
	out := Session{
		SessionId:  n.ID,
		Kind:       SessionKind(kind),
		State:      SessionState(state),
		TokenId:    httpx.OrNil(n.TokenID),
		UserId:     httpx.OrNil(n.UserID),
		Name:       n.Name,
		Role:       httpx.OrNil(TokenRole(n.Role)),
		ProjectIds: projectIDs(n.ProjectIDs),
		CreatedAt:  NewTime(n.CreatedAt),
		ExpiresAt:  NewTime(n.ExpiresAt),
		LastUsedAt: httpx.TimeOrNil(n.LastUsedAt),
		EndedAt:    httpx.TimeOrNil(n.EndedAt),
		InUse:      n.ID == caller(r).SessionID,
	}
	if n.Hash == "" {
		out.OpenBy = httpx.TimeOrNil(n.OpenBy)
	}
	return out
}

func (s *server) RevokeSession(w http.ResponseWriter, r *http.Request, id string) {
	n, err := s.revokeSession(r, id)
	writeResult(w, r, newSession(r, n, operator.SessionEnded), err)
}

func (s *server) revokeSession(r *http.Request, id string) (operator.Session, error) {
	if c := caller(r); c.Role != operator.Owner {
		n, err := s.Console.Session(r.Context(), id)
		if err != nil {
			return n, err
		}
		if n.Role != operator.Integrator { // sessions of tokens and users have no role of their own
			return n, errRole(c, operator.Owner)
		}
	}
	return s.Console.RevokeSession(r.Context(), id)
}

func (s *server) ListUsers(w http.ResponseWriter, r *http.Request) {
	out, err := s.listUsers(r)
	writeResult(w, r, out, err)
}

func (s *server) listUsers(r *http.Request) (UserList, error) {
	cursor, limit, err := parsePage(r.URL.RawQuery)
	if err != nil {
		return UserList{}, err
	}
	found, more, err := s.Console.Users(r.Context(), cursor, limit)
	if err != nil {
		return UserList{}, err
	}
	out := UserList{Users: []User{}}
	for _, u := range found {
		out.Users = append(out.Users, newUser(u))
	}
	if more {
		out.NextCursor = &found[len(found)-1].ID
	}
	return out, nil
}

func newUser(u operator.User) User {
	return User{
		UserId:       u.ID,
		Email:        u.Email,
		Name:         u.Name,
		Role:         TokenRole(u.Role),
		ProjectIds:   projectIDs(u.ProjectIDs),
		Openid:       u.Subject != "",
		CreatedAt:    NewTime(u.CreatedAt),
		LastSignInAt: httpx.TimeOrNil(u.LastSignInAt),
	}
}

func (s *server) CreateUser(w http.ResponseWriter, r *http.Request) {
	u, err := s.createUser(w, r)
	writeResult(w, r, newUser(u), err)
}

func (s *server) createUser(w http.ResponseWriter, r *http.Request) (operator.User, error) {
	q, err := read[NewUser](w, r)
	if err != nil {
		return operator.User{}, err
	}
	projects, err := s.projectsOf(r, q.ProjectIds)
	if err != nil {
		return operator.User{}, err
	}
	return s.Console.CreateUser(r.Context(), operator.NewUser{Email: q.Email, Name: httpx.OrZero(q.Name),
		Role: operator.Role(q.Role), ProjectIDs: projects})
}

func (s *server) ChangeUser(w http.ResponseWriter, r *http.Request, id string) {
	u, err := s.changeUser(w, r, id)
	writeResult(w, r, newUser(u), err)
}

func (s *server) changeUser(w http.ResponseWriter, r *http.Request, id string) (operator.User, error) {
	q, err := read[UserChanges](w, r)
	if err != nil {
		return operator.User{}, err
	}
	changes := operator.UserChanges{Name: q.Name}
	if q.Role != nil {
		changes.Role = new(operator.Role(*q.Role))
	}
	if q.ProjectIds != nil {
		projects, err := s.projectsOf(r, q.ProjectIds)
		if err != nil {
			return operator.User{}, err
		}
		changes.ProjectIDs = &projects
	}
	return s.Console.ChangeUser(r.Context(), id, changes)
}

func (s *server) DeleteUser(w http.ResponseWriter, r *http.Request, id string) {
	u, err := s.Console.DeleteUser(r.Context(), id)
	writeResult(w, r, newUser(u), err)
}
