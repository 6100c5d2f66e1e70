package operator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/store/storetest"
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func TestTokens(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := operator.NewService(storetest.SQLite(t), func() time.Time { return now }, newID)
	if out, err := s.LockedOut(ctx); err != nil || !out {
		t.Errorf("before the first token: %v %v", out, err)
	}
	day, clear, err := s.Create(ctx, "day shift")
	if err != nil {
		t.Fatal(err)
	}
	night, other, err := s.Create(ctx, "night shift")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Authenticate(ctx, clear.Reveal()); err != nil || got.ID != day.ID || got.Name != "day shift" {
		t.Errorf("%+v %v", got, err)
	}
	first := now
	if revoked, err := s.Revoke(ctx, day.ID); err != nil || !revoked.RevokedAt.Equal(first) {
		t.Errorf("%+v %v", revoked, err)
	}
	for name, text := range map[string]string{"revoked": clear.Reveal(), "empty": "", "its hash": day.Hash, "cut": other.Reveal()[:20], "with a space": other.Reveal() + " "} {
		if _, err := s.Authenticate(ctx, text); !fault.Is(err, fault.Unauthorized) || err.Error() != "a live management token is required" {
			t.Errorf("%s: %v", name, err)
		}
	}
	now = now.Add(time.Hour)
	if again, err := s.Revoke(ctx, day.ID); err != nil || !again.RevokedAt.Equal(first) {
		t.Errorf("revoked again: %+v %v", again, err)
	}
	if out, err := s.LockedOut(ctx); err != nil || out {
		t.Errorf("with one live token: %v %v", out, err)
	}
	if _, err := s.Revoke(ctx, night.ID); err != nil {
		t.Fatal(err)
	}
	if out, err := s.LockedOut(ctx); err != nil || !out {
		t.Errorf("with none: %v %v", out, err)
	}
	if all, err := s.List(ctx); err != nil || len(all) != 2 || all[0].ID != day.ID || all[1].ID != night.ID {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := s.Revoke(ctx, newID()); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestTokenNames(t *testing.T) {
	t.Parallel()
	s := operator.NewService(storetest.SQLite(t), time.Now, newID)
	for name, want := range map[string]string{
		"":                       "name must have 1 to 255 characters",
		" \t":                    "name must have 1 to 255 characters",
		strings.Repeat("é", 256): "name must have 1 to 255 characters",
		"a\nb":                   "name must not contain control characters such as U+000A",
		strings.Repeat("é", 255): "",
	} {
		_, _, err := s.Create(context.Background(), name)
		if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
