package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAuditVerify_ProblemFails checks that a broken chain ends with exit status 1 and
// with the entry, with and without JSON.
func TestAuditVerify_ProblemFails(t *testing.T) {
	t.Parallel()
	const report = `{"ok":false,"rows":4,"n":9,"head":"abc",` +
		`"problem":{"n":5,"defect":"removed","message":"entry 5 was removed"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/manage/audit/verify" {
			t.Errorf("got the path %s", r.URL.Path)
		}
		_, _ = w.Write([]byte(report))
	}))
	t.Cleanup(server.Close)
	for flag, want := range map[string]string{"": "", "--json": `"defect": "removed"`} {
		var out, errs strings.Builder
		args := append([]string{"audit", "verify", "--url", server.URL, "--token", "pt_x"}, strings.Fields(flag)...)
		status := Main(t.Context(), args, nil, &out, &errs)
		if status != exitError || errs.String() != "parley: entry 5 was removed\n" || !strings.Contains(out.String(), want) ||
			want == "" && out.String() != "" {
			t.Errorf("%q: got status %d, output %q, error %q", flag, status, out.String(), errs.String())
		}
	}
}
