package apitest

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// errorLog collects refusals, byte for byte, and what each was the answer to.
type errorLog map[string]map[string]bool

var (
	requestIDPattern = regexp.MustCompile(`req_[0-9a-hjkmnp-tv-z]{16}`)
	uuidPattern      = regexp.MustCompile(`(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)
)

// add notes a refusal: its status, headers and body, with neutral ids.
func (d errorLog) add(t testing.TB, method, target string, answer *http.Response, body []byte) {
	var text strings.Builder
	fmt.Fprintf(&text, "%d %s\n", answer.StatusCode, http.StatusText(answer.StatusCode))
	_ = answer.Header.Write(&text)
	text.WriteString("\r\n")
	text.Write(body)
	refusal := strings.ReplaceAll(requestIDPattern.ReplaceAllString(text.String(), "req_ID"), "\r", "")
	target = uuidPattern.ReplaceAllString(target, "UUID")
	name := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]
	if d[refusal] == nil {
		d[refusal] = map[string]bool{}
	}
	cause := method + " " + target
	if !strings.HasSuffix(target, "/"+name) {
		cause += ": " + name
	}
	d[refusal][cause] = true
}

// AssertGolden holds every refusal that was met to a file: each distinct answer with
// all that it was the answer to. The flag -update writes the file.
func (c *Checker) AssertGolden(name string) {
	c.t.Helper()
	var out bytes.Buffer
	for _, refusal := range slices.Sorted(maps.Keys(c.errors)) {
		for _, cause := range slices.Sorted(maps.Keys(c.errors[refusal])) {
			fmt.Fprintf(&out, "# %s\n", cause)
		}
		fmt.Fprintf(&out, "%s\n\n", strings.TrimSuffix(refusal, "\n"))
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
			c.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	got, lines := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(lines)) {
		if got[i] != lines[i] {
			c.t.Fatalf("%s, line %d: the answer is now\n%s\nand was\n%s\nIf that is meant, run the test with -update", name, i+1, got[i], lines[i])
		}
	}
	if len(got) != len(lines) {
		c.t.Fatalf("%s has %d lines, the answers %d. If that is meant, run the test with -update", name, len(lines), len(got))
	}
}
