package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packageImport matches the import of one of the service's packages.
var packageImport = regexp.MustCompile(`(?m)^\s*(?:import )?(?:[\w.]+ )?"(parley/(?:internal/[^"]+|test/parleytest))"`)

// A module in test/ needs in its go.sum every dependency of the service's packages that it imports. Without this test,
// only make test-all would notice that one is missing, because make test does not build these modules.
func TestModulesOfTests_HaveAllSums(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Glob("../*/go.mod")
	if err != nil || len(modules) < 3 {
		t.Fatalf("modules in test/: %q, %v, want at least 3", modules, err)
	}
	for _, file := range modules {
		directory := filepath.Dir(file)
		name := strings.TrimPrefix(directory, "../")
		sources, err := filepath.Glob(directory + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		var imported []string
		for _, source := range sources {
			for _, match := range packageImport.FindAllStringSubmatch(string(readFile(t, source)), -1) {
				imported = append(imported, match[1])
			}
		}
		slices.Sort(imported)
		imported = slices.Compact(imported)
		if len(imported) == 0 {
			t.Errorf("test/%s imports no package of the service, so nothing here checks it", name)
			continue
		}

		list := append([]string{"list", "-deps", "-f", `{{with .Module}}{{if and .Version (not .Replace)}}{{.Path}}{{end}}{{end}}`}, imported...)
		cmd := exec.Command("go", list...)
		cmd.Dir = "../.."
		var reason strings.Builder
		cmd.Stderr = &reason
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v: %s", err, &reason)
		}
		dependencies := strings.Fields(string(out))
		slices.Sort(dependencies)

		sums := string(readFile(t, filepath.Join(directory, "go.sum")))
		for _, dependency := range slices.Compact(dependencies) {
			// A line with "/go.mod" after the version is only about the dependencies of the module.
			sum := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(dependency) + ` [^/\s]+ h1:`)
			if !sum.MatchString(sums) {
				t.Errorf("test/%s/go.sum lacks %s, run: cd test/%s && go mod tidy", name, dependency, name)
			}
		}
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
