package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCalls_ByCause counts the rejected calls of all pages.
func TestCalls_ByCause(t *testing.T) {
	t.Parallel()
	const quick, keys = `"route":"/api/v4/rooms/create_quick_audio_room"`, `"route":"/api/v5/keys"`
	pages := map[string]string{
		"": `{"next_cursor":"c1","calls":[
			{"at":"2026-11-24T11:00:00.500Z","cause":"bad_signature","status":401,` + quick + `},
			{"at":"2026-11-24T10:00:00.000Z","cause":"invalid_request","status":400,` + quick + `}]}`,
		"c1": `{"next_cursor":"c2","calls":[]}`,
		"c2": `{"calls":[
			{"at":"2026-11-24T09:00:00.000Z","cause":"bad_signature","status":401,` + keys + `},
			{"at":"2026-11-24T08:00:00.000Z","cause":"bad_signature","status":401,` + quick + `}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("status") != "rejected" || q.Get("version") != "backend" {
			t.Errorf("got the query %s, want the filters, and only rejected calls", r.URL.RawQuery)
		}
		_, _ = w.Write([]byte(pages[q.Get("cursor")]))
	}))
	t.Cleanup(server.Close)
	for name, tc := range map[string]struct {
		format []string
		want   string
	}{
		"text": {want: `
CALLS  CAUSE            ROUTE                                  STATUS  FIRST                    LAST
2      bad_signature    /api/v4/rooms/create_quick_audio_room  401     2026-11-24 08:00:00 UTC  2026-11-24 11:00:00 UTC
1      bad_signature    /api/v5/keys                           401     2026-11-24 09:00:00 UTC  2026-11-24 09:00:00 UTC
1      invalid_request  /api/v4/rooms/create_quick_audio_room  400     2026-11-24 10:00:00 UTC  2026-11-24 10:00:00 UTC
`},
		"CSV": {format: []string{"--csv"}, want: `
cause,route,status,calls,first_at,last_at
bad_signature,/api/v4/rooms/create_quick_audio_room,401,2,2026-11-24T08:00:00.000Z,2026-11-24T11:00:00.500Z
bad_signature,/api/v5/keys,401,1,2026-11-24T09:00:00.000Z,2026-11-24T09:00:00.000Z
invalid_request,/api/v4/rooms/create_quick_audio_room,400,1,2026-11-24T10:00:00.000Z,2026-11-24T10:00:00.000Z
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs strings.Builder
			args := append([]string{"calls", "--by", "cause", "--version", "backend", "--url", server.URL, "--token", "pt_x"},
				tc.format...)
			if status := Main(t.Context(), args, nil, &out, &errs); status != exitOK {
				t.Fatalf("%v: got status %d, %s, want %d", args, status, errs.String(), exitOK)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), out.String()); diff != "" {
				t.Errorf("%v: (-want +got)\n%s", args, diff)
			}
		})
	}
}
