// Package archtest checks rules that the compiler does not: the direction of
// imports, the facts in the documents, and the files in the repository.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowedImports lists for each package of the module the packages of the module
// that it imports. The table is exact: an import that it lacks and an entry that no
// file uses both fail the test.
var allowedImports = map[string][]string{
	"sdk/go/sign":                   {},
	"sdk/packages":                  {},
	"internal/api/codegen/sdktypes": {},
	"sdk/go":                        {"sdk/go/sign"},
	"internal/fault":                {},
	"internal/seal":                 {"internal/shell"},
	"internal/event":                {},
	"internal/plural":               {},
	"internal/shell":                {},
	"internal/config":               {"internal/seal", "internal/validate"},
	"internal/ratelimit":            {"internal/network"},
	"internal/counter":              {},
	"internal/backup":               {},
	"internal/cluster":              {"internal/counter", "internal/ratelimit"},
	"internal/certificate":          {"internal/fault"},
	"internal/doctor":               {"internal/backup", "internal/certificate", "internal/cluster", "internal/config", "internal/connlimit", "internal/db", "internal/instance", "internal/media", "internal/media/probe", "internal/metrics", "internal/network", "internal/quickstart", "internal/seal", "internal/shell", "internal/store"},
	"internal/conncheck":            {"internal/audit", "internal/fault", "internal/seal", "internal/validate"},
	"internal/edge":                 {"internal/network"},
	"internal/connlimit":            {"internal/api/httpx", "internal/network", "internal/refusal"},
	"internal/late":                 {},
	"internal/network":              {},
	"internal/supervise":            {},
	"internal/metrics":              {"internal/fault"},
	"internal/refusal":              {},
	"internal/audit":                {"internal/validate"},
	"internal/openid":               {"internal/fault", "internal/operator", "internal/seal"},
	"internal/operator":             {"internal/audit", "internal/fault", "internal/validate", "internal/seal"},
	"internal/validate":             {"internal/fault"},
	"internal/project":              {"internal/audit", "internal/fault", "internal/validate", "internal/event"},
	"internal/instance":             {"internal/audit", "internal/backup", "internal/config", "internal/db", "internal/late", "internal/operator", "internal/project", "internal/quickstart", "internal/seal", "internal/store", "internal/validate"},
	"internal/key":                  {"internal/audit", "internal/fault", "internal/event", "internal/seal", "internal/project"},
	"internal/room":                 {"internal/audit", "internal/network", "internal/fault", "internal/plural", "internal/validate", "internal/event", "internal/seal", "internal/project"},
	"internal/retention":            {"internal/audit", "internal/event", "internal/fault", "internal/project", "internal/room", "internal/validate", "internal/webhook"},
	"internal/usage":                {"internal/fault", "internal/key", "internal/project", "internal/room", "internal/validate"},
	"internal/overview":             {"internal/event", "internal/key", "internal/project", "internal/plural", "internal/requestlog", "internal/room", "internal/shell", "internal/usage", "internal/validate", "internal/webhook"},
	"internal/requestlog":           {"sdk/go/sign", "internal/fault", "internal/network"},
	"internal/webhook":              {"internal/audit", "internal/fault", "internal/event", "internal/project", "internal/room"},
	"internal/webhook/post":         {"internal/webhook/sender"},
	"internal/db":                   {"internal/fault"},
	"internal/store":                {"internal/audit", "internal/conncheck", "internal/db", "internal/fault", "internal/event", "internal/seal", "internal/project", "internal/key", "internal/room", "internal/usage", "internal/requestlog", "internal/retention", "internal/counter", "internal/operator", "internal/validate", "internal/webhook", "internal/webhook/sender"},
	"internal/media/probe":          {},
	"internal/media/relay":          {},
	"internal/media":                {"internal/fault", "internal/late", "internal/media/relay", "internal/media/signalfilter", "internal/metrics", "internal/network", "internal/refusal", "internal/room"},
	"internal/api/httpx":            {"internal/fault", "internal/validate"},
	"internal/api/site":             {"internal/api/httpx", "internal/fault", "internal/room", "internal/validate"},
	"internal/spreadsheet":          {},
	"internal/api/roomapi":          {"sdk/go/sign", "internal/api/httpx", "internal/fault", "internal/project", "internal/key", "internal/requestlog", "internal/room", "internal/spreadsheet", "internal/validate"},
	"internal/api/record":           {"internal/api/httpx", "internal/requestlog"},
	"internal/api/v3":               {"internal/api/roomapi", "internal/api/httpx", "internal/room"},
	"internal/api/v4":               {"internal/api/roomapi", "internal/api/httpx", "internal/fault", "internal/project", "internal/room", "internal/validate"},
	"internal/api/v5":               {"sdk/go/sign", "internal/api/httpx", "internal/fault", "internal/project", "internal/key", "internal/usage", "internal/requestlog"},
	"internal/api/manage":           {"internal/audit", "internal/webhook", "internal/api/httpx", "internal/backup", "internal/config", "internal/conncheck", "internal/event", "internal/fault", "internal/overview", "internal/project", "internal/key", "internal/requestlog", "internal/retention", "internal/room", "internal/openid", "internal/operator", "internal/seal", "internal/usage", "internal/validate"},
	"internal/api/join":             {"internal/api/httpx", "internal/conncheck", "internal/fault", "internal/project", "internal/refusal", "internal/room", "internal/seal"},
	"web":                           {},

	"internal/media/signalfilter": {"internal/refusal"},
	"internal/api/codegen/prune":  {},
	"internal/api/codegen/tojson": {},
	"internal/testkit":            {},
	"internal/quickstart":         {"internal/audit", "internal/fault", "internal/key", "internal/operator", "internal/project", "internal/room", "internal/shell"},
	"internal/webhook/sender":     {"sdk/go/sign", "internal/audit", "internal/fault", "internal/key", "internal/webhook"},
}

