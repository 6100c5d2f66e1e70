package config

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"parley/internal/seal"
)

func TestBaseURL_Sources(t *testing.T) {
	for _, c := range []struct{ publicURL, listen, bound, want string }{
		{"", "127.0.0.1:8080", "", "http://127.0.0.1:8080"},
		{"", "127.0.0.1:0", "127.0.0.1:40123", "http://127.0.0.1:40123"},
		{"", "0.0.0.0:8080", "", "http://localhost:8080"},
		{"", "[::]:8080", "[::]:8080", "http://localhost:8080"},
		{"", ":8080", "[::]:8080", "http://localhost:8080"},
		{"", ":80", "", "http://localhost"},
		{"", "[::1]:8080", "", "http://[::1]:8080"},
		{"", "[::1]:80", "", "http://[::1]"},
		{"", "nonsense", "", "http://localhost"},
		{"https://meet.example.org", "0.0.0.0:8080", "0.0.0.0:8080", "https://meet.example.org"},
		{"HTTPS://Meet.Example.org:443/", "", "", "https://meet.example.org"},
		{"http://meet.example.org:443", "", "", "http://meet.example.org:443"},
		{"https://[2001:db8::1]:8443", "", "", "https://[2001:db8::1]:8443"},
		{"https://[2001:db8::1]", "", "", "https://[2001:db8::1]"},
	} {
		cfg := Config{PublicURL: c.publicURL, Listen: c.listen}
		if got := cfg.BaseURL(c.bound); got != c.want {
			t.Errorf("public URL %q, listen %q, bound %q: got %s, want %s", c.publicURL, c.listen, c.bound, got, c.want)
		}
	}
}

// A single process has no other node to which it could hand over its meetings.
func TestDrainTime(t *testing.T) {
	cfg := Config{StopWithin: Duration(time.Minute)}
	if got := cfg.DrainTime(); got != 0 {
		t.Errorf("without Redis: got %s, want 0s", got)
	}
	cfg.RedisURL = "redis://cache"
	if got := cfg.DrainTime(); got != time.Minute {
		t.Errorf("with Redis: got %s, want 1m", got)
	}
}

func TestNodeIPs_Sources(t *testing.T) {
	for _, c := range []struct{ nodeIP, listen, want string }{
		{"", "127.0.0.1:8080", "[127.0.0.1]"},
		{"", "localhost:8080", "[127.0.0.1]"},
		{"", "[2001:db8::1]:8080", "[2001:db8::1]"},
		{"", "[::ffff:192.0.2.1]:8080", "[192.0.2.1]"},
		{"", "0.0.0.0:8080", "[]"},
		{"", "[::]:8080", "[]"},
		{"", ":8080", "[]"},
		{"", "meet.example.org:8080", "[]"},
		{"", "nonsense", "[]"},
		{"203.0.113.7", "127.0.0.1:8080", "[203.0.113.7]"},
		{"203.0.113.7, 2001:db8::7", "127.0.0.1:8080", "[203.0.113.7 2001:db8::7]"},
		{"2001:DB8::7,::ffff:203.0.113.7", "127.0.0.1:8080", "[2001:db8::7 203.0.113.7]"},
	} {
		cfg := Config{RTCNodeIP: c.nodeIP, Listen: c.listen}
		if got := fmt.Sprint(cfg.NodeIPs()); got != c.want {
			t.Errorf("node IP %q, listen %q: got %s, want %s", c.nodeIP, c.listen, got, c.want)
		}
	}
}

func TestTrustedPrefixes_Forms(t *testing.T) {
	c := Config{TrustedProxies: []string{" 10.1.2.3/8 ", "192.0.2.1", "", "2001:db8::1",
		"::ffff:10.0.0.0/104", "::ffff:192.0.2.9"}}
	got, err := c.TrustedPrefixes()
	want := "[10.0.0.0/8 192.0.2.1/32 2001:db8::1/128 10.0.0.0/8 192.0.2.9/32]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

func TestLocation_EmbeddedZoneData(t *testing.T) {
	t.Setenv("ZONEINFO", filepath.Join(t.TempDir(), "none.zip"))
	c := Config{SchedulingTimezone: "Europe/Berlin"}
	if zone, err := c.Location(); err != nil || zone.String() != "Europe/Berlin" {
		t.Errorf("got %v, %v, want Europe/Berlin", zone, err)
	}
}

func TestLevel_Names(t *testing.T) {
	for text, want := range map[string]slog.Level{"debug": slog.LevelDebug, "error": slog.LevelError,
		"warn": slog.LevelWarn, "loud": slog.LevelInfo} {
		c := Config{LogLevel: text}
		if got := c.Level(); got != want {
			t.Errorf("log level %q: got %s, want %s", text, got, want)
		}
	}
}

func TestLoadMasterKey_FromFile(t *testing.T) {
	c := Config{Storage: Storage{DataDir: t.TempDir()}}
	if _, err := c.LoadMasterKey(false); err == nil {
		t.Error("load a missing key: got no error, want one")
	}
	made, err := c.LoadMasterKey(true)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := seal.LoadKeyFile(filepath.Join(c.DataDir, "master.key")); err != nil || read != made {
		t.Errorf("load the new key file: got %v, want the created key", err)
	}
}

func TestWebhookAllowed_Forms(t *testing.T) {
	c := Config{WebhookAllow: []string{" 10.1.2.3/8 ", "Hooks.Internal", "", "localhost", "fd00::1"}}
	prefixes, hosts, err := c.WebhookAllowed()
	const want = "[10.0.0.0/8 fd00::1/128] [hooks.internal localhost]"
	if err != nil || fmt.Sprint(prefixes, hosts) != want {
		t.Errorf("got %v %v, %v, want %s", prefixes, hosts, err, want)
	}
}
