package store_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// snapshotFile writes a snapshot of a database to a file in an own directory.
func snapshotFile(t *testing.T, db *store.DB) (dir string, c store.Contents) {
	t.Helper()
	dir = t.TempDir()
	file := store.SQLiteFile(dir)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := db.SnapshotFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return dir, c
}

func TestSnapshotFile_Contents(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		db := p.Open(t)
		fillDatabase(t, db)
		id, err := db.ID(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, got := snapshotFile(t, db)
		newest, err := store.NewestSchema()
		if err != nil {
			t.Fatal(err)
		}
		sealed := storetest.Box(1).Seal("row", nil)
		fingerprint, err := seal.KeyID(sealed)
		if err != nil {
			t.Fatal(err)
		}
		if got.Schema != newest || got.DatabaseID != id || got.KeyFingerprint != fingerprint {
			t.Errorf("got %+v, want schema %d, database %s and key %s", got, newest, id, fingerprint)
		}
		tables := map[string]bool{}
		for column := range textColumns(t, p) {
			if table, _, _ := strings.Cut(column, "."); table != "goose_db_version" {
				tables[table] = true
			}
		}
		for table := range tables {
			if got.Rows[table] == 0 {
				t.Errorf("got %d rows of %s, want those of fillDatabase", got.Rows[table], table)
			}
		}
	})
}

// Every table is equal after a copy, except the identity of the database.
func TestCopyTo_EveryTable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	from, to := storetest.Database{Dir: t.TempDir()}, storetest.Database{URL: storetest.Postgres(t)}
	db := from.Open(t)
	fillDatabase(t, db)
	id, err := db.ID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := db.OpenSecrets(ctx)
	if err != nil || secrets < 7 {
		t.Fatalf("open the secrets: got %d, %v, want at least 7", secrets, err)
	}
	counts, copyID, err := db.CopyTo(ctx, to.URL, func(context.Context, *store.DB, string) error { return nil })
	if err != nil || copyID == "" || copyID == id {
		t.Fatalf("got identity %q, %v, want a new one", copyID, err)
	}
	tables := slices.Sorted(maps.Keys(counts))
	source, target := from.Rows(t), to.Rows(t)
	for _, table := range tables {
		want, got := source[table], target[table]
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], id, copyID)
		}
		slices.Sort(want) // the new identity may have another place
		if int64(len(got)) != counts[table] || len(got) == 0 {
			t.Errorf("the table %s: got %d rows, want some, and the count %d", table, len(got), counts[table])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the table %s (-want +got):\n%s", table, diff)
		}
	}
	if len(tables) < 20 {
		t.Errorf("copied tables: got %v, want at least 20", tables)
	}
	copied := to.Open(t)
	if got, err := copied.OpenSecrets(ctx); err != nil || got != secrets {
		t.Errorf("open the secrets of the copy: got %d, %v, want %d", got, err, secrets)
	}
	if got, err := copied.ID(ctx); err != nil || got != copyID {
		t.Errorf("the identity of the copy: got %s, %v, want %s", got, err, copyID)
	}
	if got, err := db.ID(ctx); err != nil || got != id {
		t.Errorf("the identity of the source: got %s, %v, want %s", got, err, id)
	}
}

func TestOpenSecrets_DamagedValue(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		fillDatabase(t, db)
		const damage = `UPDATE api_keys SET sealed_key = sealed_gateway_secret`
		if _, err := p.Raw(t).Exec(damage); err != nil {
			t.Fatal(err)
		}
		if _, err := db.OpenSecrets(context.Background()); !errors.Is(err, seal.ErrTampered) {
			t.Errorf("got %v, want ErrTampered", err)
		}
	})
}

func TestReadContents_DamagedFile(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	fillDatabase(t, db)
	if _, err := db.ID(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir, want := snapshotFile(t, db)
	got, err := store.ReadContents(t.Context(), "", dir)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("before the damage: error %v, contents (-want +got):\n%s", err, diff)
	}
	f, err := os.OpenFile(store.SQLiteFile(dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(8 << 10); at < info.Size(); at += 4096 { // the first pages have the schema
		if _, err := f.WriteAt([]byte("damage damage damage"), at); err != nil {
			t.Fatal(err)
		}
	}
	_ = f.Close()
	if _, err := store.ReadContents(t.Context(), "", dir); err == nil {
		t.Error("after the damage: got no error, want one")
	}
}
