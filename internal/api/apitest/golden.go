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

var update = flag.Bool("update", false, "rewrite the golden files")

// errorLog maps each distinct error response to the set of requests that
// returned it.
type errorLog map[string]map[string]bool

var (
	requestIDPattern = regexp.MustCompile(`req_[0-9a-hjkmnp-tv-z]{20}`)
	uuidPattern      = regexp.MustCompile(`(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)
)

// add records an error response: its status, headers and body, with ids
// replaced by placeholders.
func (d errorLog) add(t testing.TB, method, target string, resp *http.Response, body []byte) {
	var text strings.Builder
	fmt.Fprintf(&text, "%d %s\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	_ = resp.Header.Write(&text)
	text.WriteString("\r\n")
	text.Write(body)
	response := strings.ReplaceAll(requestIDPattern.ReplaceAllString(text.String(), "req_ID"), "\r", "")
	target = uuidPattern.ReplaceAllString(target, "UUID")
	name := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]
	if d[response] == nil {
		d[response] = map[string]bool{}
	}
	request := method + " " + target
	if !strings.HasSuffix(target, "/"+name) {
		request += ": " + name
	}
	d[response][request] = true
}

// AssertGolden compares the error responses so far with a file, which lists each
// distinct response after the requests that returned it. The flag -update
// rewrites the file.
func (c *Checker) AssertGolden(name string) {
	c.t.Helper()
	var out bytes.Buffer
	for _, response := range slices.Sorted(maps.Keys(c.errors)) {
		for _, request := range slices.Sorted(maps.Keys(c.errors[response])) {
			fmt.Fprintf(&out, "# %s\n", request)
		}
		fmt.Fprintf(&out, "%s\n\n", strings.TrimSuffix(response, "\n"))
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
	got, wantLines := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(wantLines)) {
		if got[i] != wantLines[i] {
			c.t.Fatalf("%s, line %d: got\n%s\nwant\n%s\nIf the change is intended, run the test with -update", name,
				i+1, got[i], wantLines[i])
		}
	}
	if len(got) != len(wantLines) {
		c.t.Fatalf("%s: got %d lines, want %d. If the change is intended, run the test with -update", name,
			len(got), len(wantLines))
	}
}
