package operator_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/seal"
	"parley/internal/store/storetest"
)

// console is an operator service with a real database and a clock.
type console struct {
	*operator.Service
	t   *testing.T
	now time.Time
}

func newConsole(t *testing.T) *console {
	t.Helper()
	c := &console{t: t, now: time.UnixMilli(1_780_000_000_000).UTC()}
	c.Service = operator.NewService(storetest.SQLite(t), func() time.Time { return c.now }, storetest.NewID)
	return c
}

var browser = audit.Origin{RequestID: "req_1", Address: "192.0.2.1", Node: "node"}

// requireCaller checks that the session works, and who has it.
func (c *console) requireCaller(secret seal.Secret, name string, role operator.Role) {
	c.t.Helper()
	got, err := c.AuthenticateSession(context.Background(), secret.Reveal(), false)
	if err != nil || got.Name != name || got.Role != role {
		c.t.Errorf("the session at %s: got %+v, %v, want %s as %s", c.now.Format(time.TimeOnly), got, err, name, role)
	}
}

// requireNoCaller checks that the session has ended.
func (c *console) requireNoCaller(secret seal.Secret) {
	c.t.Helper()
	got, err := c.AuthenticateSession(context.Background(), secret.Reveal(), false)
	if !fault.Is(err, fault.Unauthorized) {
		c.t.Errorf("the session at %s: got %+v, %v, want Unauthorized", c.now.Format(time.TimeOnly), got, err)
	}
}

func (c *console) advance(d time.Duration) { c.now = c.now.Add(d) }

func (c *console) link(q operator.NewLink) (operator.Session, seal.Secret) {
	c.t.Helper()
	n, code, err := c.CreateLink(context.Background(), q)
	if err != nil {
		c.t.Fatal(err)
	}
	return n, code
}

func (c *console) open(code seal.Secret) seal.Secret {
	c.t.Helper()
	_, secret, err := c.SignInWithLink(context.Background(), code.Reveal(), browser)
	if err != nil {
		c.t.Fatal(err)
	}
	return secret
}

func (c *console) requireUseless(code seal.Secret) {
	c.t.Helper()
	if _, _, err := c.SignInWithLink(context.Background(), code.Reveal(), browser); !fault.Is(err, fault.Unauthorized) {
		c.t.Errorf("open the link: got %v, want Unauthorized", err)
	}
}

