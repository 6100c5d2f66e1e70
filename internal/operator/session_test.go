package operator_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// console is an operator service with a real database and a clock.
type console struct {
	*operator.Service
	t   *testing.T
	db  *store.DB
	now time.Time
}

func newConsole(t *testing.T) *console {
	t.Helper()
	c := &console{t: t, db: storetest.SQLite(t), now: time.UnixMilli(1_780_000_000_000).UTC()}
	c.Service = operator.NewService(c.db, func() time.Time { return c.now }, storetest.NewID)
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

// The list says which sessions still work.
func TestSessions_State(t *testing.T) {
	t.Parallel()
	ctx := audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.Kind(operator.ByToken)})
	c := newConsole(t)
	signIn := func(token operator.NewToken) (operator.Token, string) {
		t.Helper()
		created, clear, err := c.Create(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		caller, _, err := c.SignInWithToken(ctx, clear.Reveal(), browser)
		if err != nil {
			t.Fatal(err)
		}
		return created, caller.SessionID
	}
	requireState := func(id string, want operator.SessionState) {
		t.Helper()
		list, _, err := c.Sessions(ctx, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(n operator.ListedSession) bool { return n.ID == id })
		if i < 0 || list[i].State != want {
			t.Errorf("session %s at %s: got %+v, want the state %s", id, c.now.Format(time.TimeOnly), list, want)
		}
	}
	revoke := func(id string) {
		t.Helper()
		if _, err := c.Revoke(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	requireEnded := func(id string) {
		t.Helper()
		requireState(id, operator.SessionEnded)
		n, err := c.Session(ctx, id)
		if err != nil || n.EndedAt != c.now {
			t.Errorf("session %s: got %+v, %v, want that it ended at %s", id, n, err, c.now)
		}
		entries, err := c.db.AuditEntriesAfter(ctx, 0, 100)
		if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
			return e.Action == audit.SessionEnded && e.Subject == id && e.At == c.now
		}) {
			t.Errorf("the audit log: got %+v, %v, want the end of session %s", entries, err, id)
		}
	}

	laptop, ofLaptop := signIn(operator.NewToken{Name: "laptop"})
	_, ofShort := signIn(operator.NewToken{Name: "short", ExpiresAt: c.now.Add(30 * time.Minute)})
	_, idle := signIn(operator.NewToken{Name: "idle"})
	_, customer := signIn(operator.NewToken{Name: "Acme", Role: operator.Integrator,
		ProjectIDs: operator.ProjectIDs{storetest.NewID()}})
	u, err := c.CreateUser(ctx, operator.NewUser{Email: "ada@example.org", Role: operator.Operator})
	if err != nil {
		t.Fatal(err)
	}
	opened, code := c.link(operator.NewLink{UserID: u.ID})
	c.open(code)
	unopened, _ := c.link(operator.NewLink{UserID: u.ID})
	late, _ := c.link(operator.NewLink{Name: "Bob", Role: operator.Owner})

	for _, id := range []string{ofLaptop, ofShort, idle, customer, opened.ID} {
		requireState(id, operator.SessionLive)
	}
	requireState(unopened.ID, operator.SessionNotOpened)
	requireState(late.ID, operator.SessionNotOpened)

	c.advance(30 * time.Minute)
	revoke(laptop.ID)
	requireEnded(ofLaptop)
	requireState(ofShort, operator.SessionExpired)
	requireState(late.ID, operator.SessionExpired)
	if _, err := c.DeleteUser(ctx, u.ID); err != nil {
		t.Fatal(err)
	}
	requireEnded(opened.ID)
	requireEnded(unopened.ID)

	c.advance(30*time.Minute - time.Millisecond)
	requireState(idle, operator.SessionLive)
	c.advance(time.Millisecond)
	requireState(idle, operator.SessionIdle)
	requireState(customer, operator.SessionLive)
}

// A session whose token another node has revoked in the same moment works no longer, although
// nothing has ended it.
func TestSessions_StateReadsToken(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newConsole(t)
	token, clear, err := c.Create(ctx, operator.NewToken{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.SignInWithToken(ctx, clear.Reveal(), browser); err != nil {
		t.Fatal(err)
	}
	err = c.db.Write(ctx, func(ctx context.Context) error { return c.db.RevokeToken(ctx, token.ID, c.now) })
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := c.Sessions(ctx, "", 1)
	if err != nil || len(list) != 1 || list[0].State != operator.SessionEnded {
		t.Errorf("got %+v, %v, want the state %s", list, err, operator.SessionEnded)
	}
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

// A caller whose clock is ahead can ask for the maximum, and does not get more.
func TestLink_ToleratesClockOfCaller(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		in   time.Duration
		want time.Duration // 0 for a refusal
	}{
		{"less", operator.MaxLinkLifetime - time.Second, operator.MaxLinkLifetime - time.Second},
		{"a clock that is 2 s ahead", operator.MaxLinkLifetime + 2*time.Second, operator.MaxLinkLifetime},
		{"a clock that is 5 min ahead", operator.MaxLinkLifetime + 5*time.Minute, operator.MaxLinkLifetime},
		{"a clock that is wrong", operator.MaxLinkLifetime + 5*time.Minute + time.Millisecond, 0},
		{"8 days", 8 * 24 * time.Hour, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			n, _, err := c.CreateLink(context.Background(), operator.NewLink{Name: "Acme", Role: operator.Integrator,
				ProjectIDs: operator.ProjectIDs{storetest.NewID()}, ExpiresAt: c.now.Add(test.in)})
			if test.want == 0 {
				if !fault.Is(err, fault.Invalid) {
					t.Errorf("a session of %s: got %v, %v, want Invalid", test.in, n.ExpiresAt, err)
				}
				return
			}
			if err != nil || n.ExpiresAt.Sub(c.now) != test.want {
				t.Errorf("a session of %s: got %s, %v, want %s", test.in, n.ExpiresAt.Sub(c.now), err, test.want)
			}
		})
	}
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
