package key

import (
	"strings"
	"testing"
	"time"

	"parley/internal/seal"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 2, 1, 9, 0, 0, 0, time.UTC)
	keyring := &Keyring{
		keys: []APIKey{{ID: "k1", Slot: Current, Key: "key one"},
			{ID: "k2", Slot: Overlap, Key: "key two", OverlapEndsAt: now.Add(time.Minute)}},
		secrets: []ProjectSecret{{ID: "s1", Slot: Current, Secret: "secret one"},
			{ID: "s2", Slot: Overlap, Secret: "secret two", OverlapEndsAt: now.Add(time.Minute)}},
	}
	later := now.Add(time.Minute)
	for _, tc := range []struct {
		credential  seal.Secret
		at          time.Time
		secretsOnly bool
		want        string
	}{
		{"key one", now, false, "k1"}, {"key two", now, false, "k2"}, {"secret one", now, false, "s1"}, {"secret two", now, false, "s2"},
		{"key two", later, false, ""}, {"secret two", later, false, ""}, {"key one", later, false, "k1"},
		{"key one", now, true, ""}, {"secret one", now, true, "s1"}, {"secret two", later, true, ""}, {"other", now, false, ""},
	} {
		for range 2 { // whatever verified before
			got, found := keyring.Verify(tc.at, tc.secretsOnly, func(c string) bool { return c == tc.credential.Reveal() })
			if got.ID != tc.want || got.IsSecret != strings.HasPrefix(got.ID, "s") || found != (tc.want != "") {
				t.Errorf("%s at %s, secrets only %v: got %+v, found %v, want %q", tc.credential.Reveal(), tc.at, tc.secretsOnly,
					got, found, tc.want)
			}
		}
	}
	for i, want := range []int{4, 1, 1} {
		if i == 0 {
			keyring.Verify(now, false, func(c string) bool { return c == "key one" })
		}
		tried := 0
		keyring.Verify(now, false, func(c string) bool { tried++; return c == "secret two" })
		if tried != want {
			t.Errorf("call %d: got %d credentials tried, want %d: the last one found comes first", i, tried, want)
		}
	}
	if _, found := (&Keyring{}).Verify(now, false, func(string) bool { return true }); found {
		t.Error("Verify of an empty keyring: got found, want not found")
	}
}
