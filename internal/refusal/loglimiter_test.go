package refusal_test

import (
	"testing"
	"time"

	"parley/internal/refusal"
)

func TestLogLimiter_SharesLimitAfterMaxKeys(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	l := refusal.NewLogLimiter[string](2, 1)
	for i, c := range []struct {
		key            string
		after          time.Duration
		wantSuppressed int
		wantOK         bool
	}{
		{"a", 0, 0, true},
		{"a", 0, 0, true},
		{"a", 0, 0, false},
		{"b", 0, 0, true}, // b and c share a limit
		{"c", 0, 0, true},
		{"b", 0, 0, false},
		{"a", 10 * time.Second, 1, true},
		{"c", 10 * time.Second, 1, true},
		{"b", 10 * time.Second, 0, true},
		{"c", 10 * time.Second, 0, false},
	} {
		suppressed, ok := l.Allow(c.key, now.Add(c.after))
		if suppressed != c.wantSuppressed || ok != c.wantOK {
			t.Errorf("line %d of key %s: got %d, %t, want %d, %t", i, c.key, suppressed, ok, c.wantSuppressed, c.wantOK)
		}
	}
}
