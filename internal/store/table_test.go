package store

import (
	"slices"
	"testing"
	"time"

	"parley/internal/db"
)

type testRow struct {
	id, parent, optional string
	state                string
	count                int
	at                   time.Time
	hash                 string
}

func newTestTable() *table[testRow] {
	return newTable("things",
		text("id", func(r *testRow) *string { return &r.id }),
		text("parent_id", func(r *testRow) *string { return &r.parent }),
		text("state", func(r *testRow) *string { return &r.state }).withConstant("'new'"),
		number("count", func(r *testRow) *int { return &r.count }),
		optionalText("optional", func(r *testRow) *string { return &r.optional }),
		timestamp("at", func(r *testRow) *time.Time { return &r.at }),
		text("hash", func(r *testRow) *string { return &r.hash }).asWriteOnly(),
	)
}

func TestTable_Statements(t *testing.T) {
	t.Parallel()
	things := newTestTable()
	for got, want := range map[string]string{
		things.selectFrom:      "SELECT id, parent_id, state, count, optional, at FROM things ",
		things.qualified("t."): "t.id, t.parent_id, t.state, t.count, t.optional, t.at",
		things.insertQuery(): "INSERT INTO things (id, parent_id, state, count, optional, at, hash) " +
			"VALUES ($1, $2, 'new', $3, $4, $5, $6)",
		things.newUpdateStmt("state", "at").query: "UPDATE things SET state = $2, at = $3 WHERE id = $1",
	} {
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestTable_Values(t *testing.T) {
	t.Parallel()
	things := newTestTable()
	row := testRow{
		id:     "a",
		parent: "p",
		state:  "old",
		count:  3,
		hash:   "h",
		at:     time.UnixMilli(5),
	}
	want := []any{"a", "p", 3, db.NullString(""), db.NullMillis(row.at), "h", "more"}
	if got := things.values(&row, "more"); !slices.Equal(got, want) {
		t.Errorf("values: got %v, want %v", got, want)
	}
	want = []any{"a", "old", db.NullMillis(row.at)}
	if got := things.newUpdateStmt("state", "at").values(&row); !slices.Equal(got, want) {
		t.Errorf("values of the update: got %v, want %v", got, want)
	}
	if got, want := len(things.dests(&row, nil)), 7; got != want {
		t.Errorf("dests: got %d, want %d", got, want)
	}
}

func TestTable_UnknownColumnPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("newUpdateStmt with an unknown column: got no panic, want one")
		}
	}()
	newTestTable().newUpdateStmt("missing")
}
