package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every finding is documented, and a test has its ID.
func TestFindings_AreDocumentedAndTested(t *testing.T) {
	t.Parallel()
	read := func(pattern string) string {
		t.Helper()
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("got the files %v, %v, want some at %s", files, err, pattern)
		}
		var all strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(pattern, "_test.go") == strings.HasSuffix(file, "_test.go") {
				all.Write(text)
			}
		}
		return all.String()
	}
	code, docs := read("*.go"), read("../../docs/operating/doctor.md")
	tests := read("*_test.go") + read("../app/doctor_test.go") // with real proxies
	found := regexp.MustCompile(`(?:found|add)\("([a-z_]+)"`).FindAllStringSubmatch(code, -1)
	if len(found) < 30 {
		t.Fatalf("got %d findings, want at least 30", len(found))
	}
	for _, match := range found {
		id := match[1]
		if !strings.Contains(docs, "`"+id+"`") {
			t.Errorf("%s is not in docs/operating/doctor.md", id)
		}
		if !strings.Contains(tests, `"`+id+`"`) {
			t.Errorf("%s is in no test", id)
		}
	}
}