// wiringPackages connect all parts, so they may import every package and module.
var wiringPackages = []string{"internal/app", "internal/cli", "cmd/parley"}

// domainPackages import this module and the standard library only.
var domainPackages = []string{
	"sdk/go/sign", "sdk/go", "internal/fault", "internal/validate", "internal/seal", "internal/event", "internal/audit",
	"internal/operator", "internal/project", "internal/key", "internal/room", "internal/usage", "internal/requestlog",
	"internal/conncheck", "internal/retention", "internal/webhook", "internal/webhook/sender", "internal/counter", "internal/ratelimit",
	"internal/network",
}

// restrictedModules lists the packages that may import a module or a package of
// the standard library. The key is a prefix of the import path.
var restrictedModules = map[string]string{
	"github.com/livekit/":          "internal/media internal/media/probe internal/media/signalfilter",
	"github.com/redis/":            "internal/cluster internal/media",
	"database/sql":                 "internal/db",
	"modernc.org/":                 "internal/db",
	"github.com/jackc/":            "internal/db",
	"github.com/pressly/":          "internal/db",
	"github.com/alecthomas/":       "internal/config",
	"golang.org/x/image/":          "internal/api/manage",
	"golang.org/x/oauth2":          "internal/openid",
	"github.com/coreos/go-oidc":    "internal/openid",
	"github.com/coreos/go-systemd": "internal/supervise",
	"github.com/oapi-codegen/":     "internal/api/roomapi internal/api/v3 internal/api/v4 internal/api/join",
}

type pkg struct {
	ImportPath string
	Imports    []string
}

// listPackages returns all packages of the service and of the Go SDK, which is a module of its
// own, without their tests. The paths of the SDK are those of its directory, parley/sdk/go.
func listPackages(t *testing.T) []pkg {
	t.Helper()
	var all []pkg
	for _, module := range []string{"../..", "../../sdk/go"} {
		cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
		cmd.Dir = module
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		out = bytes.ReplaceAll(out, []byte(`"parley.example/client`), []byte(`"parley/sdk/go`))
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p pkg
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
	}
	return all
}

func TestImports_FollowTable(t *testing.T) {
	t.Parallel()
	seen := 0
	restrictedUses := map[string]bool{} // module and package
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "parley/")
		isTest := strings.HasPrefix(name, "test/") || strings.HasSuffix(name, "test")
		if isTest || slices.Contains(wiringPackages, name) {
			continue
		}
		rules, known := allowedImports[name]
		if !known {
			t.Errorf("%s is not in allowedImports: add it with its imports", name)
			continue
		}
		seen++
		for _, imported := range p.Imports {
			local, isLocal := strings.CutPrefix(imported, "parley/")
			host, _, _ := strings.Cut(imported, "/")
			switch {
			case isLocal && !slices.Contains(rules, local):
				t.Errorf("%s must not import %s: allowedImports does not list it", name, local)
			case !isLocal && slices.Contains(domainPackages, name) && strings.Contains(host, "."):
				t.Errorf("%s must not import %s: domainPackages import the standard library only", name, imported)
			}
			for module, owners := range restrictedModules {
				if !strings.HasPrefix(imported, module) || imported == "database/sql/driver" {
					continue
				}
				restrictedUses[module+" "+name] = true
				if !slices.Contains(strings.Fields(owners), name) {
					t.Errorf("%s must not import %s: only %s may", name, imported, owners)
				}
			}
		}
		for _, rule := range rules {
			if !slices.Contains(p.Imports, "parley/"+rule) {
				t.Errorf("%s does not import %s: remove it from allowedImports", name, rule)
			}
		}
	}
	if seen != len(allowedImports) {
		t.Errorf("allowedImports has %d packages, want the %d that exist", len(allowedImports), seen)
	}
	for module, owners := range restrictedModules {
		for owner := range strings.FieldsSeq(owners) {
			if !restrictedUses[module+" "+owner] {
				t.Errorf("%s does not import %s: remove it from restrictedModules", owner, module)
			}
		}
	}
}
