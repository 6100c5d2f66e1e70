package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// textColumns returns the values of every text column, by "table.column".
func textColumns(t *testing.T, p storetest.Database) map[string][]string {
	t.Helper()
	q := `SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'TEXT'`
	if p.URL != "" {
		q = `SELECT table_name, column_name FROM information_schema.columns
			WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'bytea')`
	}
	raw := p.Raw(t)
	columns := map[string][]string{}
	for _, row := range queryStrings(t, raw, q, 2) {
		table, column := row[0], row[1]
		columns[table+"."+column] = nil
		for _, value := range queryStrings(t, raw, fmt.Sprintf(`SELECT coalesce(%s, '') FROM %s`, column, table), 1) {
			if value[0] != "" {
				columns[table+"."+column] = append(columns[table+"."+column], value[0])
			}
		}
	}
	return columns
}

func queryStrings(t *testing.T, db *sql.DB, q string, width int) (table [][]string) {
	t.Helper()
	rows, err := db.Query(q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		row, into := make([]string, width), make([]any, width)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		table = append(table, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return table
}

var sealedPattern = regexp.MustCompile(`v\d+\.[0-9a-f]{8}\.`)

// After Reseal all secrets open with the new key and none with the old one. The
// test fills every text column and fails if one is empty, so that it finds a
// sealed column that Reseal does not know.
func TestReseal(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		db := p.Open(t)
		projectID, _ := fillDatabase(t, db)
		read := func(db *store.DB) [3]any {
			t.Helper()
			keys, err1 := db.APIKeys(ctx, projectID)
			secrets, err2 := db.ProjectSecrets(ctx, projectID)
			media, err3 := db.MediaSecret(ctx)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			return [3]any{keys, secrets, media}
		}
		before := read(db)
		n, err := db.Reseal(ctx, storetest.Box(2))
		if err != nil {
			t.Fatal(err)
		}
		sealed := storetest.Box(2).Seal("row", nil)
		prefix := sealed[:strings.LastIndex(sealed, ".")+1] // version and key id
		found := 0
		for column, values := range textColumns(t, p) {
			if len(values) == 0 && column != "events.project_id" { // new rows have no value there
				t.Errorf("%s: got no values, want some: fill it in fillDatabase to find sealed values", column)
			}
			for _, v := range values {
				if !sealedPattern.MatchString(v) {
					continue
				}
				found++
				if !strings.HasPrefix(v, prefix) {
					t.Errorf("Reseal did not seal %s again: got %s, want prefix %s", column, v, prefix)
				}
			}
		}
		if found != n || n < 7 {
			t.Errorf("Reseal: got %d, want %d, the number of sealed values, and at least 7", n, found)
		}
		var wrong *seal.WrongKeyError
		if err := db.Unlock(ctx, storetest.Box(1)); !errors.As(err, &wrong) {
			t.Errorf("Unlock with the old key: got %v, want a WrongKeyError", err)
		}
		if _, err := db.APIKeys(ctx, projectID); !errors.As(err, &wrong) {
			t.Errorf("APIKeys with the old key: got %v, want a WrongKeyError", err)
		}
		if _, err := db.ProjectSecrets(ctx, projectID); !errors.As(err, &wrong) {
			t.Errorf("ProjectSecrets with the old key: got %v, want a WrongKeyError", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db, err = store.Open(ctx, p.URL, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.Unlock(ctx, storetest.Box(2)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, read(db), storetest.Exact); diff != "" {
			t.Errorf("keys and secrets after Reseal (-want +got):\n%s", diff)
		}
	})
}

// Reseal changes nothing if one value is damaged.
func TestReseal_DamagedValueChangesNothing(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		db := p.Open(t)
		projectID, _ := fillDatabase(t, db)
		const damage = `UPDATE metadata SET value = substr(value, 1, 30) WHERE name = 'media_signing_secret'`
		if _, err := p.Raw(t).Exec(damage); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Reseal(ctx, storetest.Box(2)); !errors.Is(err, seal.ErrTampered) {
			t.Fatalf("got %v, want ErrTampered", err)
		}
		if keys, err := db.APIKeys(ctx, projectID); err != nil || len(keys) != 2 {
			t.Errorf("got keys %+v, %v, want 2", keys, err)
		}
	})
}

// A sealed value that was moved to another row or column does not open.
func TestSealedValue_MovedRefused(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		for _, move := range []string{
			`UPDATE api_keys SET sealed_key = sealed_gateway_secret`,
			`UPDATE api_keys SET sealed_key = (SELECT k.sealed_key FROM api_keys k WHERE k.id <> api_keys.id)`,
		} {
			db := p.Open(t)
			projectID, _ := fillDatabase(t, db)
			if _, err := p.Raw(t).Exec(move + ` WHERE project_id = '` + projectID + `'`); err != nil {
				t.Fatal(err)
			}
			if _, err := db.APIKeys(ctx, projectID); !errors.Is(err, seal.ErrTampered) {
				t.Errorf("after %s: got %v, want ErrTampered", move, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Raw(t).Exec(`DELETE FROM api_keys`); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestKeyCheck(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		ctx := context.Background()
		check := func(when string, wantFresh bool) {
			t.Helper()
			c, err := store.ReadKeyCheck(ctx, p.URL, p.Dir)
			if err != nil || c.Fresh() != wantFresh {
				t.Fatalf("%s: got fresh %t, %v, want %t", when, c.Fresh(), err, wantFresh)
			}
			if err := c.Verify(storetest.Box(1)); err != nil {
				t.Errorf("%s, the right key: got error %v, want none", when, err)
			}
			var wrong *seal.WrongKeyError
			if err := c.Verify(storetest.Box(2)); errors.As(err, &wrong) == wantFresh {
				t.Errorf("%s, another key: got error %v, want one unless the database is fresh", when, err)
			}
		}
		check("before the database exists", true)
		if has, err := store.HasTables(ctx, p.URL, p.Dir); err != nil || has {
			t.Errorf("tables after the check: got %t, %v, want none", has, err)
		}
		db, err := store.Open(ctx, p.URL, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		check("before a key is used", true)
		if err := db.Unlock(ctx, storetest.Box(1)); err != nil {
			t.Fatal(err)
		}
		check("after a key was used", false)
	})
}

// No value contains a secret in plaintext, and on SQLite no file does, neither
// before a checkpoint nor after.
func TestStore_NoPlaintextSecrets(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, p storetest.Database) {
		db := p.Open(t)
		_, secrets := fillDatabase(t, db)
		for column, values := range textColumns(t, p) {
			for _, v := range values {
				for _, s := range secrets {
					if strings.Contains(v, s) {
						t.Errorf("%s: got a secret in plaintext, want none", column)
					}
				}
			}
		}
		if p.URL != "" {
			return
		}
		scan := func(when string, atLeast int) {
			files, err := filepath.Glob(p.File() + "*")
			if err != nil || len(files) < atLeast {
				t.Fatalf("got files %q, %v, want at least %d", files, err, atLeast)
			}
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range secrets {
					if bytes.Contains(content, []byte(s)) {
						t.Errorf("%s: got a secret in plaintext in %s, want none", when, filepath.Base(file))
					}
				}
			}
		}
		scan("while open", 2) // with the write-ahead log
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		scan("closed", 1)
	})
}
