// Package sdk tests the SDKs of all languages in one way: it installs the package of each from a server
// into an empty directory, and lets a small program there make the calls of shared tables.
package sdk

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// TestSDKs_BehaveAlike runs a meeting on a real server, the scripted exchanges and the published
// signatures with each SDK.
func TestSDKs_BehaveAlike(t *testing.T) {
	published, exchanges := readExchanges(t)
	service := startService(t)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			d := startDriver(t, l, service.url)
			t.Run("a meeting", func(t *testing.T) { d.runMeeting(t, service) })
			t.Run("rotation", func(t *testing.T) { d.checkRotation(t, service) })
			for _, e := range exchanges {
				t.Run(e.Name, func(t *testing.T) { d.run(t, e, published) })
			}
			t.Run("vectors", d.checkVectors)
			t.Run("webhooks", d.checkWebhooks)
			t.Run("join links", func(t *testing.T) { d.checkJoinLinks(t, published) })
			t.Run("print", func(t *testing.T) { d.checkPrint(t, published) })
		})
	}
}

// checkVectors signs and verifies the published cases.
func (d *driver) checkVectors(t *testing.T) {
	text, err := os.ReadFile("../../sdk/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Profiles []struct {
			Profile string
			Cases   []map[string]any
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Profiles {
		if len(p.Cases) < 5 {
			t.Errorf("%s: got %d cases, want at least 5", p.Profile, len(p.Cases))
		}
		for _, c := range p.Cases {
			got := d.ask(t, map[string]any{"do": "sign", "profile": p.Profile, "case": c})
			if got["valid"] != c["valid"] {
				t.Errorf("%s %s: got %v, want valid %v: %v", p.Profile, c["name"], got, c["valid"], c["why"])
			}
			computed, _ := got["signature"].(string)
			published, _ := c["signature"].(string)
			// The header of a webhook may also contain signatures that an SDK does not make.
			isRequest := p.Profile != "standard-webhooks-1.0"
			if c["valid"] == true && isRequest && !strings.EqualFold(computed, published) {
				t.Errorf("%s %s: got the signature %s, want %s", p.Profile, c["name"], computed, published)
			}
		}
	}
}

// checkPrint checks that nothing that a program prints shows a secret.
func (d *driver) checkPrint(t *testing.T, published credentials) {
	text, _ := d.ask(t, map[string]any{"do": "print", "credentials": published})["text"].(string)
	if !strings.Contains(text, published.ProjectID) {
		t.Errorf("got the text %q, want the project in it", text)
	}
	for _, secret := range []string{published.APIKey, published.GatewaySecret, published.ProjectSecret} {
		if strings.Contains(text, secret) || strings.Contains(text, secret[8:]) {
			t.Errorf("got the text %q, want no secret in it", text)
		}
	}
}
