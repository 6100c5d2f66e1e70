package storetest

import (
	"context"
	"errors"
	"testing"

	"parley/internal/fault"
	"parley/internal/operator"
)

func (s *suite) testToken(t *testing.T) {
	ctx := patient()
	for i, name := range trickyTexts {
		token := operator.Token{
			ID:        NewID(),
			Name:      name,
			Hash:      NewID(),
			Role:      operator.Operator,
			CreatedAt: testTime(i),
		}
		if i%2 == 1 {
			token.RevokedAt = testTime(i + 1)
		}
		s.write(t, func(ctx context.Context) error { return s.db.InsertToken(ctx, token) })
		got, err := s.db.TokenByHash(ctx, token.Hash)
		requireEqual(t, got, err, token)
		token.ID = NewID()
		requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertToken(ctx, token) }))
	}
	_, err := s.db.TokenByHash(ctx, "unknown")
	requireFault(t, err, fault.NotFound, "token_not_found")
}

func (s *suite) testConsoleUsers(t *testing.T) {
	ctx := patient()
	users := []operator.User{
		{ID: NewID(), Email: NewID() + "@example.org", Name: "Ada", Role: operator.Owner, CreatedAt: testTime(0)},
		{ID: NewID(), Email: NewID() + "@example.org", Name: trickyTexts[0], Role: operator.Integrator,
			ProjectIDs: operator.ProjectIDs{NewID(), NewID()}, CreatedAt: testTime(1)},
	}
	for _, u := range users {
		s.write(t, func(ctx context.Context) error { return s.db.InsertUser(ctx, u) })
	}
	taken := users[0]
	taken.ID = NewID()
	requireFault(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertUser(ctx, taken) }),
		fault.Conflict, "email_taken")
	u := &users[1]
	u.Name, u.Role, u.ProjectIDs, u.Subject, u.LastSignInAt = "Bob", operator.Auditor, nil, "issuer "+NewID(), testTime(2)
	s.write(t, func(ctx context.Context) error {
		return errors.Join(s.db.UpdateUser(ctx, *u), s.db.BindUser(ctx, u.ID, u.Subject), s.db.BindUser(ctx, u.ID, u.Subject),
			s.db.RecordSignIn(ctx, u.ID, u.LastSignInAt))
	})
	requireFault(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.BindUser(ctx, u.ID, "another") }),
		fault.NotFound, "user_not_found")
	got, err := s.db.User(ctx, u.ID)
	requireEqual(t, got, err, *u)
	got, err = s.db.UserByEmail(ctx, u.Email)
	requireEqual(t, got, err, *u)
	got, err = s.db.UserBySubject(ctx, u.Subject)
	requireEqual(t, got, err, *u)
	page, err := s.db.UsersAfter(ctx, users[0].ID, 1)
	requireEqual(t, page, err, users[1:])
	s.write(t, func(ctx context.Context) error { return s.db.DeleteUser(ctx, u.ID) })
	_, err = s.db.User(ctx, u.ID)
	requireFault(t, err, fault.NotFound, "user_not_found")
	for _, write := range []func(ctx context.Context) error{
		func(ctx context.Context) error { return s.db.DeleteUser(ctx, u.ID) },
		func(ctx context.Context) error { return s.db.UpdateUser(ctx, *u) },
		func(ctx context.Context) error { return s.db.RecordSignIn(ctx, u.ID, testTime(3)) },
	} {
		requireFault(t, s.db.Write(ctx, write), fault.NotFound, "user_not_found")
	}
}

