package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// example is a runnable block of a guide. Its first line, a comment, names its
// file.
var example = regexp.MustCompile("(?ms)^```(?:sh|go|js|python|php)\n((?:#|//|<\\?php //) (\\S+)\n.*?)^```$")

var runnable = regexp.MustCompile("(?m)^```(?:sh|go|js|python|php)$")

// examples writes the examples of the guides to files with their names. It fails
// unless they are exactly the named ones, so that every example is run.
func examples(ts *testscript.TestScript, _ bool, names []string) {
	if _, err := os.Stat(filepath.Join(ts.Getenv("REPO"), "test/webhooks/node_modules/standardwebhooks")); err != nil {
		ts.Fatalf("the examples that receive webhooks need what test/webhooks/package.json names: run npm ci there, or make test-go")
	}
	guides, err := filepath.Glob(filepath.Join(ts.Getenv("REPO"), "docs/api/*.md"))
	ts.Check(err)
	var found []string
	for _, guide := range guides {
		if slices.Contains([]string{"quickstart.md", "testing.md", "recipes.md"}, filepath.Base(guide)) {
			continue // test/sdk does what it says
		}
		raw, err := os.ReadFile(guide)
		ts.Check(err)
		blocks := example.FindAllStringSubmatch(string(raw), -1)
		if all := len(runnable.FindAll(raw, -1)); all != len(blocks) {
			ts.Fatalf("%s has %d examples, %d of them with a file's name in their first line", guide, all, len(blocks))
		}
		for _, block := range blocks {
			found = append(found, block[2])
			ts.Check(os.WriteFile(ts.MkAbs(block[2]), []byte(block[1]), 0o600))
		}
	}
	slices.Sort(found)
	slices.Sort(names)
	if !slices.Equal(found, names) {
		ts.Fatalf("the guides have the examples %v, the script runs %v", found, names)
	}
}

// goEnv lets the scripts run Go with the caches of the user who runs the tests.
func goEnv(e *testscript.Env) error {
	repository, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	e.Setenv("REPO", repository)
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "CGO_ENABLED"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	values := strings.Split(string(out), "\n")
	for i, name := range names {
		e.Setenv(name, values[i])
	}
	return nil
}
