package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"parley/internal/config"
	"parley/internal/testkit"
)

// The certificates of localhost and 127.0.0.1 that this process trusts, as if a public authority had issued them.
var trusted, trustedSoon testkit.Certificate // the second one expires soon

// TestMain creates the certificates. A process reads the file with its authorities once.
func TestMain(m *testing.M) {
	var errs [4]error
	trusted, errs[0] = testkit.MakeCertificate(1, time.Now().Add(90*24*time.Hour))
	trustedSoon, errs[1] = testkit.MakeCertificate(2, time.Now().Add(24*time.Hour))
	dir, err := os.MkdirTemp("", "parley-doctor-")
	if err == nil {
		file := filepath.Join(dir, "authorities.pem")
		errs[2] = os.WriteFile(file, slices.Concat(trusted.CertPEM, trustedSoon.CertPEM), 0o600)
		errs[3] = os.Setenv("SSL_CERT_FILE", file)
	}
	status := 1
	if err = errors.Join(append(errs[:], err)...); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// newConfig returns the settings of a server on a machine where everything is fine.
func newConfig(t *testing.T) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir, cfg.MaxConnections, cfg.Listen = t.TempDir(), 10, "127.0.0.1:0"
	cfg.RTCNodeIP, cfg.RTCUDPPort = "127.0.0.1", testkit.FreeUDPPort(t)
	return cfg
}

// check is one check, as Run runs it.
type check func(context.Context, config.Config) Result

// findings returns the findings of a check by their IDs, the first one of each.
func (c check) findings(t *testing.T, cfg config.Config) map[string]Finding {
	t.Helper()
	result := runCheck(t.Context(), cfg, c)
	if result.Detail == "" && result.Unknown == "" && len(result.Findings) == 0 {
		t.Errorf("got the result %+v, want an outcome", result)
	}
	all := make(map[string]Finding)
	for _, f := range result.Findings {
		if f.Text == "" || f.Change == "" || f.Level == "" || strings.ContainsAny(f.Text+f.Change, "\n") {
			t.Errorf("got the finding %+v, want a sentence and a line to change", f)
		}
		if _, known := all[f.ID]; !known {
			all[f.ID] = f
		}
	}
	return all
}

// serveDNS answers questions about one name on 127.0.0.1 with its addresses, and says of all others that
// they do not exist. All look-ups of this process use it until the test ends.
func serveDNS(t *testing.T, name string, addresses ...string) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for b := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			question := m.Questions[0]
			if question.Name.String() != name+"." {
				m.RCode = dnsmessage.RCodeNameError
			}
			for _, address := range addresses {
				var record dnsmessage.ResourceBody
				switch ip := netip.MustParseAddr(address); {
				case m.RCode != dnsmessage.RCodeSuccess:
				case question.Type == dnsmessage.TypeA && ip.Is4():
					record = &dnsmessage.AResource{A: ip.As4()}
				case question.Type == dnsmessage.TypeAAAA && ip.Is6():
					record = &dnsmessage.AAAAResource{AAAA: ip.As16()}
				}
				if record != nil {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class, TTL: 60},
						Body:   record,
					})
				}
			}
			if response, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(response, from)
			}
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = conn.Close()
	})
}

// healthyText is the response of a site that can take work.
const healthyText = `{"status":"ok"}`

// site is a server at one URL on localhost whose certificate and responses a test changes.
type site struct {
	URL         string
	certificate atomic.Pointer[tls.Certificate]
	text        atomic.Pointer[string]
}

// startSite starts a site that responds as Parley with a status of its health, in JSON. With another text it responds
// to everything with it. Without a certificate it is HTTP.
func startSite(t *testing.T, certificate *tls.Certificate, text string) *site {
	t.Helper()
	var s site
	s.certificate.Store(certificate)
	s.text.Store(&text)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := *s.text.Load()
		if r.URL.Path == LivePath && strings.HasPrefix(text, "{") {
			_ = json.NewEncoder(w).Encode(Live{Status: "ok", Upgrade: true})
			return
		}
		_, _ = fmt.Fprint(w, text)
	}))
	if certificate == nil {
		server.Start()
	} else {
		server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return &tls.Config{Certificates: []tls.Certificate{*s.certificate.Load()}}, nil
		}}
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	s.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return &s
}

// respondHealthy responds as a Parley server that can take work.
func respondHealthy(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == LivePath {
		_ = json.NewEncoder(w).Encode(Live{Status: "ok", Upgrade: true})
		return
	}
	_, _ = fmt.Fprint(w, healthyText)
}

// living returns the URL of a server that is healthy, with a response of its own at LivePath.
func living(t *testing.T, live Live) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == LivePath {
			_ = json.NewEncoder(w).Encode(live)
			return
		}
		_, _ = fmt.Fprint(w, `{"status":"ok"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// proxied returns the URL of a server on localhost with a response of its own to all requests.
func proxied(t *testing.T, status int, location string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}
