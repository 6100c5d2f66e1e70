package fulldisk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/backup"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// runBackup runs parley backup and returns its output.
func runBackup(t *testing.T, dataDir, file string) (string, error) {
	t.Helper()
	out, err := parleytest.Command(nil, "backup", file, "--data-dir", dataDir).CombinedOutput()
	return string(out), err
}

// A backup to a full disk fails with the reason, and leaves no file.
func TestBackup_ToFullDisk(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	target, dataDir := mountDisk(t, 1), t.TempDir()
	s := startServer(t, dataDir)
	if _, err := s.createRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(target.dir, "b.tar")
	for _, space := range []int64{0, 64 << 10} { // bytes that are left; the second is enough for a part
		target.fillExcept(space)
		out, err := runBackup(t, dataDir, file)
		if exitStatus(err) != 1 || !strings.Contains(out, "no space left on device") {
			t.Errorf("backup with %d bytes of space: got %v %s, want exit status 1 and the reason", space, err, out)
		}
		entries, err := os.ReadDir(target.dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("after a backup with %d bytes of space: got %v, %v, want no new file", space, entries, err)
		}
	}

	// What a full disk would leave is not a backup either.
	whole := filepath.Join(t.TempDir(), "b.tar")
	if out, err := runBackup(t, dataDir, whole); err != nil {
		t.Fatalf("backup: %v %s", err, out)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	target.free()
	for _, size := range []int{0, 512, len(content) / 2, len(bytes.TrimRight(content, "\x00"))/512*512 - 512} {
		if err := os.WriteFile(file, content[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := backup.Check(file); err == nil {
			t.Errorf("the first %d of %d bytes: got the manifest %+v, want an error", size, len(content), m)
		}
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v\n%s", err, s.Log)
	}
}

// A backup of a server whose data directory is full fails with the reason and the remedy, although its database is on a
// PostgreSQL server that has space. It leaves no file.
func TestBackup_FullDataDirectory(t *testing.T) {
	t.Parallel()
	if !inMountNamespace(t) {
		return
	}
	dataDir := mountDisk(t, 16)
	s := parleytest.Start(t, parleytest.Options{DataDir: dataDir.dir, Args: []string{"--no-supervise"},
		Environment: []string{"PARLEY_DATABASE_URL=" + storetest.Postgres(t)}})
	testkit.Eventually(t, "the server has written all its files", func() bool {
		_, err := os.Stat(filepath.Join(dataDir.dir, "database.id"))
		return err == nil
	})
	before := readFiles(t, dataDir.dir)
	file := filepath.Join(t.TempDir(), "b.tar")
	for _, space := range []int64{0, 16 << 10} { // bytes that are left; the second is enough for a part
		dataDir.fillExcept(space)
		out, err := runBackup(t, dataDir.dir, file)
		dataDir.free()
		if exitStatus(err) != 1 || !strings.Contains(out, "the backup could not be made: the disk of "+dataDir.dir+
			" is full: free some space") {
			t.Errorf("with %d bytes of space: got %v %s, want exit status 1, the reason and the remedy", space, err, out)
		}
		requireSameFiles(t, dataDir.dir, before)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("with %d bytes of space, the file of the backup: got %v, want none", space, err)
		}
	}
	if out, err := runBackup(t, dataDir.dir, file); err != nil {
		t.Errorf("after space was freed: got %v %s, want a backup", err, out)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v\n%s", err, s.Log)
	}
}

// exitStatus returns the exit status of a command that has failed, and 0 for any other error.
func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}
