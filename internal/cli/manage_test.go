package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A read that exceeds the rate limit of an integrator's token is repeated when the server says. A change and a call
// with another refusal are not.
func TestManager_WaitsForRateLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    []string
		code    string
		refused int // calls that are refused
		calls   int
		status  int
	}{
		"read":             {[]string{"room", "list"}, "rate_limited", 1, 2, exitOK},
		"change":           {[]string{"room", "end", "01890000-0000-7000-8000-000000000000", "--yes"}, "rate_limited", 1, 1, exitError},
		"too many guesses": {[]string{"room", "list"}, "too_many_attempts", 1, 1, exitError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls++; calls > c.refused {
					_, _ = w.Write([]byte(`{"rooms":[]}`))
					return
				}
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = w.Write([]byte(`{"error":{"code":"` + c.code + `","message":"too many calls, try again later"}}`))
			}))
			defer server.Close()
			var out, errs bytes.Buffer
			status := Main(t.Context(), append(c.args, "--url", server.URL, "--token", "pt_test"), nil, &out, &errs)
			if status != c.status || calls != c.calls ||
				status != exitOK && !strings.Contains(errs.String(), "too many calls, try again later") {
				t.Errorf("got status %d after %d calls and %q, want status %d after %d calls", status, calls, errs.String(),
					c.status, c.calls)
			}
		})
	}
}
