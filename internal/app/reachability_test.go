package app

import (
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
