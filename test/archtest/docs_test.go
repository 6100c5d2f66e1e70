package archtest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/internal/cli"
)

// documentDirectories hold the documents, relative to the root of the repository.
var documentDirectories = []string{"", "docs", "docs/adr", "docs/api", "docs/design", "docs/operating", "test/bench"}

// readDocuments returns the text of every document by its path in the repository.
func readDocuments(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, directory := range documentDirectories {
		names, err := filepath.Glob(filepath.Join("../..", directory, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[strings.TrimPrefix(name, "../../")] = string(raw)
		}
	}
	if len(texts) < 5 {
		t.Fatalf("found %d documents, want at least 5", len(texts))
	}
	return texts
}

// TestDecisionRecords_HaveOneForm reads docs/adr: the index lists every record with its title,
// and each record has a date, a status, the four parts, and at least two options.
func TestDecisionRecords_HaveOneForm(t *testing.T) {
	t.Parallel()
	texts := readDocuments(t)
	index := texts["docs/adr/README.md"]
	records := 0
	for name, text := range texts {
		if !strings.HasPrefix(name, "docs/adr/") || name == "docs/adr/README.md" {
			continue
		}
		records++
		file := filepath.Base(name)
		title := regexp.MustCompile(`^# (\d+)\. (.+)\n\nDate: \d{4}-\d\d-\d\d · Status: \S.*\n`).FindStringSubmatch(text)
		if title == nil || fmt.Sprintf("%04s", title[1]) != file[:4] {
			t.Errorf("%s begins with %.60q, want a title with its number, a date and a status", name, text)
			continue
		}
		if entry := fmt.Sprintf("- [%04s](%s): %s\n", title[1], file, title[2]); !strings.Contains(index, entry) {
			t.Errorf("docs/adr/README.md has no line %q", entry)
		}
		rest := text
		for _, part := range []string{"Context", "Options", "Decision", "Consequence"} {
			var ok bool
			if _, rest, ok = strings.Cut(rest, "\n## "+part+"\n\n"); !ok {
				t.Errorf("%s has no part %q in its place", name, part)
			}
		}
		if !strings.Contains(text, "\n1. **") || !strings.Contains(text, "\n2. **") {
			t.Errorf("%s has fewer than two options", name)
		}
	}
	if records < 30 {
		t.Errorf("got %d decision records, want at least 30", records)
	}
}

// constantName matches the name of a constant in the text of a design page, in parentheses or in
// a cell of a table.
var constantName = regexp.MustCompile("[(,|] ?`([A-Za-z]\\w*)\\.([A-Za-z]\\w*)`")

// dottedName matches every name of that form.
var dottedName = regexp.MustCompile("`([A-Za-z]\\w*\\.[A-Za-z]\\w*)`")

// quantity matches a number with a unit.
var quantity = regexp.MustCompile(`\b\d[\d,.]* (s|ms|seconds?|minutes?|hours?|days?|kB|MB|GB|KiB|MiB|bytes|bits|` +
	`percent|attempts|people|seats|rooms|times|characters|connections|messages|requests)\b`)

// TestDesignPages_NumbersNameConstants checks that each constant that a design page names
// exists, and that each paragraph, row and point with a quantity names one.
func TestDesignPages_NumbersNameConstants(t *testing.T) {
	t.Parallel()
	declared := declaredNames(t)
	names := 0
	for name, text := range readDocuments(t) {
		if !strings.HasPrefix(name, "docs/design/") {
			continue
		}
		for _, m := range constantName.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
			names++
			if !declared[m[1]+"."+m[2]] {
				t.Errorf("%s names `%s.%s`, which does not exist", name, m[1], m[2])
			}
		}
		for _, block := range designBlocks(text) {
			named := slices.ContainsFunc(dottedName.FindAllStringSubmatch(block, -1),
				func(m []string) bool { return declared[m[1]] })
			if q := quantity.FindString(strings.Join(strings.Fields(block), " ")); q != "" && !named {
				t.Errorf("%s has %q without the name of a constant in\n%s", name, q, block)
			}
		}
	}
	if names < 100 {
		t.Errorf("found the names of %d constants, want at least 100", names)
	}
}

