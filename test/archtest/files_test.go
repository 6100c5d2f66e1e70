package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// imageFiles are the images that documents show.
const imageFiles = "docs/images/"

// artifactPaths are the files that tools write into the tree.
var artifactPaths = regexp.MustCompile(
	`(^|/)(node_modules|\.vitest|\.cache|coverage|test-results|playwright-report|artefacts|artifacts)/` +
		`|^(bin|data)/|\.(test|out|exe|so|o|a|db|sqlite|log|tsbuildinfo|DS_Store|pprof|prof|orig|rej|swp)$|~$`)

// absolutePath matches a directory of one machine, such as a home directory.
var absolutePath = regexp.MustCompile(
	`"(file://)?(/(home|root|Users|work|tmp|var|opt|workspace|builds)/|[A-Za-z]:\\\\)[^"]*"`)

// committedFiles returns the paths of the files in Git that are in the tree.
func committedFiles(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	names := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	if len(names) < 100 {
		t.Fatalf("git ls-files returned %d files, want at least 100", len(names))
	}
	return names
}

// describeArtifact returns why a file must not be committed, or an empty string.
func describeArtifact(name string, content []byte) string {
	isImage := strings.HasPrefix(name, imageFiles)
	isBinary := bytes.IndexByte(content, 0) >= 0
	switch extension := path.Ext(name); {
	case artifactPaths.MatchString(name):
		return "is written by a tool"
	case isBinary && !isImage && !strings.Contains(name, "/testdata/"):
		return "is a binary or an image outside " + imageFiles
	case extension == ".png" && !isImage:
		return "is an image outside " + imageFiles
	case extension == ".json" && absolutePath.Match(content):
		return "contains an absolute path of one machine: " + string(absolutePath.Find(content))
	}
	return ""
}

func TestCommittedFiles_AreNoArtifacts(t *testing.T) {
	t.Parallel()
	for _, name := range committedFiles(t) {
		file := filepath.Join("../..", name)
		info, err := os.Lstat(file)
		if os.IsNotExist(err) {
			continue // deleted and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if reason := describeArtifact(name, content); reason != "" {
			t.Errorf("%s must not be committed: it %s", name, reason)
		}
	}
}

func TestDescribeArtifact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		artifact      bool
	}{
		{"web/.vitest/json/output.json", "{}", true},
		{"web/src/logo.png", "\x89PNG\x00", true},
		{"docs/images/meeting.png", "\x89PNG\x00", false},
		{"parley", "\x7fELF\x00", true},
		{"bin/parley", "text", true},
		{"internal/media/media.test", "text", true},
		{"web/report.json", `{"file": "/home/me/parley/web/src/a.ts"}`, true},
		{"web/report.json", `{"file": "file:///home/ci/build/a.ts"}`, true},
		{"web/report.json", `{"file": "C:\\parley\\a.ts"}`, true},
		{"web/package.json", `{"main": "./src/a.ts", "url": "https://example.org/home/x"}`, false},
		{"internal/seal/testdata/value", "\x00", false},
		{"README.md", "run it in /home/parley", false},
	} {
		if got := describeArtifact(c.name, []byte(c.content)); (got != "") != c.artifact {
			t.Errorf("describeArtifact(%q, %q) = %q, want an artifact: %v", c.name, c.content, got, c.artifact)
		}
	}
}
