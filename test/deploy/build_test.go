package deploy

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Two builds of a commit are the same byte for byte, with everything that is inside: the pages, the packages of the
// SDKs, and the program. They do not depend on the path, the umask, the time zone or the language of whoever builds.
func TestBuild_Reproducible(t *testing.T) {
	one, other := cloneCheckout(t), cloneCheckout(t)
	buildFromNothing(t, one, "022")
	buildFromNothing(t, other, "077", "TZ=Pacific/Auckland", "LC_ALL=C.UTF-8")
	files := listFiles(t, one)
	if got := listFiles(t, other); !slices.Equal(got, files) {
		t.Fatalf("a second build: got the files\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(files, "\n"))
	}
	for _, file := range files {
		want, err := os.ReadFile(filepath.Join(one, file))
		got, otherErr := os.ReadFile(filepath.Join(other, file))
		if err := errors.Join(err, otherErr); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got another file of %d bytes, %v, want the same %d bytes", file, len(got), err, len(want))
		}
	}
}

// buildFromNothing runs make build in a new checkout, as make release does, with a umask and variables.
func buildFromNothing(t *testing.T, source, umask string, variables ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "umask "+umask+" && exec make build")
	cmd.Dir = source
	for _, variable := range os.Environ() {
		// Those of a make that runs this test are not for another one.
		if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, variables...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make build: got %v, want no error: %s", err, output)
	}
}

// listFiles returns what make build has made of a checkout: the files that are in the program, and the program.
func listFiles(t *testing.T, source string) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(source), "web/dist", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("got %d files of the pages, %v, want at least 100", len(files), err)
	}
	return append(files, "bin/parley")
}
