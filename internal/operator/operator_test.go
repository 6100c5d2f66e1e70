package operator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/seal"
	"parley/internal/store/storetest"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := storetest.SQLite(t)
	now := time.UnixMilli(1_780_000_000_000).UTC()
	tokens := operator.NewService(db, func() time.Time { return now }, storetest.NewID)

	if out, err := tokens.LockedOut(ctx); err != nil || !out {
		t.Errorf("locked out without a token: got %v, %v, want true", out, err)
	}
	first, clear, err := tokens.Create(ctx, operator.NewToken{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := tokens.Create(ctx, operator.NewToken{Name: "laptop"}) // names need not differ
	if err != nil {
		t.Fatal(err)
	}
	if first.Hash != seal.Hash(clear.Reveal()) || strings.Contains(first.Hash, clear.Reveal()) ||
		first.CreatedAt != now {
		t.Errorf("got %+v, want only the hash of the token, created at %s", first, now)
	}
	got, err := tokens.Authenticate(ctx, clear.Reveal())
	if diff := cmp.Diff(first, got); err != nil || diff != "" {
		t.Errorf("authenticate: got %v, and the token differs (-want +got):\n%s", err, diff)
	}
	if err := tokens.FlushUses(ctx); err != nil {
		t.Fatal(err)
	}
	first.LastUsedAt = now
	list, err := tokens.List(ctx)
	if diff := cmp.Diff([]operator.Token{first, second}, list); err != nil || diff != "" {
		t.Errorf("list: got %v, and the tokens differ (-want +got):\n%s", err, diff)
	}

	now = now.Add(time.Hour)
	revoked, err := tokens.Revoke(ctx, first.ID)
	if err != nil || revoked.RevokedAt != now {
		t.Errorf("revoke: got %+v, %v, want RevokedAt %s", revoked, err, now)
	}
	now = now.Add(time.Hour)
	again, err := tokens.Revoke(ctx, first.ID)
	if diff := cmp.Diff(revoked, again); err != nil || diff != "" {
		t.Errorf("revoked twice: got %v, and the token differs (-want +got):\n%s", err, diff)
	}
	if _, err := tokens.Revoke(ctx, storetest.NewID()); !fault.Is(err, fault.NotFound) {
		t.Errorf("revoke an unknown token: got %v, want NotFound", err)
	}
	if out, err := tokens.LockedOut(ctx); err != nil || out {
		t.Errorf("locked out with one token left: got %v, %v, want false", out, err)
	}
	if _, err := tokens.Revoke(ctx, second.ID); err != nil {
		t.Error(err)
	}
	if out, err := tokens.LockedOut(ctx); err != nil || !out {
		t.Errorf("locked out with none left: got %v, %v, want true", out, err)
	}

	_, err = tokens.Authenticate(ctx, clear.Reveal())
	if f := fault.From(err); f.Code != "token_revoked" || f.Kind != fault.Unauthorized ||
		!strings.Contains(f.Message, "an owner can create another one") {
		t.Errorf("authenticate a revoked token: got %v, want the code token_revoked and what to do", err)
	}
	// All texts that are no token get the same error.
	var want string
	for _, wrong := range []string{"", "unknown", clear.Reveal() + "x",
		first.Hash, first.ID, clear.Reveal()[1:]} {
		_, err := tokens.Authenticate(ctx, wrong)
		f := fault.From(err)
		if err == nil || f.Kind != fault.Unauthorized || want != "" && err.Error() != want {
			t.Errorf("authenticate %q: got %v, want Unauthorized with the message %q", wrong, err, want)
		}
		want = f.Error()
	}
}

func TestCreate_NameValidation(t *testing.T) {
	t.Parallel()
	tokens := operator.NewService(storetest.SQLite(t), time.Now, storetest.NewID)
	for name, want := range map[string]string{
		"x":                      "",
		strings.Repeat("é", 255): "",
		"":                       "name must have 1 to 255 characters and not be blank",
		" \t":                    "name must have 1 to 255 characters and not be blank",
		strings.Repeat("é", 256): "name must have at most 255 characters, not 256",
		"a\xff":                  "name must be UTF-8",
		"a\x00b":                 "name must not contain control characters such as U+0000",
	} {
		_, _, err := tokens.Create(context.Background(), operator.NewToken{Name: name})
		if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != want) {
			t.Errorf("create %q: got error %v, want %q", name, err, want)
		}
	}
}

