package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersion_OfTheseSources fails if the sources of an SDK have changed and its version has not.
func TestVersion_OfTheseSources(t *testing.T) {
	if err := checkVersion(".."); err != nil {
		t.Error(err)
	}
	version, err := readVersion("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mentions {
		text, err := os.ReadFile(filepath.Join("../..", m.path))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(m.text, "%s", version); !strings.Contains(string(text), want) {
			t.Errorf("%s: got no %s, want the version of the packages", m.path, want)
		}
	}
}

// TestVersion_Bump changes the sources of one SDK in a copy, and raises the version.
func TestVersion_Bump(t *testing.T) {
	for _, changed := range []string{"go/client.go", "typescript/src/client.ts", "python/src/parley/errors.py",
		"php/src/Client.php", "php/README.md", "packages/wheel.go"} {
		t.Run(changed, func(t *testing.T) {
			root := copySources(t)
			dir := filepath.Join(root, "sdk")
			appendTo(t, filepath.Join(dir, "go/client_test.go"), "\n")
			if err := checkVersion(dir); err != nil {
				t.Fatalf("after a change of a test: got error %v, want nil", err)
			}
			before, err := readVersion(dir)
			if err != nil {
				t.Fatal(err)
			}
			appendTo(t, filepath.Join(dir, changed), "\n")
			if err := checkVersion(dir); err == nil || !strings.Contains(err.Error(), "go run ./sdk/packages -bump") {
				t.Errorf("after a change: got error %v, want the command that raises the version", err)
			}
			var out strings.Builder
			if err := bump(dir, &out); err != nil {
				t.Fatal(err)
			}
			if err := checkVersion(dir); err != nil {
				t.Errorf("after the bump: got error %v, want nil", err)
			}
			after, err := readVersion(dir)
			want := "raised the version of the SDKs from " + before + " to " + after + "\n"
			if err != nil || out.String() != want {
				t.Errorf("the bump: got %q, error %v, want %q", out.String(), err, want)
			}
			for _, m := range mentions {
				text, err := os.ReadFile(filepath.Join(root, m.path))
				if err != nil {
					t.Fatal(err)
				}
				if old := strings.ReplaceAll(m.text, "%s", before); strings.Contains(string(text), old) {
					t.Errorf("%s after the bump: got %s, want a later version", m.path, old)
				}
			}
			lines, err := readVersions(dir)
			if err != nil {
				t.Fatal(err)
			}
			last := lines[len(lines)-1]
			appendTo(t, filepath.Join(dir, versionsFile), last+"\n")
			if err := checkVersion(dir); err == nil || !strings.Contains(err.Error(), "twice") {
				t.Errorf("a version with two lines: got error %v, want one that says twice", err)
			}
		})
	}
}

// TestVersion_BumpWithoutChange raises the version twice, the second time without a change of the sources.
func TestVersion_BumpWithoutChange(t *testing.T) {
	root := copySources(t)
	dir := filepath.Join(root, "sdk")
	appendTo(t, filepath.Join(dir, "go/client.go"), "\n")
	if err := bump(dir, io.Discard); err != nil {
		t.Fatal(err)
	}
	version, err := readVersion(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := readAll(t, root)
	var out strings.Builder
	if err := bump(dir, &out); err != nil {
		t.Fatal(err)
	}
	if want := "nothing to raise: the sources of the SDKs are those of version " + version + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	for path, content := range readAll(t, root) {
		if before[path] != content {
			t.Errorf("%s has changed, want that no file changes", path)
		}
	}
}

// readAll returns the content of all files below a directory.
func readAll(t *testing.T, root string) map[string]string {
	t.Helper()
	tree, err := readTree(root, "")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range tree {
		all[f.name] = string(f.content)
	}
	return all
}

// copySources copies the files that have to do with the version into a new directory.
func copySources(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	sources, err := readSources("..")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"sdk/" + versionsFile}
	for _, f := range sources {
		names = append(names, "sdk/"+f.name)
	}
	for _, m := range mentions {
		names = append(names, m.path)
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := write(filepath.Join(root, name), content); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
