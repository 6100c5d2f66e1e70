package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every node shows the findings of the other nodes, so no text says "this node".
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
				if text, ok := n.(*ast.BasicLit); ok && strings.Contains(strings.ToLower(text.Value), "this node") {
					t.Errorf("%s: got the text %s, want one that is also true on another node", set.Position(n.Pos()), text.Value)
				}
				return true
			})
		}
	}
}
