package instance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/config"
	"parley/internal/seal"
)

// newSealedDatabase returns a new database with a sealed secret.
func newSealedDatabase(t *testing.T, key seal.Secret) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir, cfg.MasterKey = t.TempDir(), key
	openSealed(t, cfg)
	return cfg
}

// openSealed opens the database and the secrets in it.
func openSealed(t *testing.T, cfg config.Config) {
	t.Helper()
	db, err := OpenStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.MediaSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := db.OpenSecrets(t.Context()); err != nil || n == 0 {
		t.Fatalf("open the secrets: got %d, %v, want at least one", n, err)
	}
}

func loadKey(t *testing.T, file string) seal.Key {
	t.Helper()
	key, err := seal.LoadKeyFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestReseal_KeepsOldKey(t *testing.T) {
	t.Parallel()
	cfg := newSealedDatabase(t, "")
	var old []seal.Key
	for range 2 {
		key := loadKey(t, cfg.KeyFile())
		old = append(old, key)
		result, err := Reseal(t.Context(), cfg)
		kept := cfg.KeyFile() + "." + key.ID()
		want := "keep " + kept + " with the backups made before now; delete it when they are gone"
		if err != nil || result.Keep != want || result.NextStep != "" {
			t.Fatalf("got %+v, %v, want %q", result, err, want)
		}
		if loadKey(t, cfg.KeyFile()) == key {
			t.Error("key file after the reseal: got the old key, want a new one")
		}
		openSealed(t, cfg)
	}
	for _, key := range old {
		if got := loadKey(t, cfg.KeyFile()+"."+key.ID()); got != key {
			t.Errorf("the kept key: got %v, want %v", got, key)
		}
	}
	if _, err := os.Stat(cfg.KeyFile() + nextKeySuffix); !os.IsNotExist(err) {
		t.Errorf("master.key.next: got %v, want that it does not exist", err)
	}
}

// A file with the name of the kept key that contains anything else is not overwritten.
func TestReseal_RefusesToOverwriteKeptKey(t *testing.T) {
	t.Parallel()
	cfg := newSealedDatabase(t, "")
	kept, other := cfg.KeyFile()+"."+loadKey(t, cfg.KeyFile()).ID(), seal.NewKey()
	if err := os.WriteFile(kept, []byte(other.Reveal()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Reseal(t.Context(), cfg); err == nil ||
		!strings.Contains(err.Error(), kept+" contains another key: move it away") {
		t.Errorf("got %v, want the remedy", err)
	}
	if got := loadKey(t, kept); got != other {
		t.Errorf("got the key %v, want %v", got, other)
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	openSealed(t, cfg) // completes the reseal
	loadKey(t, kept)
}

// A next key that is there before the reseal began is kept, and never used.
func TestReseal_DoesNotUseEarlierNextKey(t *testing.T) {
	t.Parallel()
	cfg := newSealedDatabase(t, "")
	earlier := seal.NewKey()
	if err := seal.SaveKeyFile(cfg.KeyFile()+nextKeySuffix, earlier); err != nil {
		t.Fatal(err)
	}
	if _, err := Reseal(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if loadKey(t, cfg.KeyFile()) == earlier {
		t.Error("key file after the reseal: got the key that was there before, want a new one")
	}
	if got := loadKey(t, cfg.KeyFile()+"."+earlier.ID()); got != earlier {
		t.Errorf("the kept key: got %v, want %v", got, earlier)
	}
	openSealed(t, cfg)
}

// After a crash between the commit and the replacement of the key file, the next start
// keeps the old key too.
func TestReseal_InterruptedKeepsOldKey(t *testing.T) {
	t.Parallel()
	cfg := newSealedDatabase(t, "")
	old, next := loadKey(t, cfg.KeyFile()), commitReseal(t, cfg)
	openSealed(t, cfg)
	if got := loadKey(t, cfg.KeyFile()); got != next {
		t.Errorf("the key file: got %v, want %v", got, next)
	}
	if got := loadKey(t, cfg.KeyFile()+"."+old.ID()); got != old {
		t.Errorf("the kept key: got %v, want %v", got, old)
	}
}

// commitReseal does what a reseal does until its commit, and returns the new key.
func commitReseal(t *testing.T, cfg config.Config) seal.Key {
	t.Helper()
	next, err := seal.LoadOrCreateKeyFile(cfg.KeyFile()+nextKeySuffix, true)
	if err != nil {
		t.Fatal(err)
	}
	db, err := OpenStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := resealAll(t.Context(), db, next); err != nil {
		t.Fatal(err)
	}
	return next
}

func TestReseal_KeyFromEnvironment(t *testing.T) {
	t.Parallel()
	first := seal.NewKey()
	cfg := newSealedDatabase(t, seal.Secret(first.Reveal()))
	file := filepath.Join(cfg.DataDir, "master.key.next")
	result, err := Reseal(t.Context(), cfg)
	want := "put the key in " + file + " into PARLEY_MASTER_KEY, then delete the file"
	keep := "keep the earlier key (" + first.ID() + ") with the backups made before now; delete it when they are gone"
	if err != nil || result.NextStep != want || result.Keep != keep || result.KeyFile != file {
		t.Fatalf("got %+v, %v, want %q and %q", result, err, want, keep)
	}
	// The operator has not set the new key, as after a crash of the command.
	want = "the new key of the last parley reseal is in " + file + ": set PARLEY_MASTER_KEY to it"
	if _, err := OpenStore(t.Context(), cfg); err == nil || !strings.Contains(strings.ToLower(err.Error()),
		strings.ToLower(want)) {
		t.Errorf("start with the old key: got %v, want %q", err, want)
	}
	if second := loadKey(t, file); second == first {
		t.Error("new key file after the second reseal: got the first key, want a new one")
	} else {
		cfg.MasterKey = seal.Secret(second.Reveal())
	}
	openSealed(t, cfg)
	want = file + " contains the key that is in use: delete it, then run the command again"
	if _, err := Reseal(t.Context(), cfg); err == nil || err.Error() != want {
		t.Errorf("reseal again: got %v, want %q", err, want)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := Reseal(t.Context(), cfg); err != nil {
		t.Errorf("reseal after the file was deleted: got error %v, want none", err)
	}
}

func TestDatabaseID_EmptyFile(t *testing.T) {
	t.Parallel()
	cfg := newSealedDatabase(t, "")
	file := filepath.Join(cfg.DataDir, databaseIDFile)
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(t.Context(), cfg); err == nil ||
		!strings.Contains(err.Error(), file+" is empty: check that --database-url is the database of this directory") {
		t.Errorf("got %v, want the remedy", err)
	}
}
