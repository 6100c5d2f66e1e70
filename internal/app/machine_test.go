package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/doctor"
	"parley/internal/testkit"
)

// A start that leaves the media address at this machine, while pages are reached elsewhere, is in the log
// once, in the metrics and in the overview, with the setting to change. The usual start has no finding.
func TestStart_UnreachableMedia(t *testing.T) {
	const id = "finding=node_ip"
	t.Run("a public URL elsewhere", func(t *testing.T) {
		s := startServer(t, func(cfg *config.Config) { cfg.PublicURL = "https://203.0.113.7" })
		get := func(path string) string { // its public URL leads elsewhere
			r, err := http.NewRequest(http.MethodGet, "http://"+s.app.Listener.Addr().String()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.AdminToken)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			text, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		testkit.Eventually(t, "a finding in the overview", func() bool {
			return strings.Contains(get("/api/manage/overview"), `"node_ip"`)
		})
		if metric := `parley_doctor_findings{finding="node_ip",level="error"} 1`; !strings.Contains(get("/metrics"), metric) {
			t.Errorf("got the metrics %s, want %s", get("/metrics"), metric)
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(s.log.String()) {
			if !strings.Contains(line, id) {
				continue
			}
			lines++
			for _, want := range []string{"level=ERROR", "--rtc-node-ip", "127.0.0.1", "203.0.113.7"} {
				if !strings.Contains(line, want) {
					t.Errorf("got %q, want %s in it", line, want)
				}
			}
		}
		if lines != 1 {
			t.Errorf("got the finding %d times in the log, want once", lines)
		}
	})
	t.Run("this machine only", func(t *testing.T) {
		s := startServer(t, nil)
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.log.String(), "finding=") {
			t.Errorf("got %q, want no finding", s.log.String())
		}
	})
}

// findingIDs returns the IDs of the findings that an operator sees, out of some.
func findingIDs(m *machine, some ...string) (found []string) {
	for _, f := range m.last() {
		if slices.Contains(some, f.ID) {
			found = append(found, f.ID)
		}
	}
	return found
}

// When nobody of many participants uses UDP, that is a finding until somebody of the next ones does.
func TestMachine_Participants(t *testing.T) {
	s := startServer(t, nil)
	m := s.app.machine
	for i, step := range []struct {
		connection string
		people     int
		want       []string
	}{
		{"tcp", 19, nil}, {"turn", 1, []string{"udp_unused"}}, {"udp", 19, []string{"udp_unused"}}, {"udp", 1, nil},
	} {
		for range step.people {
			s.app.metrics.Media.Left("room", s.app.metrics.Media.Joined("room", step.connection, 0))
		}
		m.check(t.Context())
		if got := findingIDs(m, "udp_unused"); !slices.Equal(got, step.want) {
			t.Errorf("step %d: got the findings %v, want %v", i, got, step.want)
		}
	}
	m.periodEnd = time.Now().Add(-25 * time.Hour)
	m.ofParticipants = []doctor.Finding{{ID: "udp_unused"}}
	m.check(t.Context())
	if got := findingIDs(m, "udp_unused"); len(got) > 0 {
		t.Errorf("after a day without participants: got the findings %v, want none", got)
	}
}

// What may be due to a moment, such as the start of a proxy, is a finding when it is found twice.
func TestMachine_Transient(t *testing.T) {
	var starting atomic.Bool
	starting.Store(true)
	s := startServer(t, nil)
	server := s.app.Listener.Addr().String()
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: server}) },
		ModifyResponse: func(r *http.Response) error {
			if starting.Load() {
				r.StatusCode, r.Body = http.StatusNotFound, http.NoBody
			}
			return nil
		},
	})
	defer proxy.Close()
	m := s.app.machine
	m.cfg.PublicURL = proxy.URL
	for i, want := range [][]string{nil, {"public_url"}, {"public_url"}} {
		if m.check(t.Context()); !slices.Equal(findingIDs(m, "public_url"), want) {
			t.Errorf("check %d: got the findings %v, want %v", i, findingIDs(m, "public_url"), want)
		}
	}
	starting.Store(false)
	if m.check(t.Context()); len(findingIDs(m, "public_url")) > 0 {
		t.Error("after the start: got the finding, want none")
	}
}
