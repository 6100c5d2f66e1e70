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

// Every method of Store is called by storetest, which runs on both engines.
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
	engine, methods := reflect.TypeFor[*db.DB](), reflect.TypeFor[*store.Store]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if _, promoted := engine.MethodByName(name); !promoted && !slices.Contains(here, name) &&
			!strings.Contains(suite.String(), "db."+name+"(") {
			t.Errorf("storetest does not call %s", name)
		}
	}
}
