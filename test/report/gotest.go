package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64 // in seconds
	Output  string

	ImportPath  string // of a build-output event
	FailedBuild string // of a package that did not compile
}

// goTest collects the attempts of one test. Test is empty for what belongs to the whole package.
type goTest struct {
	pkg, name string
	state     string // "pass", "fail", "skip", or empty while the test runs
	seconds   float64
	output    []string // of the current attempt
	message   string   // of the last failed attempt
	file      string
	failures  int
}

// readGo reads the events of go test. Several runs may follow one another, because gotestsum
// repeats failed tests; the last attempt of each test decides. A test with subtests that failed is
// not listed beside them.
func readGo(r io.Reader) ([]result, error) {
	tests := map[[2]string]*goTest{}
	var order []*goTest
	find := func(pkg, name string) *goTest {
		key := [2]string{pkg, name}
		if tests[key] == nil {
			tests[key] = &goTest{pkg: pkg, name: name}
			order = append(order, tests[key])
		}
		return tests[key]
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if jsonErr := json.Unmarshal(line, &e); jsonErr != nil {
				return nil, fmt.Errorf("%w: %.80q", errNotJSON, line)
			}
			if e.Action == "build-output" {
				e.Package = e.ImportPath
			}
			find(e.Package, e.Test).add(e, tests)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}

	hasSubtests := map[[2]string]bool{}
	failedInside := map[[2]string]bool{}
	for _, t := range order {
		if t.name == "" {
			continue
		}
		if t.failures > 0 || t.state == "" {
			failedInside[[2]string{t.pkg, ""}] = true
		}
		for name := t.name; strings.Contains(name, "/"); {
			name = name[:strings.LastIndexByte(name, '/')]
			hasSubtests[[2]string{t.pkg, name}] = true
			if t.failures > 0 {
				failedInside[[2]string{t.pkg, name}] = true
			}
		}
	}
	var results []result
	for _, t := range order {
		key := [2]string{t.pkg, t.name}
		one := result{Name: t.name, File: t.place(), Message: t.message}
		if !strings.Contains(t.name, "/") {
			one.Seconds = t.seconds
		}
		switch {
		case failedInside[key]:
			continue
		case t.name == "" && t.state != "fail":
			continue
		case t.name == "":
			one.Name, one.Status = "the package", failed
		case t.state == "skip":
			one.Status = skipped
		case t.state != "pass":
			one.Status = failed
			if t.state == "" {
				one.Message = "did not end: " + t.firstError()
			}
		case t.failures > 0:
			one.Status = repeated
		}
		results = append(results, one)
	}
	return results, nil
}

func (t *goTest) add(e event, tests map[[2]string]*goTest) {
	switch e.Action {
	case "run", "start":
		t.state, t.output = "", nil
	case "output", "build-output":
		t.output = append(t.output, e.Output)
	case "pass", "skip":
		t.state, t.seconds = e.Action, e.Elapsed
	case "fail":
		t.state, t.seconds = e.Action, e.Elapsed
		t.failures++
		if build := tests[[2]string{e.FailedBuild, ""}]; e.FailedBuild != "" && build != nil {
			t.output = append(build.output, t.output...)
		}
		t.message = t.firstError()
	}
}

var (
	// errorLine is what t.Error and the compiler print: a file, a line and a message.
	errorLine = regexp.MustCompile(`^\s*(?:\./)?([\w./-]+\.go):\d+(?::\d+)?: (.*\S)`)
	// scriptLine is what testscript prints at the end of a script, after its whole output.
	scriptLine = regexp.MustCompile(`(?m)^\s*FAIL: ([\w./-]+\.txtar):\d+: (.*\S)`)
	noise      = regexp.MustCompile(`^\s*(=== |--- |FAIL\b|ok\b|exit status|#)`)
)

// firstError returns the first line of the output that tells an error, and remembers its file.
func (t *goTest) firstError() string {
	text := strings.Join(t.output, "")
	if found := scriptLine.FindStringSubmatch(text); found != nil {
		t.file = found[1]
		return firstLine(found[2])
	}
	fallback := ""
	for line := range strings.Lines(text) {
		if found := errorLine.FindStringSubmatch(line); found != nil {
			t.file = found[1]
			return firstLine(found[2])
		}
		if strings.HasPrefix(line, "panic: ") {
			return firstLine(line)
		}
		if fallback == "" && !noise.MatchString(line) {
			fallback = firstLine(line)
		}
	}
	return fallback
}

// place returns the file of the error, or the directory of the package.
func (t *goTest) place() string {
	_, directory, found := strings.Cut(t.pkg, "/")
	if !found {
		directory = "."
	}
	if t.file == "" {
		return directory
	}
	if strings.Contains(t.file, "/") && !strings.HasPrefix(t.file, "testdata/") {
		return t.file
	}
	return directory + "/" + t.file
}
