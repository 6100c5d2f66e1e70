package store_test

import (
	"testing"

	"parley/internal/store"
	"parley/internal/store/storetest"
)

// TestReadID checks that a database is recognized without being opened, and that one
// without an identity, or none at all, is not changed by that.
func TestReadID(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		check := func(when, wantID string, wantUsable bool) {
			t.Helper()
			id, err := store.ReadID(t.Context(), d.URL, d.Dir)
			if err != nil || id != wantID {
				t.Errorf("%s: got identity %q, %v, want %q", when, id, err, wantID)
			}
			usable, err := store.CanUse(t.Context(), d.URL, d.Dir)
			if err != nil || usable != wantUsable {
				t.Errorf("%s: got usable %v, %v, want %v", when, usable, err, wantUsable)
			}
		}
		check("before the database exists", "", false)
		check("after it was read", "", false)
		db := d.Open(t)
		check("without an identity", "", true)
		id, err := db.ID(t.Context())
		if err != nil || id == "" {
			t.Fatalf("got identity %q, %v, want one", id, err)
		}
		check("while it is open", id, true)
		if again, err := db.ID(t.Context()); err != nil || again != id {
			t.Errorf("again: got %q, %v, want %q", again, err, id)
		}
		raw := d.Raw(t)
		change := func(statement string) {
			t.Helper()
			if _, err := raw.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99998, true)`)
		check("after a newer program expanded it", id, true)
		change(`INSERT INTO schema_contractions (version) VALUES (99998)`)
		check("after a newer program contracted it", id, false)
	})
}
