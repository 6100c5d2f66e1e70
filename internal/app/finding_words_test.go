package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/internal/doctor"
	"parley/internal/testkit"
)

// Every node shows the findings of the other nodes, so no text says "this node". Those of the authority for
// certificates do not say "this machine" either.
func TestFindings_NameNoNodeAsThisOne(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "../certificate", "../doctor", "../overview"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: got %d files, %v, want some", dir, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if !ok {
					return true
				}
				words := strings.ToLower(text.Value)
				if strings.Contains(words, "this node") ||
					dir == "../certificate" && strings.Contains(words, "this machine") {
					t.Errorf("%s: got the text %s, want one that is also true on another node", set.Position(n.Pos()), text.Value)
				}
				return true
			})
		}
	}
}

// Every finding that only the overview has is documented, and a test of the code that makes it has its ID.
func TestFindings_AreDocumentedAndTested(t *testing.T) {
	t.Parallel()
	code, docs := testkit.ReadFiles(t, "*.go", "../overview/*.go"), testkit.ReadFiles(t, "../../docs/operating/status.md")
	tests := testkit.ReadFiles(t, "*_test.go", "../overview/*_test.go", "../api/manage/*_test.go",
		"../../test/cluster/*_test.go")
	made := `(?:\bID: +|f\.ID, f\.Level = |\badd\()"([a-z]+(?:_[a-z]+)*)"`
	found := regexp.MustCompile(made).FindAllStringSubmatch(code, -1)
	ids := map[string]bool{}
	for _, match := range found {
		ids[match[1]] = true
	}
	if len(ids) < 17 {
		t.Fatalf("got the %d findings %v, want at least 17", len(ids), ids)
	}
	for id := range ids {
		if !strings.Contains(docs, "`"+id+"`") {
			t.Errorf("%s is not in docs/operating/status.md", id)
		}
		// A test compares the ID alone, or a line of a report that begins with it.
		if !strings.Contains(tests, `"`+id+`"`) && !strings.Contains(tests, `"`+id+` `) {
			t.Errorf("%s is in no test", id)
		}
	}
}

// The doctor speaks of the machine on which it runs, and its findings in the overview speak of the node.
func TestOverviewFindings_NameTheNode(t *testing.T) {
	t.Parallel()
	found := overviewFindings([]doctor.Finding{{
		Text:   "This machine does not have the address 203.0.113.7, which is announced by this machine.",
		Change: "--rtc-node-ip ADDRESS, with an address of this machine",
	}})
	want := "The node does not have the address 203.0.113.7, which is announced by the node. " +
		"--rtc-node-ip ADDRESS, with an address of the node"
	if got := found[0].Text + " " + found[0].Action; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
