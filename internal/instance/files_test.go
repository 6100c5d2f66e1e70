package instance

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/internal/quickstart"
	"parley/internal/testkit"
)

func TestMakeFilesPrivate_ExistingAndNewFiles(t *testing.T) {
	before := syscall.Umask(0o022)
	t.Cleanup(func() { syscall.Umask(before) })
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parley.db", quickstart.FileName, "notes.txt", "master.key"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := &testkit.Buffer{}
	if err := MakeFilesPrivate(dir, slog.New(slog.NewTextHandler(log, nil))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fresh"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"parley.db": 0o600, quickstart.FileName: 0o600, "fresh": 0o600,
		"notes.txt": 0o644, "master.key": 0o644, ".": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s: got %04o, %v, want %04o", name, info.Mode().Perm(), err, want)
		}
	}
	logged := log.String()
	if strings.Count(logged, "changed its mode to 0600") != 2 ||
		!strings.Contains(logged, "other users can enter the data directory") {
		t.Errorf("got the log %q, want two changed modes and the warning about the directory", logged)
	}
	if err := MakeFilesPrivate(filepath.Join(dir, "missing"), nil); err != nil {
		t.Errorf("directory that does not exist: got error %v, want none", err)
	}
}

// A --data-dir that is a file is named as the cause, and not the mode of a file in it.
func TestMakeFilesPrivate_NoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		file:                        "--data-dir: " + file + " is not a directory",
		filepath.Join(file, "data"): "--data-dir: stat " + file + "/data: not a directory",
	} {
		if err := MakeFilesPrivate(dir, nil); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %q", dir, err, want)
		}
	}
}
