package media

import (
	"testing"
	"time"
)

// The identity in a token for the preflight session limits how long the token is accepted,
// because LiveKit sends fresh tokens with the same identity.
func TestPreflightAllowed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for identity, want := range map[string]bool{
		"0197.1800000000001": true,
		"0197.1800000000000": false,
		"0197":               false,
		"0197.":              false,
		"":                   false,
		"0197.soon":          false,
	} {
		if got := preflightAllowed(identity, now); got != want {
			t.Errorf("%q: got %t, want %t", identity, got, want)
		}
	}
}
