package config

import (
	"encoding/base64"
	"testing"
)

func TestValues_Sources(t *testing.T) {
	file := writeFile(t, "listen: 127.0.0.1:9000\nclock_skew: 2m\nrtc_udp_port: 7000\n")
	c, err := load(t, []string{
		"PARLEY_CONFIG=" + file, "PARLEY_CLOCK_SKEW=3m", "PARLEY_RTC_UDP_PORT=7001",
		"PARLEY_DATABASE_URL=postgres://parley:hunter2@db.example.org/parley?sslpassword=hunter3",
		"PARLEY_OIDC_ISSUER=https://login.example.org", "PARLEY_OIDC_CLIENT_ID=parley", "PARLEY_OIDC_CLIENT_SECRET=//host/x",
		"PARLEY_REDIS_URL=redis://:hunter4@redis:6379", "PARLEY_MASTER_KEY=" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}, "--rtc-udp-port", "7002", "--webhook-allow", "10.0.0.0/8,hooks.internal", "--no-supervise")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Value{}
	for _, v := range c.Values() {
		got[v.Name] = v
	}
	for name, want := range map[string]struct {
		text   string
		source Source
	}{
		"config":        {file, FromEnvironment},
		"listen":        {"127.0.0.1:9000", FromFile},
		"clock_skew":    {"3m", FromEnvironment},
		"rtc_udp_port":  {"7002", FromFlag},
		"webhook_allow": {"10.0.0.0/8, hooks.internal", FromFlag},
		"supervise":     {"false", FromFlag},
		"public_url":    {"", FromDefault},
		"log_level":     {"info", FromDefault},
		"database_url":  {"postgres://parley@db.example.org/parley", FromEnvironment},
		"redis_url":     {"redis://redis:6379", FromEnvironment},
		"master_key":    {"set", FromEnvironment},

		"oidc_client_secret": {"set", FromEnvironment},
	} {
		if v := got[name]; v.Text != want.text || v.Source != want.source {
			t.Errorf("%s: got %q from %s, want %q from %s", name, v.Text, v.Source, want.text, want.source)
		}
	}
	if !got["oidc_client_secret"].Secret || got["database_url"].Secret {
		t.Errorf("secrets: got %+v and %+v, want only the first to be one", got["oidc_client_secret"], got["database_url"])
	}
	if v := got["rtc_udp_port"]; v.Flag != "--rtc-udp-port" || v.Environment != "PARLEY_RTC_UDP_PORT" || v.Help == "" {
		t.Errorf("rtc_udp_port: got %+v, want its flag, its variable and its help", v)
	}
	none, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range none.Values() {
		if v.Source != FromDefault {
			t.Errorf("%s without any setting: got source %s, want default", v.Name, v.Source)
		}
	}
}