// designBlocks returns the paragraphs, the points of lists and the rows of tables of a text, without
// drawings.
func designBlocks(text string) (blocks []string) {
	parts := strings.Split(text, "```")
	for i := 0; i < len(parts); i += 2 {
		for paragraph := range strings.SplitSeq(parts[i], "\n\n") {
			block := ""
			for line := range strings.Lines(paragraph) {
				if begin := strings.TrimSpace(line); strings.HasPrefix(begin, "- ") || strings.HasPrefix(begin, "|") ||
					regexp.MustCompile(`^\d+\. `).MatchString(begin) {
					blocks, block = append(blocks, block), ""
				}
				block += line
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// declaredNames returns the identifiers that the code declares, as package.identifier for Go and
// file.identifier for TypeScript, and the types of events.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	walk := func(root string, visit func(path string) error) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return visit(path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	goFile := func(path string) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var names []*ast.Ident
			switch n := n.(type) {
			case *ast.BasicLit:
				declared[strings.Trim(n.Value, `"`)] = true
			case *ast.ValueSpec:
				names = n.Names
			case *ast.TypeSpec:
				names = []*ast.Ident{n.Name}
			case *ast.FuncDecl:
				names = []*ast.Ident{n.Name}
			case *ast.Field:
				names = n.Names
			}
			for _, id := range names {
				declared[file.Name.Name+"."+id.Name] = true
			}
			return true
		})
		return nil
	}
	walk("../../internal", goFile)
	walk("../../sdk/go", goFile)
	word := regexp.MustCompile(`[A-Za-z_]\w*`)
	typeScriptFile := func(path string) error {
		name, ext, _ := strings.Cut(filepath.Base(path), ".")
		if ext != "ts" && ext != "tsx" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, id := range word.FindAllString(string(text), -1) {
			declared[name+"."+id] = true
		}
		return err
	}
	walk("../../web/src", typeScriptFile)
	walk("../../web/embed", typeScriptFile)
	return declared
}

func TestArchitecture_FitsOnAFewPages(t *testing.T) {
	t.Parallel()
	const most = 150
	text := readDocuments(t)["docs/ARCHITECTURE.md"]
	if got := strings.Count(text, "\n"); got == 0 || got > most {
		t.Errorf("docs/ARCHITECTURE.md has %d lines, want 1 to %d", got, most)
	}
}

// TestArchitecture_NamesEveryPackage compares the table of packages with those of the
// module. The packages below test share one row. TestDocuments_PathsExist finds rows of
// packages that do not exist.
func TestArchitecture_NamesEveryPackage(t *testing.T) {
	t.Parallel()
	table := architectureSection(t, "Packages")
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "parley/")
		if strings.HasPrefix(name, "test/") {
			name = "test"
		}
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("the table of packages in docs/ARCHITECTURE.md has no `%s`", name)
		}
	}
}

// TestArchitecture_PathOfAQuickRoom checks the list of the files that create a quick
// room: at most 21, each once. SQLite and PostgreSQL have one file each, of which a call
// uses one. TestDocuments_PathsExist checks that the files exist.
func TestArchitecture_PathOfAQuickRoom(t *testing.T) {
	t.Parallel()
	var files []string
	for line := range strings.Lines(architectureSection(t, "The path of a quick room")) {
		if strings.HasPrefix(line, "| ") {
			for _, m := range quotedPath.FindAllStringSubmatch(line, -1) {
				files = append(files, m[1])
			}
		}
	}
	const most = 21 + 1
	if got := len(files); got < 10 || got > most {
		t.Errorf("docs/ARCHITECTURE.md lists %d files of a quick room, want 10 to %d", got, most)
	}
	slices.Sort(files)
	if got := slices.Compact(slices.Clone(files)); len(got) != len(files) {
		t.Errorf("docs/ARCHITECTURE.md lists a file of a quick room twice: got %q", files)
	}
}