func (s *suite) testUnendedConsoleSessions(t *testing.T) {
	ctx := patient()
	token, user := NewID(), NewID()
	insert := func(change func(n *operator.Session)) operator.Session {
		t.Helper()
		n := operator.Session{
			ID:         NewID(),
			Hash:       NewID(),
			TokenID:    token,
			Name:       "Ada",
			CreatedAt:  testTime(0),
			ExpiresAt:  testTime(20),
			LastUsedAt: testTime(0),
		}
		change(&n)
		s.write(t, func(ctx context.Context) error { return s.db.InsertConsoleSession(ctx, n) })
		return n
	}
	first, second := insert(func(*operator.Session) {}), insert(func(*operator.Session) {})
	insert(func(n *operator.Session) { n.EndedAt = testTime(1) })
	insert(func(n *operator.Session) { n.ExpiresAt = testTime(10) })
	ofUser := insert(func(n *operator.Session) { n.TokenID, n.UserID = "", user })
	link := insert(func(n *operator.Session) { n.TokenID, n.UserID, n.Hash, n.CodeHash = "", user, "", NewID() })
	got, err := s.db.UnendedConsoleSessions(ctx, token, "", testTime(10))
	requireEqual(t, got, err, []operator.Session{second, first})
	got, err = s.db.UnendedConsoleSessions(ctx, "", user, testTime(10))
	requireEqual(t, got, err, []operator.Session{link, ofUser})
}

func (s *suite) testConsoleSessions(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	write := func(work func(ctx context.Context) error) {
		t.Helper()
		if err := db.Write(ctx, work); err != nil {
			t.Fatal(err)
		}
	}
	sessions := []operator.Session{
		{ID: NewID(), Hash: NewID(), TokenID: NewID(), Name: "laptop", CreatedAt: testTime(0), ExpiresAt: testTime(10),
			LastUsedAt: testTime(0)},
		{ID: NewID(), CodeHash: NewID(), Name: trickyTexts[0], Role: operator.Integrator,
			ProjectIDs: operator.ProjectIDs{NewID()}, CreatedAt: testTime(1), OpenBy: testTime(5), ExpiresAt: testTime(20)},
		{ID: NewID(), CodeHash: NewID(), UserID: NewID(), Name: "Ada", CreatedAt: testTime(2), OpenBy: testTime(5),
			ExpiresAt: testTime(30)},
	}
	for _, n := range sessions {
		write(func(ctx context.Context) error { return db.InsertConsoleSession(ctx, n) })
	}
	link := sessions[1]
	got, err := db.ConsoleSessionByCode(ctx, link.CodeHash)
	requireEqual(t, got, err, link)
	code := link.CodeHash
	link.Hash, link.CodeHash, link.LastUsedAt, link.ExpiresAt = NewID(), "", testTime(3), testTime(21)
	write(func(ctx context.Context) error { return db.OpenConsoleSession(ctx, link) })
	_, err = db.ConsoleSessionByCode(ctx, code)
	requireFault(t, err, fault.NotFound, "session_not_found")
	requireFault(t, db.Write(ctx, func(ctx context.Context) error { return db.OpenConsoleSession(ctx, link) }),
		fault.NotFound, "session_not_found")
	write(func(ctx context.Context) error {
		return errors.Join(db.RecordConsoleSessionUse(ctx, link.ID, testTime(8)),
			db.RecordConsoleSessionUse(ctx, link.ID, testTime(7)), // another node was later
			db.EndConsoleSession(ctx, link.ID, testTime(9)))
	})
	link.LastUsedAt, link.EndedAt = testTime(8), testTime(9)
	got, err = db.ConsoleSessionByHash(ctx, link.Hash)
	requireEqual(t, got, err, link)
	got, err = db.ConsoleSession(ctx, link.ID)
	requireEqual(t, got, err, link)
	page, err := db.ConsoleSessionsBefore(ctx, "", 2)
	requireEqual(t, page, err, []operator.Session{sessions[2], link})
	page, err = db.ConsoleSessionsBefore(ctx, link.ID, 2)
	requireEqual(t, page, err, sessions[:1])
	for _, want := range []int{1, 0} {
		write(func(ctx context.Context) error {
			n, err := db.DeleteConsoleSessions(ctx, testTime(11), 1)
			if n != want {
				t.Errorf("delete expired sessions: got %d, want %d", n, want)
			}
			return err
		})
	}
	_, err = db.ConsoleSessionByHash(ctx, sessions[0].Hash)
	requireFault(t, err, fault.NotFound, "session_not_found")
	err = db.Write(ctx, func(ctx context.Context) error { return db.EndConsoleSession(ctx, NewID(), testTime(1)) })
	requireFault(t, err, fault.NotFound, "session_not_found")
}
