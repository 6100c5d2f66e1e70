package db

import (
	"slices"
	"testing"
	"time"
)

type testRow struct {
	id, parent, optional string
	state                string
	count                int
	at                   time.Time
	hash                 string
}

func newTestTable() *Table[testRow] {
	return NewTable("things",
		Text("id", func(r *testRow) *string { return &r.id }),
		Text("parent_id", func(r *testRow) *string { return &r.parent }),
		Text("state", func(r *testRow) *string { return &r.state }).InsertedAs("'new'"),
		Number("count", func(r *testRow) *int { return &r.count }),
		OptionalText("optional", func(r *testRow) *string { return &r.optional }),
		Timestamp("at", func(r *testRow) *time.Time { return &r.at }),
		Text("hash", func(r *testRow) *string { return &r.hash }).NotRead(),
	)
}

func TestTable_Statements(t *testing.T) {
	t.Parallel()
	things := newTestTable()
	bulk := NewInsertStmt(things, BulkOptions{
		ParentColumn: "parent_id", ParentTable: "parents", Extra: []ExtraColumn{{"extra", "bigint"}},
	})
	const insert = "INSERT INTO things (id, parent_id, count, optional, at, hash, extra, state) "
	for got, want := range map[string]string{
		things.SelectFrom:      "SELECT id, parent_id, state, count, optional, at FROM things ",
		things.Qualified("t."): "t.id, t.parent_id, t.state, t.count, t.optional, t.at",
		things.InsertQuery(): "INSERT INTO things (id, parent_id, state, count, optional, at, hash) " +
			"VALUES ($1, $2, 'new', $3, $4, $5, $6)",
		things.NewUpdateStmt("state", "at").Query: "UPDATE things SET state = $2, at = $3 WHERE id = $1",
		bulk.sqliteRow: insert + "VALUES ($1, $2, $3, $4, $5, $6, $7, 'new')",
		bulk.postgresRow: insert +
			"VALUES ($1, (SELECT id FROM parents WHERE id = $2), $3, $4, $5, $6, $7, 'new')",
		bulk.postgresRows: insert +
			"SELECT id, (SELECT p.id FROM parents p WHERE p.id = r.parent_id), count, optional, at, hash, extra, 'new' " +
			"FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS parent_id, unnest($3::bigint[]) AS count, " +
			"unnest($4::text[]) AS optional, unnest($5::bigint[]) AS at, unnest($6::text[]) AS hash, " +
			"unnest($7::bigint[]) AS extra) AS r",
	} {
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestTable_Values(t *testing.T) {
	t.Parallel()
	things := newTestTable()
	row := testRow{id: "a", parent: "p", state: "old", count: 3, hash: "h", at: time.UnixMilli(5)}
	want := []any{"a", "p", 3, NullString(""), NullMillis(row.at), "h", "more"}
	if got := things.Values(&row, "more"); !slices.Equal(got, want) {
		t.Errorf("values: got %v, want %v", got, want)
	}
	want = []any{"a", "old", NullMillis(row.at)}
	if got := things.NewUpdateStmt("state", "at").Values(&row); !slices.Equal(got, want) {
		t.Errorf("values of the update: got %v, want %v", got, want)
	}
	if got, want := len(things.Dests(&row, nil)), 7; got != want {
		t.Errorf("dests: got %d, want %d", got, want)
	}
}

func TestTable_UnknownColumnPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("NewUpdateStmt accepted an unknown column, want a panic")
		}
	}()
	newTestTable().NewUpdateStmt("missing")
}
