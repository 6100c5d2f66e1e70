package store

import (
	"context"
	"time"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/operator"
)

var userTable = newTable("console_users",
	text("id", func(u *operator.User) *string { return &u.ID }),
	text("email", func(u *operator.User) *string { return &u.Email }),
	text("name", func(u *operator.User) *string { return &u.Name }),
	text("role", func(u *operator.User) *operator.Role { return &u.Role }),
	parsed("project_ids", operator.ParseProjectIDs, func(u *operator.User) *operator.ProjectIDs { return &u.ProjectIDs }),
	optionalText("subject", func(u *operator.User) *string { return &u.Subject }),
	timestamp("created_at", func(u *operator.User) *time.Time { return &u.CreatedAt }),
	timestamp("last_sign_in_at", func(u *operator.User) *time.Time { return &u.LastSignInAt }),
)

var (
	insertUser          = userTable.insertQuery() + " ON CONFLICT (email) DO NOTHING"
	selectUser          = userTable.selectFrom + "WHERE id = $1"
	selectUserByEmail   = userTable.selectFrom + "WHERE email = $1"
	selectUserBySubject = userTable.selectFrom + "WHERE subject = $1"
	selectUsers         = userTable.selectFrom + "WHERE id > $1 ORDER BY id LIMIT $2"
	updateUser          = userTable.newUpdateStmt("name", "role", "project_ids")
)

var (
	errUserNotFound = fault.New(fault.NotFound, "user_not_found", "there is no such user")
	errEmailTaken   = fault.New(fault.Conflict, "email_taken", "there is already a user with this email address")
)

func (s *DB) InsertUser(ctx context.Context, u operator.User) error {
	return s.ExecOne(ctx, errEmailTaken, insertUser, userTable.values(&u)...)
}

func (s *DB) User(ctx context.Context, id string) (operator.User, error) {
	return s.queryUser(ctx, selectUser, id)
}

func (s *DB) queryUser(ctx context.Context, q, arg string) (operator.User, error) {
	u, err := queryOne(ctx, s, userTable, errUserNotFound, q, arg)
	if err != nil {
		return operator.User{}, err
	}
	return *u, nil
}

func (s *DB) UserByEmail(ctx context.Context, email string) (operator.User, error) {
	return s.queryUser(ctx, selectUserByEmail, email)
}

func (s *DB) UserBySubject(ctx context.Context, subject string) (operator.User, error) {
	return s.queryUser(ctx, selectUserBySubject, subject)
}

func (s *DB) UsersAfter(ctx context.Context, id string, limit int) ([]operator.User, error) {
	return queryAll(ctx, s, userTable, selectUsers, id, limit)
}

func (s *DB) UpdateUser(ctx context.Context, u operator.User) error {
	return s.ExecOne(ctx, errUserNotFound, updateUser.query, updateUser.values(&u)...)
}

func (s *DB) BindUser(ctx context.Context, id, subject string) error {
	return s.ExecOne(ctx, errUserNotFound, `UPDATE console_users SET subject = $2
		WHERE id = $1 AND (subject IS NULL OR subject = $2)`, id, subject)
}

func (s *DB) RecordSignIn(ctx context.Context, id string, at time.Time) error {
	return s.ExecOne(ctx, errUserNotFound, `UPDATE console_users SET last_sign_in_at = $2 WHERE id = $1`, id,
		at.UnixMilli())
}

func (s *DB) DeleteUser(ctx context.Context, id string) error {
	return s.ExecOne(ctx, errUserNotFound, `DELETE FROM console_users WHERE id = $1`, id)
}

var consoleSessionTable = newTable("console_sessions",
	text("id", func(n *operator.Session) *string { return &n.ID }),
	optionalText("secret_hash", func(n *operator.Session) *string { return &n.Hash }),
	optionalText("code_hash", func(n *operator.Session) *string { return &n.CodeHash }),
	text("token_id", func(n *operator.Session) *string { return &n.TokenID }),
	text("user_id", func(n *operator.Session) *string { return &n.UserID }),
	text("name", func(n *operator.Session) *string { return &n.Name }),
	text("role", func(n *operator.Session) *operator.Role { return &n.Role }),
	parsed("project_ids", operator.ParseProjectIDs,
		func(n *operator.Session) *operator.ProjectIDs { return &n.ProjectIDs }),
	timestamp("created_at", func(n *operator.Session) *time.Time { return &n.CreatedAt }),
	timestamp("open_by", func(n *operator.Session) *time.Time { return &n.OpenBy }),
	timestamp("expires_at", func(n *operator.Session) *time.Time { return &n.ExpiresAt }),
	timestamp("last_used_at", func(n *operator.Session) *time.Time { return &n.LastUsedAt }),
	timestamp("ended_at", func(n *operator.Session) *time.Time { return &n.EndedAt }),
)

