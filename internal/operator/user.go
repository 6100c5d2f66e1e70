package operator

import (
	"cmp"
	"context"
	"net/mail"
	"strings"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/validate"
)

// maxEmail is the maximum length of an email address in characters (RFC 5321, section
// 4.5.3.1.3).
const maxEmail = 254

// User is a person who may sign in to the console by OpenID Connect or by a link.
type User struct {
	ID           string
	Email        string // in lower case
	Name         string
	Role         Role
	ProjectIDs   ProjectIDs // projects of an integrator, at least one
	Subject      string     // issuer and subject of the OpenID account; empty before the first sign-in with it
	CreatedAt    time.Time
	LastSignInAt time.Time // zero before the first sign-in
}

// NewUser describes a user to create.
type NewUser struct {
	Email      string // unique, at most 254 characters
	Name       string // at most 255 characters; if it is empty, the name is Email
	Role       Role
	ProjectIDs ProjectIDs
}

// UserChanges are new values of a user. Nil keeps a value, except that a new Role without
// ProjectIDs removes the projects.
type UserChanges struct {
	Name       *string
	Role       *Role
	ProjectIDs *ProjectIDs
}

type userStore interface {
	// InsertUser fails with Conflict if the email address is taken.
	InsertUser(ctx context.Context, u User) error
	// User, UserByEmail and UserBySubject fail with NotFound.
	User(ctx context.Context, id string) (User, error)
	UserByEmail(ctx context.Context, email string) (User, error)
	UserBySubject(ctx context.Context, subject string) (User, error)
	// UsersAfter returns at most limit users after an ID, the oldest first.
	UsersAfter(ctx context.Context, id string, limit int) ([]User, error)
	// UpdateUser sets the name, the role and the projects.
	UpdateUser(ctx context.Context, u User) error
	// BindUser sets the subject, or fails with NotFound if the user has another one.
	BindUser(ctx context.Context, id, subject string) error
	// RecordSignIn sets the time of the last sign-in.
	RecordSignIn(ctx context.Context, id string, at time.Time) error
	DeleteUser(ctx context.Context, id string) error
}

// CreateUser creates a user. Errors: Invalid, and Conflict if the email address is taken. The
// caller checks that the projects exist.
func (s *Service) CreateUser(ctx context.Context, q NewUser) (User, error) {
	u := User{
		ID:         s.newID(),
		Email:      strings.ToLower(q.Email),
		Name:       cmp.Or(q.Name, q.Email),
		Role:       q.Role,
		ProjectIDs: q.ProjectIDs,
		CreatedAt:  s.now(),
	}
	if err := u.check(); err != nil {
		return User{}, err
	}
	err := s.store.Write(ctx, func(ctx context.Context) error {
		if err := s.store.InsertUser(ctx, u); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, u.CreatedAt, audit.Change{Action: audit.UserCreated, Subject: u.ID,
			After: u.auditFields()})
	})
	return u, err
}

// check returns an Invalid error if a field of the user has a value that is not allowed.
func (u User) check() error {
	if err := validate.Text("email", u.Email, 1, maxEmail, false); err != nil {
		return err
	}
	if parsed, err := mail.ParseAddress(u.Email); err != nil || parsed.Address != u.Email {
		return fault.Invalidf("email must be an email address such as ada@example.org, not %q", u.Email)
	}
	if err := validate.Name("name", u.Name, 1, validate.MaxText); err != nil {
		return err
	}
	return checkRole(u.Role, u.ProjectIDs)
}

func (u User) auditFields() audit.Fields {
	fields := auditFields(u.Name, u.Role, u.ProjectIDs)
	fields["email"] = u.Email
	return fields
}

// Users returns at most limit users after an ID, the oldest first, and whether there are more.
func (s *Service) Users(ctx context.Context, after string, limit int) (users []User, more bool, err error) {
	users, err = s.store.UsersAfter(ctx, after, limit+1)
	if more = len(users) > limit; more {
		users = users[:limit]
	}
	return users, more, err
}

// ChangeUser changes a user, with effect on their next call. Errors: Invalid, NotFound. The
// caller checks that the projects exist.
func (s *Service) ChangeUser(ctx context.Context, id string, c UserChanges) (User, error) {
	var u User
	err := s.store.Write(ctx, func(ctx context.Context) (err error) {
		if u, err = s.store.User(ctx, id); err != nil {
			return err
		}
		before := u.auditFields()
		if c.Name != nil {
			u.Name = *c.Name
		}
		if c.Role != nil && *c.Role != u.Role {
			u.Role, u.ProjectIDs = *c.Role, nil
		}
		if c.ProjectIDs != nil {
			u.ProjectIDs = *c.ProjectIDs
		}
		if err := u.check(); err != nil {
			return err
		}
		if err := s.store.UpdateUser(ctx, u); err != nil {
			return err
		}
		return audit.Record(ctx, s.store, s.now(), audit.Change{Action: audit.UserChanged, Subject: id, Before: before,
			After: u.auditFields()})
	})
	return u, err
}

// DeleteUser deletes a user and ends their sessions at once. Errors: NotFound.
func (s *Service) DeleteUser(ctx context.Context, id string) (User, error) {
	var u User
	err := s.store.Write(ctx, func(ctx context.Context) (err error) {
		if u, err = s.store.User(ctx, id); err != nil {
			return err
		}
		if err := s.store.DeleteUser(ctx, id); err != nil {
			return err
		}
		return s.endAll(ctx, "", id, audit.Change{Action: audit.UserDeleted, Subject: id, Before: u.auditFields()})
	})
	return u, err
}

// OpenIDAccount is the account of a person at an OpenID provider, as in a verified ID token.
type OpenIDAccount struct {
	Issuer, Subject string
	Email           string
	EmailVerified   bool // by the provider
}

// ErrEmailNotVerified refuses an OpenID account whose email address nobody has verified.
var ErrEmailNotVerified = fault.New(fault.Forbidden, "email_not_verified",
	"the OpenID Connect provider has not verified your email address: verify it there and sign in again")

// userOf returns the user of an OpenID account. This is the user to whom the account is bound.
// If there is none, it is the user with the same verified email address, and userOf binds the
// account to this user. Errors: Forbidden, also if the user is bound to another account.
func (s *Service) userOf(ctx context.Context, a OpenIDAccount) (User, error) {
	subject := a.Issuer + " " + a.Subject
	u, err := s.store.UserBySubject(ctx, subject)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return u, err
	}
	if !a.EmailVerified {
		return User{}, ErrEmailNotVerified
	}
	u, err = s.store.UserByEmail(ctx, strings.ToLower(a.Email))
	if fault.Is(err, fault.NotFound) {
		return User{}, fault.New(fault.Forbidden, "not_a_user",
			"there is no user with your email address: an owner can add you with parley user create")
	}
	if err != nil {
		return User{}, err
	}
	if err := s.store.BindUser(ctx, u.ID, subject); fault.Is(err, fault.NotFound) {
		return User{}, fault.New(fault.Forbidden, "other_account",
			"the user with your email address signs in with another account: an owner can delete the user and add you again")
	} else if err != nil {
		return User{}, err
	}
	return u, nil
}
