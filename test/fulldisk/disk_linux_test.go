// Package fulldisk tests a server whose disk is full. The disk is a small file system in
// memory that only the processes of the test see. Only root on Linux may mount it; otherwise
// the tests are skipped.
package fulldisk

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// inMountNamespace runs the calling test in a process with a mount namespace of its own and
// reports whether this is that process. Other processes return once it has passed.
func inMountNamespace(t *testing.T) bool {
	t.Helper()
	const variable = "PARLEY_TEST_MOUNT_NAMESPACE"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), variable+"="+t.Name())
	// Go makes the mounts of the new namespace private.
	child.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	output, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may create a mount namespace")
	}
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Fatalf("in its own mount namespace: got %v, want a pass; its output:\n%s", err, output)
	}
	return false
}

// disk is a file system of a few megabytes.
type disk struct {
	t   *testing.T
	dir string
}

func mountDisk(t *testing.T, megabytes int) disk {
	t.Helper()
	d := disk{t, t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Fatalf("mount a file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	return d
}

func (d disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill occupies all space that is left.
func (d disk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, size := range []int{1 << 20, 1 << 10} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatalf("fill the disk: got %v, want %v", err, syscall.ENOSPC)
		}
	}
}

// fillExcept occupies all space that is left except for a number of bytes.
func (d disk) fillExcept(space int64) {
	d.t.Helper()
	d.fill()
	info, err := os.Stat(d.ballast())
	if err == nil {
		err = os.Truncate(d.ballast(), info.Size()-space)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// free releases what fill has occupied.
func (d disk) free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}

// readFiles returns the contents of the files in a directory by their names, without the one that fills the disk,
// the lock, which names the last process, and what SQLite keeps beside a database that it cannot close on a full disk:
// an empty log and its index.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() { // the local socket
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case slices.Contains([]string{"ballast", "parley.lock", "parley.db-shm"}, e.Name()),
			e.Name() == "parley.db-wal" && len(content) == 0:
			continue
		}
		files[e.Name()] = string(content)
	}
	return files
}

// requireSameFiles fails unless a directory has the files that it had before.
func requireSameFiles(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := readFiles(t, dir)
	got, want := slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before))
	if !slices.Equal(got, want) {
		t.Errorf("files in %s: got %v, want %v", dir, got, want)
	}
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s in %s: got another content, want the one before", name, dir)
		}
	}
}
