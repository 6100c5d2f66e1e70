package manage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/internal/conncheck"
)

// A check has a URL with a code, and shows what the machine that used the code has found.
func testConnectionChecks(t *testing.T, b *fixture) {
	b.t = t
	created := b.mustCall("POST", "/connection-checks", nil)
	id, _ := created["check_id"].(string)
	code, found := strings.CutPrefix(created["url"].(string), "https://meet.example.org/check#")
	if !found || len(code) < 20 || created["expires_at"] == "" {
		t.Fatalf("got the check %v, want one with a code in its URL and an end", created)
	}
	b.secrets = append(b.secrets, code)
	expect := func(state string, paths ...any) {
		t.Helper()
		c := b.mustCall("GET", "/connection-checks/"+id, nil)
		if diff := cmp.Diff(append([]any{}, paths...), c["paths"]); c["state"] != state || diff != "" {
			t.Errorf("got the check %v, want the state %s; paths (-want +got):\n%s", c, state, diff)
		}
	}
	expect("waiting")
	key, err := b.checks.Start(t.Context(), code)
	must(t, err)
	expect("running")
	must(t, b.checks.Finish(t.Context(), key.Reveal(), conncheck.Paths{
		{Name: "udp", Offered: true, Address: "203.0.113.7:7882"}, {Name: "turn_tls"}}))
	expect("finished", m{"path": "udp", "offered": true, "works": false, "address": "203.0.113.7:7882"},
		m{"path": "turn_tls", "offered": false, "works": false})
	b.assertError("GET", "/connection-checks/"+unknownID, nil, 404, "check_not_found", noCheck)
}