var (
	insertConsoleSession         = consoleSessionTable.insertQuery()
	selectConsoleSession         = consoleSessionTable.selectFrom + "WHERE id = $1"
	selectConsoleSessionByHash   = consoleSessionTable.selectFrom + "WHERE secret_hash = $1"
	selectConsoleSessionByCode   = consoleSessionTable.selectFrom + "WHERE code_hash = $1"
	selectConsoleSessions        = consoleSessionTable.selectFrom + "ORDER BY id DESC LIMIT $1"
	selectUnendedConsoleSessions = consoleSessionTable.selectFrom + `WHERE token_id = $1 AND user_id = $2
		AND ended_at IS NULL AND expires_at > $3 ORDER BY id DESC`
	selectConsoleSessionsBelow = consoleSessionTable.selectFrom + "WHERE id < $2 ORDER BY id DESC LIMIT $1"
)

var errSessionNotFound = fault.New(fault.NotFound, "session_not_found", "there is no such session")

func (s *DB) InsertConsoleSession(ctx context.Context, n operator.Session) error {
	return s.Exec(ctx, insertConsoleSession, consoleSessionTable.values(&n)...)
}

func (s *DB) ConsoleSession(ctx context.Context, id string) (operator.Session, error) {
	return s.queryConsoleSession(ctx, selectConsoleSession, id)
}

func (s *DB) queryConsoleSession(ctx context.Context, q, arg string) (operator.Session, error) {
	n, err := queryOne(ctx, s, consoleSessionTable, errSessionNotFound, q, arg)
	if err != nil {
		return operator.Session{}, err
	}
	return *n, nil
}

func (s *DB) ConsoleSessionByHash(ctx context.Context, hash string) (operator.Session, error) {
	return s.queryConsoleSession(ctx, selectConsoleSessionByHash, hash)
}

func (s *DB) ConsoleSessionByCode(ctx context.Context, codeHash string) (operator.Session, error) {
	return s.queryConsoleSession(ctx, selectConsoleSessionByCode, codeHash)
}

func (s *DB) ConsoleSessionsBefore(ctx context.Context, id string, limit int) ([]operator.Session, error) {
	if id == "" {
		return queryAll(ctx, s, consoleSessionTable, selectConsoleSessions, limit)
	}
	return queryAll(ctx, s, consoleSessionTable, selectConsoleSessionsBelow, limit, id)
}

func (s *DB) UnendedConsoleSessions(
	ctx context.Context, tokenID, userID string, now time.Time,
) ([]operator.Session, error) {
	return queryAll(ctx, s, consoleSessionTable, selectUnendedConsoleSessions, tokenID, userID, now.UnixMilli())
}

func (s *DB) OpenConsoleSession(ctx context.Context, n operator.Session) error {
	return s.ExecOne(ctx, errSessionNotFound, `UPDATE console_sessions
		SET secret_hash = $2, code_hash = NULL, expires_at = $3, last_used_at = $4
		WHERE id = $1 AND code_hash IS NOT NULL AND ended_at IS NULL`,
		n.ID, n.Hash, n.ExpiresAt.UnixMilli(), n.LastUsedAt.UnixMilli())
}

func (s *DB) EndConsoleSession(ctx context.Context, id string, at time.Time) error {
	return s.ExecOne(ctx, errSessionNotFound, `UPDATE console_sessions SET ended_at = $2 WHERE id = $1`, id,
		db.NullMillis(at))
}

func (s *DB) RecordConsoleSessionUse(ctx context.Context, id string, at time.Time) error {
	return s.Exec(ctx, `UPDATE console_sessions SET last_used_at = $2
		WHERE id = $1 AND coalesce(last_used_at, 0) < $2`, id, at.UnixMilli())
}

func (s *DB) DeleteConsoleSessions(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.execCounting(ctx, `DELETE FROM console_sessions WHERE id IN (
		SELECT id FROM console_sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2) RETURNING id`,
		before.UnixMilli(), limit)
}
