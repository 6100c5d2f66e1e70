package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The packages of the page are those that the program says, whatever is around the list.
func TestPagePackages(t *testing.T) {
	const list = `{"parleyPagePackages":[{"name":"@livekit/mutex","version":"1.1.1"},` +
		`{"name":"preact","version":"11.2.0"}]}`
	const none = "error: the program has no list of the packages of its page: run make build"
	for name, c := range map[string]struct{ program, want string }{
		"a list":        {"\x7fELF\x00" + list + "\x00{", "pkg:npm/%40livekit/mutex@1.1.1 pkg:npm/preact@11.2.0"},
		"no list":       {"\x7fELF\x00{}", none},
		"half a list":   {list[:40], "error: read the list of the packages of the page: unexpected EOF"},
		"an empty list": {`{"parleyPagePackages":[]}`, none},
	} {
		file := filepath.Join(t.TempDir(), "parley")
		if err := os.WriteFile(file, []byte(c.program), 0o600); err != nil {
			t.Fatal(err)
		}
		components, err := pagePackages(file)
		var urls []string
		for _, component := range components {
			urls = append(urls, component.PackageURL)
		}
		got := strings.Join(urls, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
