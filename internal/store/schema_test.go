package store_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/internal/store/storetest"
)

var update = flag.Bool("update", false, "write schema.sql")

// TestSchema checks that schema.sql describes the database after all migrations. Its comments are
// written by hand, and -update keeps those of unchanged lines.
func TestSchema(t *testing.T) {
	t.Parallel()
	d := storetest.Database{Dir: t.TempDir()}
	if err := d.Open(t).Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	want := addComments(describeSchema(t, d.Raw(t)), string(text))
	if *update {
		if err := os.WriteFile("schema.sql", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("schema.sql differs from the migrated database (-want +got). Run the test with -update, "+
			"and write what a new table or column is:\n%s", diff)
	}
}

// addComments returns a schema with the comments that an earlier text has: the first paragraph, those
// before a table, and those behind a column of a table.
func addComments(schema, earlier string) string {
	comments := map[string]string{} // by table, or by table and the beginning of the line
	table, block := "", ""
	for line := range strings.Lines(earlier) {
		code, comment, found := strings.Cut(strings.TrimSuffix(line, "\n"), "--")
		code = strings.TrimSpace(code)
		switch {
		case code == "" && found:
			block += line
		case code == "":
			if len(comments) == 0 && block != "" {
				comments[""], block = block+"\n", ""
			}
		case strings.HasPrefix(code, "CREATE TABLE"):
			table = code
			comments[table], block = block, ""
		case found:
			comments[table+code] = " --" + comment
		}
	}
	var out strings.Builder
	out.WriteString(comments[""])
	for i, line := range strings.Split(schema, "\n") {
		if strings.HasPrefix(line, "CREATE TABLE") {
			if table = line; i > 0 {
				out.WriteString("\n")
			}
			out.WriteString(comments[table])
			fmt.Fprintln(&out, line)
			continue
		}
		fmt.Fprintln(&out, line+comments[table+strings.TrimSpace(line)])
	}
	return out.String()
}

// TestSchema_SameOnBothEngines checks that PostgreSQL has the columns of SQLite, with their types.
func TestSchema_SameOnBothEngines(t *testing.T) {
	t.Parallel()
	columns := map[string][]string{}
	for engine, q := range map[string]string{
		"sqlite": `SELECT m.name || '.' || c.name || ' ' || lower(c.type) || ' ' || (CASE WHEN c."notnull" OR c.pk > 0 THEN 'NO'
				ELSE 'YES' END) FROM sqlite_master AS m, pragma_table_info(m.name) AS c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'goose_db_version' ORDER BY 1`,
		"postgres": `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
			FROM information_schema.columns
			WHERE table_schema = 'public' AND table_name <> 'goose_db_version'`,
	} {
		d := storetest.Database{Dir: t.TempDir()}
		if engine == "postgres" {
			d.URL = storetest.Postgres(t)
		}
		if err := d.Open(t).Close(); err != nil {
			t.Fatal(err)
		}
		columns[engine] = queryRows(t, d.Raw(t), q)
		slices.Sort(columns[engine])
	}
	if diff := cmp.Diff(columns["sqlite"], columns["postgres"]); diff != "" {
		t.Errorf("columns of PostgreSQL, want those of SQLite (-want +got):\n%s", diff)
	}
}

// describeSchema returns the tables of a SQLite database with their columns, keys and indexes.
func describeSchema(t *testing.T, raw *sql.DB) string {
	t.Helper()
	var out strings.Builder
	for _, table := range queryRows(t, raw, `SELECT name FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version' ORDER BY name`) {
		fmt.Fprintf(&out, "CREATE TABLE %s (\n", table)
		lines := queryRows(t, raw, `SELECT '    ' || name || ' ' || type ||
				CASE WHEN "notnull" THEN ' NOT NULL' ELSE '' END || coalesce(' DEFAULT ' || dflt_value, '')
			FROM pragma_table_info('`+table+`') ORDER BY cid`)
		keys := queryRows(t, raw, `SELECT name FROM pragma_table_info('`+table+`') WHERE pk > 0 ORDER BY pk`)
		if len(keys) > 0 {
			lines = append(lines, "    PRIMARY KEY ("+strings.Join(keys, ", ")+")")
		}
		for _, index := range queryRows(t, raw, `SELECT name FROM pragma_index_list('`+table+`')
				WHERE origin = 'u' ORDER BY 1`) {
			columns := queryRows(t, raw, `SELECT name FROM pragma_index_info('`+index+`') ORDER BY seqno`)
			lines = append(lines, "    UNIQUE ("+strings.Join(columns, ", ")+")")
		}
		lines = append(lines, queryRows(t, raw, `SELECT '    FOREIGN KEY (' || "from" || ') REFERENCES ' || "table" ||
				CASE on_delete WHEN 'NO ACTION' THEN '' ELSE ' ON DELETE ' || on_delete END
			FROM pragma_foreign_key_list('`+table+`') ORDER BY 1`)...)
		fmt.Fprintf(&out, "%s\n);\n", strings.Join(lines, ",\n"))
		for _, index := range queryRows(t, raw, `SELECT sql || ';' FROM sqlite_master
			WHERE type = 'index' AND tbl_name = '`+table+`' AND sql IS NOT NULL ORDER BY name`) {
			fmt.Fprintln(&out, strings.Join(strings.Fields(index), " "))
		}
	}
	return strings.TrimSpace(out.String())
}

func queryRows(t *testing.T, raw *sql.DB, q string) (all []string) {
	t.Helper()
	rows, err := raw.Query(q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
