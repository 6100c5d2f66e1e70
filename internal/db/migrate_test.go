package db_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"parley/internal/db"
	"parley/internal/store/storetest"
)

// A migration that fails leaves no changes, its error names the version, and a
// corrected file continues from there.
func TestMigrate_ResumesAfterFailure(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		raw := p.Raw(t)
		files := func(second string) fstest.MapFS {
			return fstest.MapFS{
				"00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (id TEXT PRIMARY KEY);\n")},
				"00002_two.sql": {Data: []byte("-- +goose Up\nCREATE TABLE two (id TEXT PRIMARY KEY);\n" + second + "\n")},
			}
		}
		err := db.Migrate(ctx, raw, p.URL != "", files("INSERT INTO missing VALUES (1);"))
		if err == nil || !strings.HasPrefix(err.Error(), "migrate the database from version 0 to 2: ") ||
			!strings.Contains(err.Error(), "version:2") || !strings.Contains(err.Error(), "missing") {
			t.Errorf("got %v, want an error that names the versions and the missing table", err)
		}
		if _, err := raw.Exec(`INSERT INTO one VALUES ('kept')`); err != nil {
			t.Errorf("the first migration was rolled back: %v", err)
		}
		if _, err := raw.Exec(`SELECT * FROM two`); err == nil {
			t.Error("part of the failed migration was committed")
		}
		if err := db.Migrate(ctx, raw, p.URL != "", files("INSERT INTO two VALUES ('mended');")); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := raw.QueryRow(`SELECT count(*) FROM one, two`).Scan(&n); err != nil || n != 1 {
			t.Error(n, err)
		}
	})
}
