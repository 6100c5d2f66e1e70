package seal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")

	_, err := LoadOrCreateKeyFile(path, false)
	want := "the master key file " + path + " does not exist: bring it back from your backup, or give the key in PARLEY_MASTER_KEY"
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Fatalf("missing: %v", err)
	}
	k, err := LoadOrCreateKeyFile(path, true)
	if err != nil || k.IsZero() {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	for range 2 {
		if again, err := LoadOrCreateKeyFile(path, true); err != nil || again != k {
			t.Fatalf("read back: %v", err)
		}
	}
	if err := CreateKeyFile(path, NewKey()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a key file was replaced: %v", err)
	}
	if again, err := LoadKeyFile(path); err != nil || again != k {
		t.Errorf("after that: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestKeyFile_OpenToOthersRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	if err := CreateKeyFile(path, NewKey()); err != nil {
		t.Fatal(err)
	}
	for mode, octal := range map[fs.FileMode]string{0o640: "0640", 0o604: "0604", 0o644: "0644", 0o620: "0620", 0o601: "0601"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := LoadOrCreateKeyFile(path, true)
		want := "the master key file " + path + " is open to other users (mode " + octal + "): run chmod 600 '" + path + "'"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o400} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeyFile(path); err != nil {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

func TestKeyFile_Refused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "broken.key")
	secret := strings.Repeat("x", 40)
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := LoadOrCreateKeyFile(path, true)
	if err == nil || !strings.HasPrefix(err.Error(), "the file "+path+" holds no usable key: the master key must be 32 bytes") {
		t.Errorf("broken: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the error repeats the file: %v", err)
	}
	if _, err := LoadKeyFile(dir); err == nil || !strings.HasSuffix(err.Error(), "is not a regular file") {
		t.Errorf("directory: %v", err)
	}
	if _, err := LoadOrCreateKeyFile(filepath.Join(dir, "no", "master.key"), true); err == nil {
		t.Error("a file was created in a directory that is not there")
	}
	if err := CreateKeyFile(filepath.Join(dir, "zero.key"), Key{}); err == nil {
		t.Error("the zero key was written")
	}
}

// Several servers that start at once on one data directory agree on one key.
func TestKeyFile_ConcurrentCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	keys := make([]Key, 16)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			k, err := LoadOrCreateKeyFile(path, true)
			if err != nil {
				t.Error(err)
			}
			keys[i] = k
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Fatalf("%v and %v", k, keys[0])
		}
	}
}
