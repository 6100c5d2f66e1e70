// Command report summarizes the results of a test run: the slowest tests, the tests that were
// repeated, and the tests that failed. It ends with status 1 if a test failed, or if so many tests
// were repeated that the run cannot be trusted.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxRepeated is how many tests may pass only when they are repeated, before the run is red.
	maxRepeated  = 3
	slowestShown = 10
)

// result is the outcome of one test.
type result struct {
	Name    string
	File    string  // below the top directory; of a Go test, its package until an error names the file
	Seconds float64 // of the last attempt
	Status  status
	Message string // first line of the error of a failed attempt
}

type status int

const (
	passed   status = iota
	repeated        // passed after a failed attempt
	failed
	skipped
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: report DIRECTORY")
		os.Exit(2)
	}
	results, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "read the results:", err)
		os.Exit(2)
	}
	if !summarize(os.Stdout, results) {
		os.Exit(1)
	}
}

// read reads the results of go test (*.jsonl, written by gotestsum) and of Vitest (*.json) in a
// directory.
func read(directory string) ([]result, error) {
	top, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var results []result
	goFiles, err := filepath.Glob(filepath.Join(directory, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, name := range goFiles {
		if err := readFile(name, func(r io.Reader) error {
			some, err := readGo(r)
			results = append(results, some...)
			return err
		}); err != nil {
			return nil, err
		}
	}
	vitestFiles, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range vitestFiles {
		if err := readFile(name, func(r io.Reader) error {
			some, err := readVitest(r, top)
			results = append(results, some...)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func readFile(name string, read func(io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := read(bufio.NewReader(file)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readVitest reads the JSON report of Vitest. A test that passed after a failed attempt still has
// the error of that attempt.
func readVitest(r io.Reader, top string) ([]result, error) {
	var report struct {
		TestResults []struct {
			Name             string `json:"name"`
			Status           string `json:"status"`
			Message          string `json:"message"`
			AssertionResults []struct {
				FullName        string   `json:"fullName"`
				Status          string   `json:"status"`
				Duration        float64  `json:"duration"` // in milliseconds
				FailureMessages []string `json:"failureMessages"`
			} `json:"assertionResults"`
		} `json:"testResults"`
	}
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, err
	}
	var results []result
	for _, file := range report.TestResults {
		path := strings.TrimPrefix(file.Name, top+string(filepath.Separator))
		anyFailed := false
		for _, test := range file.AssertionResults {
			one := result{Name: test.FullName, File: path, Seconds: test.Duration / 1000}
			if len(test.FailureMessages) > 0 {
				one.Message = firstLine(test.FailureMessages[0])
			}
			switch {
			case test.Status == "failed":
				one.Status, anyFailed = failed, true
			case test.Status != "passed":
				one.Status = skipped
			case len(test.FailureMessages) > 0:
				one.Status = repeated
			}
			results = append(results, one)
		}
		if file.Status == "failed" && !anyFailed {
			results = append(results, result{Name: "the file", File: path, Status: failed, Message: firstLine(file.Message)})
		}
	}
	return results, nil
}

// summarize prints the results and returns whether the run is green.
func summarize(w io.Writer, results []result) bool {
	by := map[status][]result{}
	for _, r := range results {
		by[r.Status] = append(by[r.Status], r)
	}
	slowest := slices.Clone(results)
	slices.SortStableFunc(slowest, func(a, b result) int { return cmp.Compare(b.Seconds, a.Seconds) })
	if len(slowest) > 0 {
		fmt.Fprintln(w, "\nThe slowest tests:")
	}
	for _, r := range slowest[:min(slowestShown, len(slowest))] {
		fmt.Fprintf(w, "  %5.1f s  %s: %s\n", r.Seconds, r.File, r.Name)
	}
	list(w, "Tests that passed only when they were repeated (CONTRIBUTING.md says what to do):", by[repeated])
	list(w, "Failed tests:", by[failed])
	if len(by[repeated]) > maxRepeated {
		fmt.Fprintf(w, "\n%d tests were repeated. More than %d make the run red.\n", len(by[repeated]), maxRepeated)
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n",
		len(by[passed])+len(by[repeated]), len(by[failed]), len(by[skipped]))
	return len(by[failed]) == 0 && len(by[repeated]) <= maxRepeated
}

func list(w io.Writer, title string, results []result) {
	if len(results) == 0 {
		return
	}
	fmt.Fprintln(w, "\n"+title)
	for _, r := range results {
		fmt.Fprintf(w, "  %s: %s\n      %s\n", r.File, r.Name, cmp.Or(r.Message, "no message"))
	}
}

// firstLine returns the first line of a text that has any character, shortened to the width of a screen.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if runes := []rune(line); len(runes) > 160 {
				return string(runes[:160]) + "…"
			}
			return line
		}
	}
	return ""
}

var errNotJSON = errors.New("a line is not JSON")
