package archtest

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retiredWords are private words that had a standard name. No identifier
// contains one of them.
var retiredWords = []string{"apart", "beat", "cast", "changeable", "crowd", "crowded", "desk", "diagnostic",
	"distrust", "fact", "fate", "greet", "grip", "ground", "house", "insertion", "judge", "keeper", "lane", "lanes",
	"nobody", "nobodys", "noted", "paces", "partings", "patience", "retirement", "retold", "rival", "shaky", "sighting",
	"sightings", "slips", "somebody", "spend", "steady", "studio", "tallies", "tally", "tend", "thrift", "told", "untold",
	"verdict", "whoever"}

// retiredNames are private names of several words. No identifier is one of them, in
// upper or lower case.
var retiredNames = []string{"claimof", "giveback", "giveup", "mediadoor", "takeover", "tellstwice"}

// findRetired returns the retired word or name in an identifier; "" if there is none.
func findRetired(identifier string) string {
	if name := strings.ToLower(identifier); slices.Contains(retiredNames, name) {
		return name
	}
	for _, word := range identifierWord.FindAllString(identifier, -1) {
		if word = strings.ToLower(word); slices.Contains(retiredWords, word) {
			return word
		}
	}
	return ""
}

// maxLine is how many characters a line of Go may have. Generated files, struct tags,
// and in tests the rows of tables and long texts may be longer.
const maxLine = 120

// goFiles returns the committed Go files that nobody generates, by their path in
// the repository.
func goFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(committedFiles(t), func(name string) bool {
		return filepath.Ext(name) != ".go" || filepath.Base(name) == "gen.go"
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
			if word := findRetired(id.Name); word != "" {
				t.Errorf("%s: %s contains the retired word %q", fset.Position(id.Pos()), id.Name, word)
			}
			return true
		})
	}
}

func TestSchema_HasNoRetiredWord(t *testing.T) {
	t.Parallel()
	const file = "internal/store/schema.sql"
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		name, _, _ := strings.Cut(line, "--")
		if word := findRetired(name); word != "" {
			t.Errorf("%s:%d: %s contains the retired word %q", file, i+1, name, word)
		}
	}
}

// declaration finds the declared names of TypeScript, but no parameters and no members.
var declaration = regexp.MustCompile(`\b(?:const|let|function|class|interface|type|enum)\s+([A-Za-z_$][\w$]*)`)

// typeScriptDirs have the hand-written TypeScript of the pages and of the browser tests.
var typeScriptDirs = []string{"web/src/", "web/embed/", "web/console/", "web/build/", "test/browser/"}

// readTypeScript returns the lines of the committed TypeScript files that nobody generates, by
// their path in the repository.
func readTypeScript(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, name := range committedFiles(t) {
		isPage := slices.ContainsFunc(typeScriptDirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
		isCode := filepath.Ext(name) == ".ts" || filepath.Ext(name) == ".tsx"
		if !isPage || !isCode || strings.HasSuffix(name, ".gen.ts") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.Split(string(text), "\n")
	}
	if len(files) < 100 {
		t.Fatalf("got %d TypeScript files, want at least 100", len(files))
	}
	return files
}

func TestTypeScriptDeclarations_HaveNoRetiredWord(t *testing.T) {
	t.Parallel()
	for name, lines := range readTypeScript(t) {
		for i, line := range lines {
			if start := strings.TrimSpace(line); strings.HasPrefix(start, "//") || strings.HasPrefix(start, "*") {
				continue
			}
			for _, m := range declaration.FindAllStringSubmatch(line, -1) {
				if word := findRetired(m[1]); word != "" {
					t.Errorf("%s:%d: %s contains the retired word %q", name, i+1, m[1], word)
				}
			}
		}
	}
}

// typeScriptComment finds the text of a comment at the end of a line.
var typeScriptComment = regexp.MustCompile(`(?:^|\s)(?://|/\*+|\{/\*)\s*(.*)`)

func TestTypeScriptComments_NameTheirSubject(t *testing.T) {
	t.Parallel()
	for name, lines := range readTypeScript(t) {
		continued := false // the line before is a comment that this line may continue
		for i, line := range lines {
			line = strings.TrimSpace(line)
			m := typeScriptComment.FindStringSubmatch(line)
			isLineComment := strings.HasPrefix(line, "//")
			if m != nil && !(continued && isLineComment) {
				text := m[1]
				if text == "" && i+1 < len(lines) { // the text of a block begins on its second line
					text = strings.TrimLeft(lines[i+1], " \t*")
				}
				if start := unclearStart.FindString(text); start != "" {
					t.Errorf("%s:%d: a comment begins with %q", name, i+1, start)
				}
			}
			continued = isLineComment
		}
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

// descriptionText finds the beginning of a description in an OpenAPI file.
var descriptionText = regexp.MustCompile(`(?m)description: (?:[|>]-?\n\s+|"?)(\S.*)$`)

func TestDocuments_NameTheirSubject(t *testing.T) {
	t.Parallel()
	begins := regexp.MustCompile(`(?m)(?:\n\n|^- |^\d+\. )(\w.*)$`)
	for name, text := range readDocuments(t) {
		for _, m := range begins.FindAllStringSubmatch(text, -1) {
			if start := unclearStart.FindString(m[1]); start != "" {
				t.Errorf("%s: a paragraph begins with %q", name, m[1])
			}
		}
	}
	descriptions, err := filepath.Glob("../../internal/api/*/openapi.yaml")
	if err != nil || len(descriptions) < 5 {
		t.Fatalf("got the descriptions %v, %v, want at least five", descriptions, err)
	}
	for _, name := range descriptions {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range descriptionText.FindAllStringSubmatch(string(text), -1) {
			if start := unclearStart.FindString(m[1]); start != "" {
				t.Errorf("%s: a description begins with %q", name, m[1])
			}
		}
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
