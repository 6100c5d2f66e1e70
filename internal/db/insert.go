package db

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// InsertStmt inserts rows into a table that gets many at once.
type InsertStmt struct {
	tableOrder int    // a parent table has a lower number than its children
	sqliteRow  string // inserts one row, with a parameter for each column
	// postgresRow is the same for PostgreSQL. postgresRows inserts several rows
	// and has an array for each column. Both look up the parent of the row and
	// fail if there is none.
	postgresRow, postgresRows string
}

// BulkOptions describes a table that gets many rows at once.
type BulkOptions struct {
	TableOrder int // a parent table has a lower number than its children
	// The NOT NULL column that references another table without REFERENCES in
	// PostgreSQL, because checking each row would cost as much as writing it,
	// and would lock the row of a project for all its rooms.
	ParentColumn, ParentTable string
	// Extra lists columns that have no field in the row type. Their values
	// follow those of the row.
	Extra []ExtraColumn
}

// ExtraColumn is a column that has no field in the row type.
type ExtraColumn struct {
	Name    string
	SQLType string // type of the parameter in PostgreSQL
}

// NewInsertStmt builds the statements of a table. Columns with a constant are not
// parameters, because a constant costs next to nothing and a parameter does not.
func NewInsertStmt[T any](t *Table[T], o BulkOptions) *InsertStmt {
	var names, constantNames, constants, plain, one, several, unnested []string
	add := func(name, sqlType string) {
		bound := fmt.Sprintf("$%d", len(names)+1)
		single, multiple := bound, name
		if name == o.ParentColumn {
			single = "(SELECT id FROM " + o.ParentTable + " WHERE id = " + bound + ")"
			multiple = "(SELECT p.id FROM " + o.ParentTable + " p WHERE p.id = r." + name + ")"
		}
		names, plain = append(names, name), append(plain, bound)
		one, several = append(one, single), append(several, multiple)
		// A SELECT with several unnest calls returns row after row. In a FROM
		// PostgreSQL would materialize each first (a fifth of its work).
		unnested = append(unnested, fmt.Sprintf("unnest(%s::%s[]) AS %s", bound, sqlType, name))
	}
	for _, c := range t.columns {
		if c.initial == "" {
			add(c.name, c.sqlType)
		} else {
			constantNames, constants = append(constantNames, c.name), append(constants, c.initial)
		}
	}
	for _, c := range o.Extra {
		add(c.Name, c.SQLType)
	}
	list := func(values []string) string { return strings.Join(slices.Concat(values, constants), ", ") }
	head := "INSERT INTO " + t.name + " (" + strings.Join(slices.Concat(names, constantNames), ", ") + ") "
	return &InsertStmt{
		tableOrder:   o.TableOrder,
		sqliteRow:    head + "VALUES (" + list(plain) + ")",
		postgresRow:  head + "VALUES (" + list(one) + ")",
		postgresRows: head + "SELECT " + list(several) + " FROM (SELECT " + strings.Join(unnested, ", ") + ") AS r",
	}
}

// mergeInserts merges inserts into the same table into one statement, because a
// statement costs more than a row. It reorders only inserts that have no other
// statement between them. The order makes no difference to their callers,
// because these inserts succeed or fail together.
func mergeInserts(queue []statement) []statement {
	merged := make([]statement, 0, len(queue))
	for len(queue) > 0 {
		inserts := countLeading(queue, func(s statement) bool { return s.into != nil })
		if inserts == 0 {
			merged, queue = append(merged, queue[0]), queue[1:]
			continue
		}
		rows := queue[:inserts]
		queue = queue[inserts:]
		slices.SortStableFunc(rows, func(a, b statement) int { return a.into.tableOrder - b.into.tableOrder })
		for len(rows) > 0 {
			same := countLeading(rows, func(s statement) bool { return s.into == rows[0].into })
			merged, rows = append(merged, bulkInsert(rows[:same])), rows[same:]
		}
	}
	return merged
}

// countLeading returns the number of statements before the first that does not
// match.
func countLeading(queue []statement, match func(statement) bool) int {
	for i, s := range queue {
		if !match(s) {
			return i
		}
	}
	return len(queue)
}

// bulkInsert returns the statement that inserts all rows, which belong to the
// same table.
func bulkInsert(rows []statement) statement {
	first := rows[0]
	if len(rows) == 1 {
		return first
	}
	columns := make([]any, len(first.args))
	for i := range columns {
		column := make(pgtype.FlatArray[any], len(rows))
		for j, row := range rows {
			column[j] = row.args[i]
		}
		columns[i] = column
	}
	return statement{q: first.into.postgresRows, args: columns}
}
