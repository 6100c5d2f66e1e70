package doctor

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"parley/internal/config"
)

// A check of something that does not respond ends.
func TestRunCheck_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan Result)
		defer close(hang)
		result := runCheck(t.Context(), config.Config{}, func(context.Context, config.Config) Result { return <-hang })
		if result.Unknown == "" {
			t.Errorf("got the result %+v, want an unknown one", result)
		}
	})
}

// The report contains no secret of the settings.
func TestRun_NoSecrets(t *testing.T) {
	cfg := newConfig(t)
	cfg.DatabaseURL, cfg.RedisURL = "postgres://u:hunter2@127.0.0.1:1/x", "redis://:hunter2@127.0.0.1:1"
	cfg.OIDCClientSecret, cfg.PublicURL = "hunter2", "http://127.0.0.1:1"
	cfg.MasterKeyFile = filepath.Join(cfg.DataDir, "key")
	if err := os.WriteFile(cfg.MasterKeyFile, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Run(t.Context(), cfg, false))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("got %s, want no password", text)
	}
}

func TestReport_Worst(t *testing.T) {
	t.Parallel()
	warning := Result{Findings: []Finding{{Level: Warning}}}
	for want, results := range map[Level][]Result{
		"":      {{Detail: "fine"}, {Unknown: "unknown"}},
		Warning: {{Detail: "fine"}, warning},
		Error:   {warning, {Findings: []Finding{{Level: Error}}}, warning},
	} {
		if got := (Report{results}).Worst(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A running server is not told what it reports by itself. A server for this machine only is not checked.
func TestRunInServer(t *testing.T) {
	serveDNS(t, "meet.example.test", "203.0.113.7")
	t.Setenv("PARLEY_LISTNE", ":80")
	cfg := newConfig(t)
	cfg.MaxConnections = 1_000_000
	for url, want := range map[string]bool{"http://localhost:8080": true, "http://127.0.0.1:8080": true,
		"http://[::1]:8080": true, "http://192.0.2.7": false, "https://meet.example.test": false} {
		cfg.PublicURL = url
		if got := IsLocal(cfg); got != want {
			t.Errorf("%s: got IsLocal %t, want %t", url, got, want)
		}
	}
	cfg.PublicURL, cfg.DatabaseURL = "https://meet.example.test", "postgres://127.0.0.1:1/x"
	ids := map[string]int{}
	for _, f := range RunInServer(t.Context(), cfg) {
		ids[f.ID]++
	}
	if ids["node_ip"] != 1 || ids["trusted_proxies"] != 1 || ids["unknown_variable"]+ids["database_unavailable"] != 0 {
		t.Errorf("got the findings %v, want node_ip and trusted_proxies once each, and none that the server reports", ids)
	}
}
