// Package archtest tests what no compiler checks: that imports go one way, and
// that the documents tell the truth.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowedImports lists, for every package of ours, which others of ours it may
// import. Their order is the order of the house: left of the arrow knows
// right of it.
var allowedImports = map[string][]string{
	"client/sign":            {},
	"client":                 {"client/sign"},
	"internal/fault":         {},
	"internal/seal":          {},
	"internal/event":         {},
	"internal/config":        {"internal/seal"},
	"internal/live":          {"internal/network"},
	"internal/network":       {},
	"internal/supervise":     {},
	"internal/refusal":       {},
	"internal/operator":      {"internal/fault", "internal/validate", "internal/seal"},
	"internal/validate":      {"internal/fault"},
	"internal/project":       {"internal/fault", "internal/validate", "internal/event", "internal/seal"},
	"internal/key":           {"internal/fault", "internal/event", "internal/seal", "internal/project"},
	"internal/room":          {"internal/network", "internal/fault", "internal/validate", "internal/event", "internal/seal", "internal/project", "internal/key"},
	"internal/usage":         {"internal/fault", "internal/event", "internal/seal", "internal/project", "internal/key", "internal/room"},
	"internal/requestlog":    {"client/sign"},
	"internal/webhook":       {"internal/fault", "internal/event", "internal/project", "internal/room"},
	"internal/webhook/post":  {"internal/webhook/sender"},
	"internal/store":         {"internal/fault", "internal/event", "internal/seal", "internal/project", "internal/key", "internal/room", "internal/usage", "internal/requestlog", "internal/live", "internal/operator", "internal/webhook"},
	"internal/media":         {"internal/fault", "internal/media/signalfilter", "internal/refusal", "internal/room"},
	"internal/api/httpx":     {"internal/fault"},
	"internal/api/site":      {},
	"internal/api/contract":  {},
	"internal/api/legacy":    {"client/sign", "internal/api/httpx", "internal/fault", "internal/project", "internal/key", "internal/room"},
	"internal/api/companion": {"client/sign", "internal/api/legacy", "internal/api/httpx", "internal/fault", "internal/project", "internal/key", "internal/room"},
	"internal/api/v3":        {"internal/api/companion", "internal/api/legacy", "internal/api/httpx", "internal/room"},
	"internal/api/v4":        {"internal/api/companion", "internal/api/legacy", "internal/api/httpx", "internal/fault", "internal/project", "internal/room"},
	"internal/api/v5":        {"client/sign", "internal/api/httpx", "internal/fault", "internal/project", "internal/key", "internal/usage", "internal/requestlog"},
	"internal/api/manage":    {"internal/webhook", "internal/api/httpx", "internal/event", "internal/fault", "internal/project", "internal/key", "internal/room", "internal/operator", "internal/seal"},
	"internal/api/join":      {"internal/api/httpx", "internal/fault", "internal/refusal", "internal/room"},
	"web":                    {},

	"internal/media/signalfilter": {"internal/refusal"},
	"internal/quickstart":         {"internal/fault", "internal/key", "internal/operator", "internal/project", "internal/room"},
	"internal/webhook/sender":     {"client/sign", "internal/fault", "internal/key", "internal/webhook"},
}

// anything may be imported by those who put the parts together, and by nobody
// else but them.
var wiringPackages = []string{"internal/app", "internal/cli", "cmd/parley"}

// domainPackages packages import no module but ours and the standard library.
var domainPackages = []string{"client/sign", "client", "internal/fault", "internal/validate", "internal/seal", "internal/event", "internal/operator", "internal/project", "internal/key", "internal/room", "internal/usage", "internal/requestlog", "internal/webhook", "internal/webhook/sender"}

// restrictedModules names modules that one package alone may import.
var restrictedModules = map[string]string{
	"github.com/livekit/":      "internal/media internal/media/signalfilter",
	"github.com/redis/":        "internal/live internal/media",
	"database/sql":             "internal/store",
	"modernc.org/":             "internal/store",
	"github.com/jackc/":        "internal/store",
	"github.com/alecthomas/":   "internal/cli internal/config",
	"github.com/getkin/":       "internal/api/contract",
	"github.com/oapi-codegen/": "internal/api/companion internal/api/v3 internal/api/v4 internal/api/join internal/api/manage",
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImports_FollowTable(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "parley/")
		if strings.HasPrefix(name, "test/") || strings.HasSuffix(name, "test") || slices.Contains(wiringPackages, name) {
			continue
		}
		rules, known := allowedImports[name]
		if !known {
			t.Errorf("%s has no place in the house: add it to the table, with what it may import", name)
			continue
		}
		seen++
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, "parley/")
			switch {
			case isOurs && !slices.Contains(rules, ours):
				t.Errorf("%s must not import %s", name, ours)
			case !isOurs && slices.Contains(domainPackages, name) && strings.Contains(strings.Split(imported, "/")[0], "."):
				t.Errorf("%s must import the standard library only, not %s", name, imported)
			}
			for module, owners := range restrictedModules {
				exempt := module == "database/sql" && imported == "database/sql/driver"
				if strings.HasPrefix(imported, module) && !exempt && !slices.Contains(strings.Fields(owners), name) {
					t.Errorf("%s must not import %s: that is for %s alone", name, imported, owners)
				}
			}
		}
	}
	if seen != len(allowedImports) {
		t.Errorf("the table names %d packages, %d exist", len(allowedImports), seen)
	}
}
