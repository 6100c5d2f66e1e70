package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/media"
)

// Another machine finds no server, or no media, until the line of the finding was applied.
func TestRemote_Unreachable(t *testing.T) {
	ids := func(results []Result) (found []string) {
		for _, r := range results {
			for _, f := range r.Findings {
				found = append(found, f.ID)
				if strings.Contains(f.Change, "this machine") {
					t.Errorf("%s: got the change %q, want nothing to change on the other machine", f.ID, f.Change)
				}
			}
		}
		return found
	}
	remote := func(url string) []string {
		t.Helper()
		report, err := RunRemote(t.Context(), url, "", false)
		if err != nil {
			t.Fatal(err)
		}
		return ids(report.Checks)
	}
	if got := remote("http://127.0.0.1:1"); !slices.Equal(got, []string{"public_unreachable"}) {
		t.Errorf("without a server: got the findings %v, want public_unreachable", got)
	}
	// Like every server that it checks, not this machine. No connection to a multicast address succeeds.
	serveDNS(t, "meet.example.test", "233.252.0.1")
	if got := remote("https://meet.example.test"); !slices.Equal(got, []string{"public_unreachable"}) {
		t.Errorf("without a server at a host name: got the findings %v, want public_unreachable", got)
	}
	if got := remote("https://nobody.example.test"); !slices.Equal(got, []string{"public_dns"}) {
		t.Errorf("with an unknown host name: got the findings %v, want public_dns", got)
	}
	if got := remote(living(t, Live{Status: "ok", Upgrade: true})); len(got) > 0 {
		t.Errorf("with a server: got the findings %v, want none", got)
	}

	var tried []Tried
	for _, p := range mediaPaths {
		tried = append(tried, Tried{Path: string(p.path), Offered: true, Address: "203.0.113.7:443"})
	}
	want := []string{"udp_unreachable", "ice_tcp_unreachable", "turn_tcp_unreachable", "turn_tls_unreachable",
		"media_unreachable"}
	if got := ids(MediaResults(tried, nil)); !slices.Equal(got, want) {
		t.Errorf("without media: got the findings %v, want %v", got, want)
	}
	for i := range tried {
		tried[i].Works = true
	}
	if got := ids(MediaResults(tried, nil)); len(got) > 0 {
		t.Errorf("with media: got the findings %v, want none", got)
	}
}

// A server that could not open its ports for media has others, which are new at each start, so nobody opens them in a
// firewall. The other machine knows that from /healthz, and the operator from the findings of the running server.
func TestRemote_UnopenedPorts(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, `{"status":"ok","media":"ok","media_udp":"unavailable","media_tcp":"unavailable"}`)
	}))
	defer s.Close()
	cfg := newConfig(t)
	cfg.PublicURL = s.URL
	server := MediaPortFindings(config.Config{TLSCertFile: "cert", RTCTCPPort: 7881}, []*media.PortError{
		{Setting: "--rtc-udp-port (PARLEY_RTC_UDP_PORT)", Protocol: "UDP", Port: 7882, Err: syscall.EADDRINUSE},
		{Setting: "--rtc-tcp-port (PARLEY_RTC_TCP_PORT)", Protocol: "TCP", Port: 7881, Err: syscall.EADDRINUSE},
	})
	tried := []Tried{{Path: "udp", Offered: true, Address: "203.0.113.7:43211"}, {Path: "ice_tcp"},
		{Path: "turn_tcp", Offered: true, Works: true, Address: "meet.example.org:443"}}
	for name, results := range map[string][]Result{
		"the other machine": mediaResults(tried, unopenedOf(readHealth(t.Context(), cfg))),
		"the operator":      MediaResults(tried, server),
	} {
		if len(results) != len(tried) || results[2].Detail == "" {
			t.Errorf("%s: got the results %+v, want one of each path", name, results)
			continue
		}
		for i, setting := range []string{"--rtc-udp-port", "--rtc-tcp-port"} {
			id := mediaPaths[i].finding
			want := "Free the port of " + setting + ", or choose another one, and restart the server (parley doctor there names " +
				"the port)."
			if f := results[i].Findings; len(f) != 1 || f[0].ID != id || f[0].Change != want ||
				strings.Contains(f[0].Text, "43211") {
				t.Errorf("%s: got the findings %+v, want %s with the change %q", name, f, id, want)
			}
		}
	}
	for _, result := range MediaResults(tried[:1], nil) {
		if f := result.Findings; len(f) != 1 || !strings.Contains(f[0].Change, "Open UDP port 43211") {
			t.Errorf("without findings of the server: got the findings %+v, want udp_unreachable with the port", f)
		}
	}
}

// The time in the responses of a server whose clock is wrong is found, and not found once its clock is right.
func TestRemote_ServerClock(t *testing.T) {
	offset := -time.Minute
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(offset).UTC().Format(http.TimeFormat))
	}))
	defer s.Close()
	cfg, run := newConfig(t), check(checkServerClock)
	cfg.PublicURL = s.URL
	if f := run.findings(t, cfg)["server_clock"]; f.Level != Warning || !strings.Contains(f.Text, "by -6") {
		t.Errorf("a minute behind: got the finding %+v, want server_clock with the difference", f)
	}
	offset = 0
	if after := run.findings(t, cfg); len(after) > 0 {
		t.Errorf("with the right clock: got the findings %v, want none", after)
	}
}

// The code of a check is not sent to another server to which this one redirects.
func TestRemote_IgnoresRedirects(t *testing.T) {
	followed := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed++ }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			http.Redirect(w, r, other.URL+r.RequestURI, http.StatusTemporaryRedirect)
		case r.URL.Path == LivePath:
			_ = json.NewEncoder(w).Encode(Live{Status: "ok", Upgrade: true})
		default:
			_, _ = fmt.Fprint(w, `{"status":"ok"}`)
		}
	}))
	defer s.Close()
	_, err := RunRemote(t.Context(), s.URL, "code", false)
	if err == nil || err.Error() != "the server responds with status 307" || followed != 0 {
		t.Errorf("got the error %v and %d requests to the other server, want the status 307 and none", err, followed)
	}
}
