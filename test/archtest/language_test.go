package archtest

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retiredWords are private words that had a standard name. No identifier
// contains one of them.
var retiredWords = []string{"crowd", "crowded", "distrust", "fate", "greet", "lane", "lanes", "nobody",
	"nobodys", "partings", "patience", "retold", "sighting", "slips", "somebody", "tally", "told", "untold", "verdict",
	"whoever"}

// maxLine is how many characters a line of Go may have. Generated files, struct tags,
// and in tests the rows of tables and long texts may be longer.
const maxLine = 120

// goFiles returns the committed Go files that nobody generates, by their path in
// the repository.
func goFiles(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "*.go")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool {
		return filepath.Base(name) == "gen.go"
	})
}

var identifierWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

func TestIdentifiers_HaveNoRetiredWord(t *testing.T) {
	t.Parallel()
	for _, name := range goFiles(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join("../..", name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			for _, word := range identifierWord.FindAllString(id.Name, -1) {
				if slices.Contains(retiredWords, strings.ToLower(word)) {
					t.Errorf("%s: %s contains the retired word %q", fset.Position(id.Pos()), id.Name, word)
				}
			}
			return true
		})
	}
}

// A subject that is a relative clause makes a sentence hard to read.
var unclearStart = regexp.MustCompile(`^(Who|Whoever|Somebody|Nobody)\b`)

func TestComments_NameTheirSubject(t *testing.T) {
	t.Parallel()
	for _, name := range goFiles(t) {
		fset := token.NewFileSet()
		mode := parser.ParseComments | parser.SkipObjectResolution
		file, err := parser.ParseFile(fset, filepath.Join("../..", name), nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.Comments {
			if start := unclearStart.FindString(strings.TrimSpace(group.Text())); start != "" {
				t.Errorf("%s: a comment begins with %q", fset.Position(group.Pos()), start)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			text, isText := call.Args[0].(*ast.BasicLit)
			if !ok || !isText || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, method.Sel.Name) {
				return true
			}
			if start := unclearStart.FindString(strings.Trim(text.Value, "\"`")); start != "" {
				t.Errorf("%s: a log line begins with %q", fset.Position(text.Pos()), start)
			}
			return true
		})
	}
}

func TestLines_FitTheWindow(t *testing.T) {
	t.Parallel()
	for _, name := range goFiles(t) {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		long := longTokens(text, isTest(name))
		for i, line := range strings.Split(string(text), "\n") {
			if length := len([]rune(line)); length > maxLine && !isTableRow(name, line) && !long[i+1] {
				t.Errorf("%s:%d has %d characters, want at most %d", name, i+1, length, maxLine)
			}
		}
	}
}

// A struct tag begins with a key and a value, such as `name:"data-dir"`.
var structTag = regexp.MustCompile("^`[a-z]+:\"")

// isTest reports whether a file belongs to the tests.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/")
}

// isTableRow reports whether a line is a row of a table in a test.
func isTableRow(name, line string) bool {
	return isTest(name) && strings.ContainsAny(strings.TrimSpace(line)[:1], "{\"`&")
}

// longTokens returns the lines with a struct tag or a directive, which cannot be
// broken, and in tests also those with a text that is too long for any line.
func longTokens(text []byte, test bool) map[int]bool {
	lines := map[int]bool{}
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		directive := kind == token.COMMENT && strings.HasPrefix(literal, "//go:")
		tag := kind == token.STRING && structTag.MatchString(literal)
		if tag || directive || test && kind == token.STRING && len(literal) > maxLine/2 {
			first := fset.Position(pos).Line
			for line := first; line <= first+strings.Count(literal, "\n"); line++ {
				lines[line] = true
			}
		}
	}
}
