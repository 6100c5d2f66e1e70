package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A deletion after which the files still contain the deleted text ends with exit status 1 and says what happens next,
// also with JSON.
func TestDeletion_CompactionFails(t *testing.T) {
	t.Parallel()
	var compaction string
	erased := `{"rooms":1}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"usage_hours":2,"erased":` + erased + `,"erased_at":"2027-03-01T12:00:00Z",` +
			`"compaction":"` + compaction + `"}`))
	}))
	t.Cleanup(server.Close)
	for _, command := range []string{"person erase " + noID + " --user-id ada", "org delete " + noID} {
		for _, flag := range []string{"", " --json"} {
			for _, compaction = range []string{"done", "running", "failed", "later"} {
				var out, errs strings.Builder
				args := strings.Fields(command + flag + " --url " + server.URL + " --token pt_x")
				status := Main(t.Context(), args, nil, &out, &errs)
				wantStatus, wantError := exitOK, ""
				if compaction == "failed" {
					wantStatus, wantError = exitError, "the server tries again by itself"
				}
				wantOut := "2027-03-01"
				switch {
				case flag != "":
					wantOut = `"compaction": "` + compaction + `"`
				case strings.HasPrefix(command, "org"):
					wantOut = "usage hours"
				}
				if status != wantStatus || !strings.Contains(errs.String(), wantError) || wantError == "" && errs.Len() > 0 ||
					!strings.Contains(out.String(), wantOut) {
					t.Errorf("%s%s after %q: got status %d, output %q, errors %q, want %d, %q, %q", command, flag, compaction, status,
						out.String(), errs.String(), wantStatus, wantOut, wantError)
				}
			}
		}
	}
	erased, compaction = "{}", "failed" // the person was erased before
	var out, errs strings.Builder
	args := strings.Fields("person erase " + noID + " --user-id ada --url " + server.URL + " --token pt_x")
	status := Main(t.Context(), args, nil, &out, &errs)
	if status != exitError || !strings.HasPrefix(errs.String(), "parley: nothing was left to erase, but the compaction") {
		t.Errorf("an erased person: got status %d and %q, want %d and that nothing was left", status, &errs, exitError)
	}
}
