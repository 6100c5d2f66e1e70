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
	want := "the master key file " + path + " does not exist: copy the key there, or name its file with " +
		"--master-key-file, or set PARLEY_MASTER_KEY; backups of Parley do not contain it"
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Fatalf("missing file: got %v, want %s", err, want)
	}
	k, err := LoadOrCreateKeyFile(path, true)
	if err != nil || k.IsZero() {
		t.Fatalf("create the key file %s: got error %v, zero key: %v, want no error and a key", path, err, k.IsZero())
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	for range 2 {
		if again, err := LoadOrCreateKeyFile(path, true); err != nil || again != k {
			t.Fatalf("read the file again: got %v, %v, want %v", again, err, k)
		}
	}
	if err := createKeyFile(path, NewKey()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create an existing file: got %v, want fs.ErrExist", err)
	}
	if again, err := LoadKeyFile(path); err != nil || again != k {
		t.Errorf("read the file after that: got %v, %v, want %v", again, err, k)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("got files %v, want the key file only", entries)
	}
}

func TestKeyFile_OpenToOthersRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master key")
	if err := createKeyFile(path, NewKey()); err != nil {
		t.Fatal(err)
	}
	modes := map[fs.FileMode]string{0o640: "0640", 0o604: "0604", 0o644: "0644", 0o620: "0620", 0o601: "0601"}
	for mode, octal := range modes {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := LoadOrCreateKeyFile(path, true)
		want := "the master key file " + path + " is open to other users (mode " + octal + "): " +
			"run chmod 600 '" + path + "'"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o400} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeyFile(path); err != nil {
			t.Errorf("key file with mode %o: got error %v, want none", mode, err)
		}
	}
}

// A credential of systemd may show the bit of the group, and only that one.
func TestKeyFile_Credential(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	if _, err := LoadOrCreateKeyFile(path, true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		directory string
		mode      fs.FileMode
		allowed   bool
	}{
		{dir, 0o440, true}, {dir, 0o444, false}, {dir, 0o460, false}, {"", 0o440, false}, {filepath.Dir(dir), 0o440, false},
	} {
		t.Setenv("CREDENTIALS_DIRECTORY", c.directory)
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeyFile(path); (err == nil) != c.allowed {
			t.Errorf("mode %o with the credentials in %q: got %v, want allowed %t", c.mode, c.directory, err, c.allowed)
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
	prefix := "the file " + path + " contains no valid key: the master key must be 32 bytes"
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		t.Errorf("broken file: got error %v, want one that starts with %q", err, prefix)
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("broken file: got the content of the file in the error %q, want it left out", err)
	}
	if _, err := LoadKeyFile(dir); err == nil || !strings.HasSuffix(err.Error(), "is not a regular file") {
		t.Errorf("directory: got %v, want an error", err)
	}
	if _, err := LoadOrCreateKeyFile(filepath.Join(dir, "no", "master.key"), true); err == nil {
		t.Error("key file in a directory that does not exist: got no error, want one")
	}
	if err := createKeyFile(filepath.Join(dir, "zero.key"), Key{}); err == nil {
		t.Error("key file with the zero key: got no error, want one")
	}
}

// Several processes that start at the same time on one data directory use one
// key.
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
			t.Fatalf("got different keys %v and %v", k, keys[0])
		}
	}
}
