package operator_test

import (
	"context"
	"strings"
	"testing"
	"time"

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
		t.Errorf("without a token: %v %v", out, err)
	}
	first, clear, err := tokens.Create(ctx, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := tokens.Create(ctx, "laptop") // names need not differ
	if err != nil {
		t.Fatal(err)
	}
	if first.Hash != seal.Hash(clear.Reveal()) || strings.Contains(first.Hash, clear.Reveal()) ||
		first.CreatedAt != now {
		t.Errorf("got %+v, want only the hash of the token, created at %s", first, now)
	}
	if got, err := tokens.Authenticate(ctx, clear.Reveal()); err != nil || got != first {
		t.Errorf("authenticate: got %+v, %v, want %+v", got, err, first)
	}
	if list, err := tokens.List(ctx); err != nil || len(list) != 2 || list[0] != first || list[1] != second {
		t.Errorf("list: got %+v, %v, want %+v and %+v", list, err, first, second)
	}

	now = now.Add(time.Hour)
	revoked, err := tokens.Revoke(ctx, first.ID)
	if err != nil || revoked.RevokedAt != now {
		t.Errorf("revoke: got %+v, %v, want RevokedAt %s", revoked, err, now)
	}
	now = now.Add(time.Hour)
	if again, err := tokens.Revoke(ctx, first.ID); err != nil || again != revoked {
		t.Errorf("revoked twice: %+v %v", again, err)
	}
	if _, err := tokens.Revoke(ctx, storetest.NewID()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown one: %v", err)
	}
	if out, err := tokens.LockedOut(ctx); err != nil || out {
		t.Errorf("with one token left: %v %v", out, err)
	}
	if _, err := tokens.Revoke(ctx, second.ID); err != nil {
		t.Error(err)
	}
	if out, err := tokens.LockedOut(ctx); err != nil || !out {
		t.Errorf("with none left: %v %v", out, err)
	}

	// One answer for all that is wrong.
	var answer string
	for _, wrong := range []string{clear.Reveal(), "", "unknown", clear.Reveal() + "x",
		first.Hash, first.ID, clear.Reveal()[1:]} {
		_, err := tokens.Authenticate(ctx, wrong)
		f := fault.From(err)
		if err == nil || f.Kind != fault.Unauthorized || answer != "" && err.Error() != answer {
			t.Errorf("%q: %v", wrong, err)
		}
		answer = f.Error()
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
		_, _, err := tokens.Create(context.Background(), name)
		if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != want) {
			t.Errorf("%q: %v", name, err)
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
		t.Errorf("got %v", err)
	}
}
