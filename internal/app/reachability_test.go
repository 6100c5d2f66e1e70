package app

import (
	"net/netip"
	"strings"
	"testing"

	"parley/internal/config"
	"parley/internal/testkit"
)

// A start that leaves the media address at this machine, while pages are reached elsewhere, is
// told once with the setting. The usual start is told nothing.
func TestStart_UnreachableMedia(t *testing.T) {
	const warning = "--rtc-node-ip (PARLEY_RTC_NODE_IP)"
	t.Run("a public URL elsewhere", func(t *testing.T) {
		s := startServer(t, func(cfg *config.Config) { cfg.PublicURL = "https://203.0.113.7" })
		testkit.Eventually(t, "a warning that names the setting", func() bool {
			return strings.Contains(s.log.String(), warning)
		})
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, warning) && (!strings.Contains(line, "level=WARN") ||
				!strings.Contains(line, "127.0.0.1") || !strings.Contains(line, "https://203.0.113.7")) {
				t.Errorf("got %q, want a warning with the media address and the public URL", line)
			}
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.log.String(), warning); n != 1 {
			t.Errorf("got the warning %d times, want once", n)
		}
	})
	t.Run("this machine only", func(t *testing.T) {
		s := startServer(t, nil)
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.log.String(), warning) {
			t.Errorf("got %q, want no warning about the media address", s.log.String())
		}
	})
}

func TestIsUnreachable(t *testing.T) {
	t.Parallel()
	parse := func(text string) (ips []netip.Addr) {
		for _, part := range strings.Fields(text) {
			ips = append(ips, netip.MustParseAddr(part))
		}
		return ips
	}
	for _, tc := range []struct {
		name, announced, host string
		want                  bool
	}{
		{"this machine only", "127.0.0.1", "127.0.0.1 ::1", false},
		{"a proxy in front of loopback", "127.0.0.1", "203.0.113.7", true},
		{"a proxy in front of loopback, on a local network", "127.0.0.1", "192.168.1.4", true},
		{"loopback, and an unknown name", "127.0.0.1", "", true},
		{"a private address behind a public name", "10.0.0.4", "203.0.113.7 2001:db8::7", true},
		{"a private address, and an unknown name", "10.0.0.4", "", false},
		{"a local network", "192.168.1.4", "192.168.1.4", false},
		{"a name that is local on this machine", "192.168.1.4", "127.0.1.1", false},
		{"a public address", "203.0.113.7", "203.0.113.9", false},
		{"IPv6 is public", "10.0.0.4 2001:db8::7", "203.0.113.7", false},
		{"IPv4 in IPv6", "10.0.0.4", "::ffff:10.0.0.4", false},
	} {
		if got := isUnreachable(parse(tc.announced), parse(tc.host)); got != tc.want {
			t.Errorf("%s: got %t, want %t", tc.name, got, tc.want)
		}
	}
}
