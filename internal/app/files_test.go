package app

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

func TestMakeFilesPrivate(t *testing.T) {
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
			t.Errorf("%s: mode %04o %v, want %04o", name, info.Mode().Perm(), err, want)
		}
	}
	said := log.String()
	if strings.Count(said, "changed its mode to 0600") != 2 ||
		!strings.Contains(said, "other users can enter the data directory") {
		t.Errorf("the log: %s", said)
	}
	if err := MakeFilesPrivate(filepath.Join(dir, "missing"), nil); err != nil {
		t.Errorf("a directory that is not there yet: %v", err)
	}
}
