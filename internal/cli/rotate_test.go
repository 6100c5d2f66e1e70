package cli

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestKeyList_Callers lists the recent callers with each key, in the text and in the JSON, and in the text those with
// the project secrets.
func TestKeyList_Callers(t *testing.T) {
	t.Parallel()
	const keys = `{"keys":[
		{"id":"k2","api_key":"pk_new…2222","status":"active","created_at":"2026-11-24T08:00:00Z","recent_callers":[]},
		{"id":"k1","api_key":"pk_old…1111","status":"retiring","created_at":"2026-11-01T08:00:00Z","recent_callers":[
			{"address":"192.0.2.1","user_agent":"app/1","at":"2026-11-24T11:00:00Z"},
			{"address":"192.0.2.2","user_agent":"nightly job/1","at":"2026-11-24T02:00:00Z"}]}],
		"secret_callers":[{"address":"192.0.2.3","user_agent":"app/2","at":"2026-11-24T10:00:00Z"}],
		"old_secret_callers":[{"address":"192.0.2.4","user_agent":"","at":"2026-11-24T01:00:00Z"}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(keys))
	}))
	t.Cleanup(server.Close)
	list := func(flags ...string) string {
		t.Helper()
		var out, errs strings.Builder
		const id = "0192f0c1-2d3e-7a4b-8c5d-6e7f8091a2b3"
		args := append([]string{"key", "list", id, "--url", server.URL, "--token", "pt_x"}, flags...)
		if status := Main(t.Context(), args, nil, &out, &errs); status != exitOK {
			t.Fatalf("%v: got status %d, %s, want %d", args, status, errs.String(), exitOK)
		}
		return out.String()
	}
	text := list()
	var rows []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "pk_old…1111  retiring  192.0.2.") {
			rows = append(rows, strings.Join(strings.Fields(line)[2:4], " "))
		}
	}
	if want := []string{"192.0.2.1 app/1", "192.0.2.2 nightly"}; !slices.Equal(rows, want) {
		t.Errorf("got the callers %v, want %v, in\n%s", rows, want, text)
	}
	const secrets = `
PROJECT SECRET  USED BY    USER AGENT  LAST
current         192.0.2.3  app/2       2026-11-24 10:00:00 UTC
old             192.0.2.4  -           2026-11-24 01:00:00 UTC
`
	if !strings.HasSuffix(text, secrets) {
		t.Errorf("got\n%s\nwant at its end%s", text, secrets)
	}
	text = list("--json")
	if !strings.HasPrefix(text, "[") || !strings.Contains(text, `"user_agent": "nightly job/1"`) {
		t.Errorf("got the JSON %s, want an array of the keys with both callers", text)
	}
}
