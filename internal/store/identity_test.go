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
		check := func(when, wantID string, wantCurrent bool) {
			t.Helper()
			id, err := store.ReadID(t.Context(), d.URL, d.Dir)
			if err != nil || id != wantID {
				t.Errorf("%s: got identity %q, %v, want %q", when, id, err, wantID)
			}
			current, err := store.IsCurrent(t.Context(), d.URL, d.Dir)
			if err != nil || current != wantCurrent {
				t.Errorf("%s: got current %v, %v, want %v", when, current, err, wantCurrent)
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
	})
}