// architectureSection returns the text of a section of docs/ARCHITECTURE.md.
func architectureSection(t *testing.T, title string) string {
	t.Helper()
	_, text, ok := strings.Cut(readDocuments(t)["docs/ARCHITECTURE.md"], "\n## "+title+"\n")
	if !ok {
		t.Fatalf("docs/ARCHITECTURE.md has no section %q", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// TestErrorGuide_CoversEveryError goes by the descriptions: each status and each
// code that they name has a row in the guide.
func TestErrorGuide_CoversEveryError(t *testing.T) {
	t.Parallel()
	older, gateway, ok := strings.Cut(readDocuments(t)["docs/api/errors.md"], "## Version 5")
	if !ok {
		t.Fatal("docs/api/errors.md has no section \"Version 5\"")
	}
	for version, text := range map[string]string{"v3": older, "v4": older, "v5": gateway} {
		raw, err := os.ReadFile("../../internal/api/" + version + "/openapi.yaml")
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`(?m)^ +"([45]\d\d)":|\b(SVC_[A-Z_]+)`).FindAllStringSubmatch(string(raw), -1)
		if len(named) < 10 {
			t.Errorf("found %d errors in version %s, want at least 10", len(named), version)
		}
		for _, m := range named {
			if row := "| " + m[1] + " |"; m[1] != "" && !strings.Contains(text, row) {
				t.Errorf("docs/api/errors.md does not explain %s of %s", m[1], version)
			}
			if m[2] != "" && !strings.Contains(text, "`"+m[2]+"`") {
				t.Errorf("docs/api/errors.md does not explain %s", m[2])
			}
		}
	}
}

var (
	link       = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	quotedPath = regexp.MustCompile("`((?:cmd|internal|web|client|test|docs|\\.ci)/[A-Za-z0-9_./-]*)`")
	makeTarget = regexp.MustCompile("(?m)`make ([a-z-]+)`|^make ([a-z-]+)$")
	command    = regexp.MustCompile("(?m)(?:^|[\\s`])(?:bin/)?" +
		`parley ([a-z-]+(?: [a-z-]+)?)((?: +--[a-z0-9-]+)*)`)
)

// isWrittenByTools reports whether Git ignores a path, which exists only after a build or a test.
func isWrittenByTools(t *testing.T, path string) bool {
	t.Helper()
	cmd := exec.Command("git", "check-ignore", "--quiet", strings.TrimSuffix(path, "/")+"/")
	cmd.Dir = "../.."
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("git check-ignore %s: %v", path, err)
	}
	return err == nil
}

func TestDocuments_PathsExist(t *testing.T) {
	t.Parallel()
	for name, text := range readDocuments(t) {
		dir := filepath.Dir(filepath.Join("../..", name))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			}
		}
		for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil && !isWrittenByTools(t, m[1]) {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}

var (
	anchorLink = regexp.MustCompile(`\]\(([^)#:]*\.md)?#([^)]*)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	codeBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestDocuments_AnchorsExist checks links to headings, with the anchors that GitHub makes
// from headings: lower case, hyphens for spaces, without punctuation.
func TestDocuments_AnchorsExist(t *testing.T) {
	t.Parallel()
	texts := readDocuments(t)
	links := 0
	for name, text := range texts {
		for _, m := range anchorLink.FindAllStringSubmatch(text, -1) {
			links++
			target := name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(name), m[1])
			}
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(texts[target], ""), -1) {
				anchor := noAnchor.ReplaceAllString(strings.ToLower(h[1]), "")
				anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
			}
			if !slices.Contains(anchors, m[2]) {
				t.Errorf("%s links to #%s of %s, got the headings %q", name, m[2], target, anchors)
			}
		}
	}
	if links < 10 {
		t.Errorf("found %d links to headings, want at least 10", links)
	}
}

// TestOperatingGuide_HasShortPages checks that the index links every page of the guide,
// and that no page is too long to find something in it.
func TestOperatingGuide_HasShortPages(t *testing.T) {
	t.Parallel()
	const directory, most = "docs/operating/", 200
	texts := readDocuments(t)
	for name, text := range texts {
		page, ok := strings.CutPrefix(name, directory)
		if !ok {
			continue
		}
		if got := strings.Count(text, "\n"); got > most {
			t.Errorf("%s has %d lines, want at most %d", name, got, most)
		}
		if page != "README.md" && !strings.Contains(texts[directory+"README.md"], "]("+page+")") {
			t.Errorf("%sREADME.md has no link to %s", directory, page)
		}
	}
}

func TestDocuments_CommandsExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for name, text := range readDocuments(t) {
		for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
			commands++
			if target := m[1] + m[2]; !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("%s names make %s, which does not exist", name, target)
			}
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			commands++
			words, flags := strings.Fields(m[1]), strings.Fields(m[2])
			help, ok := commandHelp(words)
			if !ok {
				t.Errorf("%s names parley %s, which does not exist", name, m[1])
				continue
			}
			for _, flag := range flags {
				flag = strings.TrimPrefix(flag, "--")
				negated := "--[no-]" + strings.TrimPrefix(flag, "no-")
				if !strings.Contains(help, "--"+flag) && !strings.Contains(help, negated) {
					t.Errorf("%s names parley %s --%s, a flag that does not exist", name, m[1], flag)
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("found %d commands in the documents, want at least 10", commands)
	}
}

// commandHelp returns the help of a command. The last words may be arguments.
func commandHelp(words []string) (string, bool) {
	for n := len(words); n > 0; n-- {
		var out strings.Builder
		if cli.Main(context.Background(), append(words[:n:n], "--help"), nil, &out, io.Discard) == 0 {
			return out.String(), true
		}
	}
	return "", false
}

func TestDocuments_CoverEverySetting(t *testing.T) {
	t.Parallel()
	text := readDocuments(t)["docs/configuration.md"]
	var help strings.Builder
	if status := cli.Main(t.Context(), []string{"serve", "--help"}, nil, &help, io.Discard); status != 0 {
		t.Fatalf("parley serve --help: got exit status %d, want 0", status)
	}
	for _, m := range regexp.MustCompile(`--(?:\[no-\])?([a-z0-9-]+)`).FindAllStringSubmatch(help.String(), -1) {
		if flag := m[1]; flag != "help" && !strings.Contains(text, flag) {
			t.Errorf("docs/configuration.md does not describe --%s", flag)
		}
	}
}