func TestSession_EndsWithItsToken(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newConsole(t)
	_, short, err := c.Create(ctx, operator.NewToken{Name: "short", Role: operator.Auditor,
		ExpiresAt: c.now.Add(30 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	token, clear, err := c.Create(ctx, operator.NewToken{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	_, ofShort, err := c.SignInWithToken(ctx, short.Reveal(), browser)
	if err != nil {
		t.Fatal(err)
	}
	_, ofLaptop, err := c.SignInWithToken(ctx, clear.Reveal(), browser)
	if err != nil {
		t.Fatal(err)
	}
	c.advance(29 * time.Minute)
	c.requireCaller(ofShort, "short", operator.Auditor)
	c.advance(time.Minute)
	c.requireNoCaller(ofShort)
	c.requireCaller(ofLaptop, "laptop", operator.Owner)
	if _, err := c.Revoke(ctx, token.ID); err != nil {
		t.Fatal(err)
	}
	c.requireNoCaller(ofLaptop)
}

func TestSession_EndsWhenIdleOrAfterTwelveHours(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newConsole(t)
	_, clear, err := c.Create(ctx, operator.NewToken{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	_, idle, err := c.SignInWithToken(ctx, clear.Reveal(), browser)
	if err != nil {
		t.Fatal(err)
	}
	_, busy, err := c.SignInWithToken(ctx, clear.Reveal(), browser)
	if err != nil {
		t.Fatal(err)
	}
	for range 23 { // 11 hours and 30 minutes
		c.advance(30 * time.Minute)
		_, _ = c.AuthenticateSession(ctx, idle.Reveal(), true)
		c.requireCaller(busy, "laptop", operator.Owner)
		if err := c.FlushUses(ctx); err != nil {
			t.Fatal(err)
		}
	}
	c.requireNoCaller(idle)
	c.advance(29 * time.Minute)
	c.requireCaller(busy, "laptop", operator.Owner)
	c.advance(time.Minute)
	c.requireNoCaller(busy)
}

// A token has a limited number of sessions. The earliest one ends when another begins.
func TestSession_EarliestEndsBeyondLimit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newConsole(t)
	_, clear, err := c.Create(ctx, operator.NewToken{Name: "ci", Role: operator.Auditor})
	if err != nil {
		t.Fatal(err)
	}
	var secrets []seal.Secret
	for range 22 {
		_, secret, err := c.SignInWithToken(ctx, clear.Reveal(), browser)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret)
		c.advance(time.Second)
	}
	for i, secret := range secrets {
		if i < 2 {
			c.requireNoCaller(secret)
		} else {
			c.requireCaller(secret, "ci", operator.Auditor)
		}
	}
}

func TestLink_OpensOnceAndInTime(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	customer := operator.NewLink{Name: "Acme", Role: operator.Integrator,
		ProjectIDs: operator.ProjectIDs{storetest.NewID()}, ExpiresAt: c.now.Add(3 * 24 * time.Hour)}
	_, opened := c.link(customer)
	_, late := c.link(customer)
	_, staff := c.link(operator.NewLink{Name: "Ada", Role: operator.Operator})
	_, lateStaff := c.link(operator.NewLink{Name: "Ada", Role: operator.Operator})
	revoked, code := c.link(customer)
	if _, err := c.RevokeSession(context.Background(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	c.requireUseless(code)

	secret := c.open(opened)
	c.requireUseless(opened)
	c.advance(15*time.Minute - time.Millisecond)
	ofStaff := c.open(staff)
	c.requireCaller(ofStaff, "Ada", operator.Operator)
	c.advance(time.Millisecond)
	c.requireUseless(lateStaff)

	c.advance(24*time.Hour - 15*time.Minute)
	c.requireUseless(late)
	c.requireNoCaller(ofStaff)
	c.requireCaller(secret, "Acme", operator.Integrator) // although it was not used for a day
	c.advance(2*24*time.Hour - time.Millisecond)
	c.requireCaller(secret, "Acme", operator.Integrator)
	c.advance(time.Millisecond)
	c.requireNoCaller(secret)
}

func TestOpenID_FindsUserByAccountThenByEmail(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newConsole(t)
	u, err := c.CreateUser(ctx, operator.NewUser{Email: "Ada@example.org", Name: "Ada", Role: operator.Operator})
	if err != nil {
		t.Fatal(err)
	}
	account := operator.OpenIDAccount{Issuer: "https://login.example.org", Subject: "7", Email: "ADA@example.org"}
	refused := func(a operator.OpenIDAccount, code string) {
		t.Helper()
		if _, _, err := c.SignInWithOpenID(ctx, a, browser); fault.From(err).Code != code || !fault.Is(err, fault.Forbidden) {
			t.Errorf("sign in with %+v: got %v, want Forbidden %s", a, err, code)
		}
	}
	refused(account, "email_not_verified")
	account.EmailVerified = true
	_, first, err := c.SignInWithOpenID(ctx, account, browser)
	if err != nil {
		t.Fatal(err)
	}
	c.requireCaller(first, "Ada", operator.Operator)

	// The account stays the same person with another address, and the address belongs to the
	// account.
	account.Email, account.EmailVerified = "lovelace@example.org", false
	if _, _, err := c.SignInWithOpenID(ctx, account, browser); err != nil {
		t.Errorf("sign in after a change of the address: got %v, want no error", err)
	}
	refused(operator.OpenIDAccount{Issuer: account.Issuer, Subject: "8", Email: "ada@example.org", EmailVerified: true},
		"other_account")
	refused(operator.OpenIDAccount{Issuer: account.Issuer, Subject: "8", Email: "eve@example.org", EmailVerified: true},
		"not_a_user")

	if _, err := c.DeleteUser(ctx, u.ID); err != nil {
		t.Fatal(err)
	}
	c.requireNoCaller(first)
	account.EmailVerified = true
	refused(account, "not_a_user")
}
