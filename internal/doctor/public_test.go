package doctor

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"parley/internal/config"
)

// A name that leads to another machine is no finding if this server responds there, as behind a router or a load
// balancer. Here the proxy of HTTP_PROXY connects the other address with a server. A process reads that variable
// once, so the check has a process of its own.
func TestCheckPublicAddress_AnswersElsewhere(t *testing.T) {
	const own = "PARLEY_TEST_OWN_PROCESS"
	if os.Getenv(own) == "" {
		forward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host != "meet.example.test" {
				http.Error(w, "no such host", http.StatusBadGateway)
				return
			}
			if r.URL.Path == LivePath {
				_ = json.NewEncoder(w).Encode(Live{Status: "ok", Upgrade: true})
				return
			}
			_, _ = fmt.Fprint(w, `{"status":"ok"}`)
		}))
		defer forward.Close()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), own+"=1", "HTTP_PROXY="+forward.URL, "http_proxy="+forward.URL, "NO_PROXY=",
			"no_proxy=")
		output, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
			t.Errorf("in its own process: got %v, want a pass; its output:\n%s", err, output)
		}
		return
	}
	serveDNS(t, "meet.example.test", "203.0.113.7")
	cfg := newConfig(t)
	cfg.PublicURL = "http://meet.example.test"
	result := runCheck(t.Context(), cfg, checkPublicAddress)
	if want := cfg.PublicURL + " responds"; len(result.Findings) > 0 || result.Detail != want {
		t.Errorf("got %+v, want %q", result, want)
	}
	cfg.PublicURL = "https://meet.example.test:9" // the proxy does not forward TLS
	if f := check(checkPublicAddress).findings(t, cfg)["public_dns_elsewhere"]; !strings.Contains(f.Text, "203.0.113.7") {
		t.Errorf("without a response: got the finding %+v, want public_dns_elsewhere with the address", f)
	}
}

// A proxy that waits for longer than meetings are quiet interrupts only the console, which is quiet for 14 seconds.
func TestIdleResult(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]Finding{
		5 * time.Second:  {Level: Error, Text: "nothing is sent for 5s, so meetings are interrupted."},
		10 * time.Second: {Level: Error, Text: "nothing is sent for 10s, so meetings are interrupted."},
		12 * time.Second: {Level: Warning, Text: "nothing is sent for 12s, so the pages of the console are interrupted."},
	} {
		result := idleResult("https://meet.example.org", after)
		if len(result.Findings) != 1 {
			t.Fatalf("after %s: got the result %+v, want one finding", after, result)
		}
		if f := result.Findings[0]; f.ID != "proxy_idle" || f.Level != want.Level || !strings.HasSuffix(f.Text, want.Text) {
			t.Errorf("after %s: got the finding %+v, want proxy_idle, %s, with the text %q", after, f, want.Level, want.Text)
		}
	}
	if QuietTime <= 14*time.Second {
		t.Errorf("got the time of the check %s, want longer than the streams of the management API are quiet", QuietTime)
	}
}

// A name that leads to an address of this machine, an announced one or that of a trusted proxy is no finding while
// nothing responds there.
func TestCheckPublicAddress_Here(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		change  func(*config.Config)
		want    bool
	}{
		"another machine":      {"203.0.113.7", func(*config.Config) {}, true},
		"announced":            {"203.0.113.7", func(cfg *config.Config) { cfg.RTCNodeIP = "203.0.113.7" }, false},
		"a trusted proxy":      {"203.0.113.7", func(cfg *config.Config) { cfg.TrustedProxies = []string{"203.0.113.0/24"} }, false},
		"another proxy":        {"203.0.113.7", func(cfg *config.Config) { cfg.TrustedProxies = []string{"203.0.112.0/24"} }, true},
		"this machine":         {ownAddress(t), func(*config.Config) {}, false},
		"this machine by name": {"127.0.1.1", func(*config.Config) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			serveDNS(t, "meet.example.test", c.address)
			cfg := newConfig(t)
			cfg.PublicURL = "https://meet.example.test:9"
			c.change(&cfg)
			found := check(checkPublicAddress).findings(t, cfg)
			if _, got := found["public_dns_elsewhere"]; got != c.want {
				t.Errorf("got the findings %v, want public_dns_elsewhere %t", found, c.want)
			}
		})
	}
}

// ownAddress returns an IPv4 address of this machine that is not of the loopback, if there is one.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}
