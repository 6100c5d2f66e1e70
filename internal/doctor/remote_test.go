package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
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
		report, err := RunRemote(t.Context(), url, "")
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
	if got := ids(MediaResults(tried)); !slices.Equal(got, want) {
		t.Errorf("without media: got the findings %v, want %v", got, want)
	}
	for i := range tried {
		tried[i].Works = true
	}
	if got := ids(MediaResults(tried)); len(got) > 0 {
		t.Errorf("with media: got the findings %v, want none", got)
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
	_, err := RunRemote(t.Context(), s.URL, "code")
	if err == nil || err.Error() != "the server responds with status 307" || followed != 0 {
		t.Errorf("got the error %v and %d requests to the other server, want the status 307 and none", err, followed)
	}
}
