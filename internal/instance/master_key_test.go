package instance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"parley/internal/config"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// earlierSchema is the version of a database before the migrations that contract it.
const earlierSchema = 16

// newEarlierDatabase creates a database at earlierSchema with an identity, a sealed secret
// and no users.
func newEarlierDatabase(t *testing.T, d storetest.Database, key seal.Key) {
	t.Helper()
	migrations := fstest.MapFS{}
	dir := filepath.Join("..", "store", "migrations")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() > "00017" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		migrations[e.Name()] = &fstest.MapFile{Data: data}
	}
	if err := d.Migrate(migrations); err != nil {
		t.Fatal(err)
	}
	sealed := seal.NewBox(key).Seal("media_signing_secret/facts.value", []byte("secret"))
	_, err = d.Raw(t).Exec(`INSERT INTO facts (name, value) VALUES ('media_signing_secret', '` + sealed + `'),
		('database_id', 'd5f2a1c8-0000-4000-8000-000000000000')`)
	if err != nil {
		t.Fatal(err)
	}
}

// A command with a wrong master key, and a copy, leave the database at its schema, so that the earlier
// release still runs on it.
func TestOpenStore_WrongMasterKeyChangesNothing(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		right, wrong := seal.NewKey(), seal.NewKey()
		newEarlierDatabase(t, d, right)
		raw := d.Raw(t)
		assertVersion := func(when string, want int64) {
			t.Helper()
			var got int64
			err := raw.QueryRow(`SELECT max(version_id) FROM goose_db_version`).Scan(&got)
			if err != nil || got != want {
				t.Errorf("%s: got schema version %d, %v, want %d", when, got, err, want)
			}
		}
		cfg := config.Default()
		cfg.Listen, cfg.RTCUDPPort = "127.0.0.1:0", testkit.FreeUDPPort(t)
		cfg.DataDir, cfg.DatabaseURL = d.Dir, seal.Secret(d.URL)
		if d.URL != "" {
			cfg.DataDir = t.TempDir()
		}
		inFile, inEnvironment := cfg, cfg
		if err := seal.SaveKeyFile(cfg.KeyFile(), wrong); err != nil {
			t.Fatal(err)
		}
		inEnvironment.MasterKey = seal.Secret(wrong.Reveal())
		for setting, cfg := range map[string]config.Config{
			"--master-key-file (PARLEY_MASTER_KEY_FILE): " + cfg.KeyFile() + ": ": inFile,
			"PARLEY_MASTER_KEY: ": inEnvironment,
		} {
			for name, run := range map[string]func() error{
				"open":   func() error { _, err := OpenStore(t.Context(), cfg); return err },
				"reseal": func() error { _, err := Reseal(t.Context(), cfg); return err },
			} {
				want := setting + "the master key does not fit this database: it was sealed with key " + right.ID()
				if err := run(); err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%s with a wrong key: got error %v, want %q", name, err, want)
				}
				assertVersion(name+" with a wrong key", earlierSchema)
			}
		}
		if _, err := os.Stat(cfg.KeyFile() + nextKeySuffix); !os.IsNotExist(err) {
			t.Errorf("master.key.next: got %v, want that it does not exist", err)
		}

		if _, err := Copy(t.Context(), cfg.Storage, storetest.Postgres(t)); err == nil ||
			!strings.Contains(err.Error(), "written by an older Parley") {
			t.Errorf("copy: got error %v, want that an older Parley has written the database", err)
		}
		assertVersion("copy", earlierSchema)

		// The key of an interrupted reseal counts, and is put in the place of the old one.
		if err := seal.SaveKeyFile(cfg.KeyFile()+nextKeySuffix, right); err != nil {
			t.Fatal(err)
		}
		openSealed(t, inFile)
		newest, err := store.NewestSchema()
		if err != nil {
			t.Fatal(err)
		}
		assertVersion("with the key of the interrupted reseal", newest)
		if got := loadKey(t, cfg.KeyFile()); got != right {
			t.Errorf("key file after the interrupted reseal: got %v, want %v", got, right)
		}
	})
}