func TestCreate_RoleAndExpiry(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.UnixMilli(1_780_000_000_000).UTC()
	tokens := operator.NewService(storetest.SQLite(t), func() time.Time { return now }, storetest.NewID)
	many := make(operator.ProjectIDs, operator.MaxProjects+1)
	for want, q := range map[string]operator.NewToken{
		`role must be owner, operator, auditor or integrator, not "root"`:          {Role: "root"},
		"project_ids is only for the role integrator, not auditor":                 {Role: operator.Auditor, ProjectIDs: many[:1]},
		"project_ids must have 1 to 100 projects for the role integrator, not 0":   {Role: operator.Integrator},
		"project_ids must have 1 to 100 projects for the role integrator, not 101": {Role: operator.Integrator, ProjectIDs: many},
		"expires_at must be in the future":                                         {ExpiresAt: now},
	} {
		q.Name = "night shift"
		if _, _, err := tokens.Create(ctx, q); !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("create %+v: got %v, want %s", q, err, want)
		}
	}

	expiring, clear, err := tokens.Create(ctx, operator.NewToken{Name: "month", ExpiresAt: now.Add(time.Hour)})
	if err != nil || expiring.Role != operator.Owner {
		t.Fatalf("create a token that expires: got %+v, %v, want an owner's", expiring, err)
	}
	if _, _, err := tokens.Create(ctx, operator.NewToken{Name: "reader", Role: operator.Auditor}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour - time.Millisecond)
	if out, err := tokens.LockedOut(ctx); err != nil || out {
		t.Errorf("locked out before the expiry: got %v, %v, want false", out, err)
	}
	if _, err := tokens.Authenticate(ctx, clear.Reveal()); err != nil {
		t.Errorf("authenticate just before the expiry: got %v, want no error", err)
	}
	now = now.Add(time.Millisecond)
	if _, err := tokens.Authenticate(ctx, clear.Reveal()); !fault.Is(err, fault.Unauthorized) ||
		!strings.Contains(err.Error(), "expired at 2026-") {
		t.Errorf("authenticate at the expiry: got %v, want Unauthorized with the time", err)
	}
	if out, err := tokens.LockedOut(ctx); err != nil || !out {
		t.Errorf("locked out with an auditor's token only: got %v, %v, want true", out, err)
	}
}

// The last use of a token is stored by the next flush, also if one has failed before.
func TestFlushUses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.UnixMilli(1_780_000_000_000).UTC()
	tokens := operator.NewService(storetest.SQLite(t), func() time.Time { return now }, storetest.NewID)
	_, clear, err := tokens.Create(ctx, operator.NewToken{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for _, tc := range []struct {
		flush context.Context
		want  time.Time
	}{{canceled, time.Time{}}, {ctx, now.Add(2 * time.Minute)}, {ctx, now.Add(3 * time.Minute)}} {
		now = now.Add(time.Minute)
		if _, err := tokens.Authenticate(ctx, clear.Reveal()); err != nil {
			t.Fatal(err)
		}
		if err := tokens.FlushUses(tc.flush); (err != nil) != (tc.flush == canceled) {
			t.Errorf("flush at %s: got %v", now, err)
		}
		list, err := tokens.List(ctx)
		if err != nil || !list[0].LastUsedAt.Equal(tc.want) {
			t.Errorf("at %s: got %+v, %v, want the last use %s", now, list, err, tc.want)
		}
	}
}

// TestAuthenticate_DatabaseUnavailable checks that a token is not called wrong
// while the database is unavailable.
func TestAuthenticate_DatabaseUnavailable(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	tokens := operator.NewService(db, time.Now, storetest.NewID)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Authenticate(context.Background(), "any"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
}
