package sdk

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// examples are the programs in the directory examples. prepare makes packages available to a directory that may be
// out of reach otherwise, and returns additional variables.
var examples = []struct {
	name    string
	port    string // in the README
	prepare func(t *testing.T, dir string) (environment []string)
	check   func(t *testing.T, e *example)
}{
	{"shop", "8091", func(*testing.T, string) []string { return nil }, checkShop},
	{"timetable", "8092", func(*testing.T, string) []string {
		return []string{"PATH=" + filepath.Dir(python) + ":" + os.Getenv("PATH"), "PIP_NO_INDEX=1"}
	}, checkTimetable},
	{"conference", "8093", func(t *testing.T, _ string) []string {
		return phpEnvironment(t, t.TempDir())
	}, checkConference},
	{"desk", "8094", func(_ *testing.T, dir string) []string {
		return []string{"GOMODCACHE=" + filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw"}
	}, checkReception},
}

// TestExamples runs each example with the commands of its README, and uses its pages as people do.
func TestExamples(t *testing.T) {
	service := startService(t)
	for _, test := range examples {
		t.Run(test.name, func(t *testing.T) {
			e := newExample(t, service, test.name)
			e.environment = append(e.environment, test.prepare(t, e.dir)...)
			e.readCommands(t, test.port)
			run(t, e.dir, e.environment, "bash", "-e", "-c", e.install)
			test.check(t, e)
		})
	}
}

// TestExamples_FormOfFiles checks the length of lines and of programs, and that the links of the READMEs exist.
func TestExamples_FormOfFiles(t *testing.T) {
	programs := []string{"server.mjs", "app.py", "index.php", "main.go"}
	names, err := filepath.Glob(filepath.Join(repository, "examples/*/*"))
	if err != nil || len(names) < 4*len(programs) {
		t.Fatalf("got the files %v, error %v, want at least %d", names, err, 4*len(programs))
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a directory of installed packages
		}
		lines := strings.Split(string(text), "\n")
		if len(lines) > 130 && slices.Contains(programs, filepath.Base(name)) {
			t.Errorf("%s has %d lines, want at most 130", name, len(lines))
		}
		for i, line := range lines {
			if len([]rune(line)) > 120 && filepath.Ext(name) != ".lock" && filepath.Ext(name) != ".json" {
				t.Errorf("%s:%d has more than 120 characters", name, i+1)
			}
		}
		if extension := filepath.Ext(name); extension == ".js" || extension == ".mjs" {
			run(t, ".", nil, "node", "--check", name)
		}
		if filepath.Ext(name) != ".md" {
			continue
		}
		for _, link := range regexp.MustCompile(`\]\((\.\.[^)#]+)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), link[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link[1])
			}
		}
	}
}
