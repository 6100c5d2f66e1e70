package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// maxFieldsOnOneLine is how many named fields of a literal may share a line. The rows of
// a table, which are read as columns, may have more.
const maxFieldsOnOneLine = 4

// denseLiterals returns the lines of a file in which a literal begins that has more
// fields than maxFieldsOnOneLine, and not one on each line.
func denseLiterals(t *testing.T, name string, content []byte) []int {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	var lines []int
	rows := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		last, named, shared := line(literal.Lbrace), 0, false
		for _, e := range literal.Elts {
			field, isNamed := e.(*ast.KeyValueExpr)
			switch literal.Type.(type) {
			case *ast.ArrayType:
				rows[e] = true
			case *ast.MapType:
				if isNamed {
					rows[field.Value] = true
				}
			default:
				if isNamed && isIdentifier(field.Key) {
					named++
				}
			}
			shared = shared || line(e.Pos()) == last
			last = line(e.End())
		}
		if named > maxFieldsOnOneLine && shared && !rows[literal] {
			lines = append(lines, line(literal.Lbrace))
		}
		return true
	})
	return lines
}

// isIdentifier reports whether a key may be the name of a field.
func isIdentifier(key ast.Expr) bool {
	_, ok := key.(*ast.Ident)
	return ok
}

func TestLiterals_HaveOneFieldPerLine(t *testing.T) {
	t.Parallel()
	for _, name := range goFiles(t) {
		content, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // deleted and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range denseLiterals(t, name, content) {
			t.Errorf("%s:%d: a literal of more than %d named fields has one on each line",
				name, line, maxFieldsOnOneLine)
		}
	}
}

func TestDenseLiterals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		literal string
		dense   bool
	}{
		{"T{A: 1, B: 2, C: 3, D: 4}", false},
		{"T{A: 1, B: 2, C: 3, D: 4, E: 5}", true},
		{"T{\nA: 1, B: 2, C: 3,\nD: 4, E: 5}", true},
		{"T{\nA: 1,\nB: 2,\nC: 3,\nD: 4,\nE: 5,\n}", false},
		{"[]T{{A: 1, B: 2, C: 3, D: 4, E: 5}}", false},
		{"map[string]T{\"a\": {A: 1, B: 2, C: 3, D: 4, E: 5}}", false},
		{"map[string]int{\"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4, \"e\": 5}", false},
		{"Fields{\"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4, \"e\": 5}", false},
		{"f(&T{A: 1, B: 2, C: 3, D: 4, E: 5})", true},
	} {
		got := denseLiterals(t, "literal.go", []byte("package p\n\nvar v = "+c.literal))
		if (len(got) > 0) != c.dense {
			t.Errorf("denseLiterals(%s) = lines %v, want any: %v", c.literal, got, c.dense)
		}
	}
}
