package db

import "testing"

func TestNewInsertStmt(t *testing.T) {
	t.Parallel()
	s := NewInsertStmt("things", 1, []InsertColumn{
		{Name: "id", Type: "text"},
		{Name: "parent_id", Type: "text", Parent: "parents"},
		{Name: "state", Type: "text", Constant: "'new'"},
		{Name: "count", Type: "bigint"},
	})
	const insert = "INSERT INTO things (id, parent_id, count, state) "
	for got, want := range map[string]string{
		s.sqliteRow:   insert + "VALUES ($1, $2, $3, 'new')",
		s.postgresRow: insert + "VALUES ($1, (SELECT id FROM parents WHERE id = $2), $3, 'new')",
		s.postgresRows: insert + "SELECT id, (SELECT p.id FROM parents p WHERE p.id = r.parent_id), count, 'new' " +
			"FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS parent_id, unnest($3::bigint[]) AS count) AS r",
	} {
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
