package store_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/internal/db"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// TestStore also explains each statement that the suite has run.
func TestStore(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		open := storetest.Engines["sqlite"]
		if d.URL != "" {
			open = storetest.Engines["postgres"]
		}
		var run statements
		t.Run("suite", func(t *testing.T) {
			storetest.Run(t, func(t testing.TB) *store.DB {
				db := open(t)
				db.Trace(run.add)
				return db
			})
		})
		t.Run("plans", func(t *testing.T) { checkPlans(t, d, &run) })
	})
}

// Every method of DB, except those of db.DB, is called by storetest, which runs on
// both engines.
func TestSuite_CallsEveryMethod(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("storetest/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var suite strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		suite.Write(text)
	}
	// Called by reseal_test.go and backup_test.go on both engines.
	here := []string{"Reseal", "SnapshotFile", "OpenSecrets", "CopyTo"}
	methods, engine := reflect.TypeFor[*store.DB](), reflect.TypeFor[*db.DB]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if _, tested := engine.MethodByName(name); !tested && !slices.Contains(here, name) &&
			!strings.Contains(suite.String(), "db."+name+"(") {
			t.Errorf("%s: got no call in storetest, want one", name)
		}
	}
}
