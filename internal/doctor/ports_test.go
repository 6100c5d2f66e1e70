package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/media"
)

// A port at which browsers and an ACME authority look for the server is not replaced by another one alone.
func TestSocketFindings_WellKnownPorts(t *testing.T) {
	t.Parallel()
	domain := config.Config{Listen: ":443", TLSDomain: []string{"meet.example.org"}}
	withURL := domain
	withURL.PublicURL = "https://meet.example.org"
	files := config.Config{Listen: ":443", PublicURL: "https://meet.example.org", TLSCertFile: "cert", TLSKeyFile: "key"}
	const (
		stop     = "Stop the program that has the port (sudo ss -ltnp), or "
		allow    = "AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit of systemd, or "
		forward  = "forward TCP port 443 unchanged to --listen :8443"
		redirect = "forward TCP port 80 to --http-listen :8080, or leave --http-listen out"
	)
	for _, c := range []struct {
		cfg           config.Config
		flag, address string
		err           error
		want          string
	}{
		{domain, "listen", ":443", syscall.EADDRINUSE, stop + forward + " and set --public-url https://meet.example.org"},
		{domain, "listen", ":443", syscall.EACCES, allow + forward + " and set --public-url https://meet.example.org"},
		{withURL, "listen", "203.0.113.7:443", syscall.EADDRINUSE, stop + forward},
		{files, "listen", ":443", syscall.EADDRINUSE, stop + forward},
		{domain, "listen", ":8443", syscall.EADDRINUSE, "--listen HOST:PORT, with a port that is free"},
		{domain, "http-listen", ":80", syscall.EADDRINUSE, stop + redirect},
		{domain, "http-listen", ":80", syscall.EACCES, allow + redirect},
		{domain, "metrics-listen", ":443", syscall.EADDRINUSE, "--metrics-listen HOST:PORT, with a port that is free"},
		{domain, "metrics-listen", ":90", syscall.EACCES, allow + "a port above 1023"},
	} {
		found := SocketFindings(c.cfg, []*instance.SocketError{{Flag: c.flag, Address: c.address, Err: c.err}})
		if len(found) != 1 || found[0].Change != c.want {
			t.Errorf("--%s %s, %v: got the findings %+v, want the change %q", c.flag, c.address, c.err, found, c.want)
		}
	}
}

// What people can still do without a port for media depends on the other ports and on TURN.
func TestMediaPortFindings_OtherPaths(t *testing.T) {
	t.Parallel()
	udp := &media.PortError{Setting: "--rtc-udp-port", Protocol: "UDP", Err: syscall.EADDRINUSE}
	tcp := &media.PortError{Setting: "--rtc-tcp-port", Protocol: "TCP", Err: syscall.EADDRINUSE}
	const (
		delay  = "warning: media uses TCP, with more delay."
		turn   = "warning: people whose network blocks UDP use TURN."
		silent = "warning: people whose network blocks UDP cannot hear anybody."
		direct = "error: people hear each other only if no firewall is between them and the server."
	)
	plain := config.Config{Listen: ":8080", TURN: true}
	files := config.Config{Listen: ":443", TURN: true, TLSCertFile: "cert", TLSKeyFile: "key"}
	separate := func(cfg config.Config, withTURN bool) config.Config {
		cfg.RTCTCPPort, cfg.TURN = 7881, withTURN
		return cfg
	}
	withoutTURN := files
	withoutTURN.TURN = false
	for name, c := range map[string]struct {
		cfg      config.Config
		failures []*media.PortError
		want     []string
	}{
		"one port":                             {plain, []*media.PortError{udp}, []string{direct}},
		"the other port":                       {separate(plain, true), []*media.PortError{udp}, []string{delay}},
		"TCP":                                  {separate(plain, true), []*media.PortError{tcp}, []string{silent}},
		"both ports":                           {separate(plain, true), []*media.PortError{udp, tcp}, []string{direct, silent}},
		"TLS":                                  {files, []*media.PortError{udp}, []string{delay}},
		"TLS without TURN":                     {withoutTURN, []*media.PortError{udp}, []string{delay}},
		"TLS and TCP":                          {separate(files, true), []*media.PortError{tcp}, []string{turn}},
		"TLS and both ports":                   {separate(files, true), []*media.PortError{udp, tcp}, []string{delay, turn}},
		"TLS without TURN, and TCP":            {separate(files, false), []*media.PortError{tcp}, []string{silent}},
		"TLS without TURN, and both ports":     {separate(files, false), []*media.PortError{udp, tcp}, []string{direct, silent}},
		"TLS without TURN, and the other port": {separate(files, false), []*media.PortError{udp}, []string{delay}},
	} {
		var got []string
		for _, f := range MediaPortFindings(c.cfg, c.failures) {
			_, effect, _ := strings.Cut(f.Text, "Without it, until the next start, ")
			got = append(got, string(f.Level)+": "+effect)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// While direct can tell whether the server runs, a port that it may have is no finding.
func TestCheckPorts_UnreadableLock(t *testing.T) {
	cfg := newConfig(t)
	occupyUDP(t, &cfg)
	lock := filepath.Join(cfg.DataDir, "parley.lock")
	if err := os.Symlink(lock, lock); err != nil { // also root cannot read it
		t.Fatal(err)
	}
	if result := runCheck(t.Context(), cfg, checkPorts); result.Unknown == "" || len(result.Findings) > 0 {
		t.Errorf("got the result %+v, want an unknown one", result)
	}
}
