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

func TestStore(t *testing.T) {
	t.Parallel()
	for name, open := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, open)
		})
	}
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
	here := []string{"Fresh", "Reseal"} // called by reseal_test.go on both engines
	methods, engine := reflect.TypeFor[*store.DB](), reflect.TypeFor[*db.DB]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if _, tested := engine.MethodByName(name); !tested && !slices.Contains(here, name) &&
			!strings.Contains(suite.String(), "db."+name+"(") {
			t.Errorf("storetest does not call %s", name)
		}
	}
}
