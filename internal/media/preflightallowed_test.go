package media

import (
	"testing"
	"time"
)

// A token for the check session opens it until the moment in its holder's
// name, whatever fresh token LiveKit gave them meanwhile.
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
			t.Errorf("%q: %t", identity, got)
		}
	}
}
