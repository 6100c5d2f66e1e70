package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/internal/doctor"
)

// The flag --slow also checks the proxy of a server on another machine, and is refused where it would have no effect.
func TestDoctor_Slow(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case doctor.LivePath:
			_ = json.NewEncoder(w).Encode(doctor.Live{Status: "ok", Upgrade: true})
		case doctor.QuietPath: // a proxy that closes the WebSocket at once
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_ = conn.Close()
		default:
			_, _ = fmt.Fprint(w, `{"status":"ok"}`)
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		name           string
		flags          []string
		status         int
		output, errors string // parts
	}{
		{"a server elsewhere", []string{s.URL}, exitOK, "ok       public_address: ", ""},
		{"its proxy", []string{s.URL, "--slow"}, exitError, "ERROR    proxy_idle: ", ""},
		{"an invitation", []string{"--invite", "--slow"}, exitUsage, "", "--slow has no effect with --invite"},
	} {
		var out, errs bytes.Buffer
		status := Main(t.Context(), append([]string{"doctor", "--data-dir", t.TempDir()}, c.flags...), nil, &out, &errs)
		if status != c.status || !strings.Contains(out.String(), c.output) || !strings.Contains(errs.String(), c.errors) {
			t.Errorf("%s: got status %d, the output %q and the errors %q, want %d, %q and %q", c.name, status, &out, &errs,
				c.status, c.output, c.errors)
		}
	}
}
