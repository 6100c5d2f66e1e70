package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// insertStmt inserts rows into a table that gets many at once.
type insertStmt struct {
	tableOrder int    // a parent table has a lower number than its children
	sqliteRow  string // inserts one row, with a parameter for each column
	// postgresRow is the same for PostgreSQL. postgresRows inserts several rows
	// and has an array for each column. Both look up the parent of the row and
	// fail if there is none.
	postgresRow, postgresRows string
}

// bulkTable describes a table that gets many rows at once, for newInsertStmt.
type bulkTable struct {
	tableOrder     int
	table          string
	columns, types string // comma-separated, in the same order
	// Columns that have the same value in each new row, as ", a, b", and their
	// values. A constant costs next to nothing, a parameter does not.
	constantColumns, constantValues string
	// The NOT NULL column that references another table without REFERENCES in
	// PostgreSQL, because checking each row would cost as much as writing it,
	// and would lock the row of a project for all its rooms.
	parentColumn, parentTable string
}

// newInsertStmt builds the statements of a table.
func newInsertStmt(c bulkTable) *insertStmt {
	var plain, one, several, names, unnested []string
	types := strings.Split(c.types, ",")
	for i, column := range strings.Split(c.columns, ",") {
		column = strings.TrimSpace(column)
		bound := fmt.Sprintf("$%d", i+1)
		known, each := bound, column
		if column == c.parentColumn {
			known = "(SELECT id FROM " + c.parentTable + " WHERE id = " + bound + ")"
			each = "(SELECT p.id FROM " + c.parentTable + " p WHERE p.id = r." + column + ")"
		}
		plain, one, several, names = append(plain, bound), append(one, known), append(several, each), append(names, column)
		// A SELECT with several unnest calls returns row after row. In a FROM
		// PostgreSQL would materialize each first (a fifth of its work).
		unnested = append(unnested, fmt.Sprintf("unnest(%s::%s[]) AS %s", bound, strings.TrimSpace(types[i]), column))
	}
	list := func(all []string) string { return strings.Join(all, ", ") }
	head := "INSERT INTO " + c.table + " (" + list(names) + c.constantColumns + ") "
	return &insertStmt{
		tableOrder:   c.tableOrder,
		sqliteRow:    head + "VALUES (" + list(plain) + c.constantValues + ")",
		postgresRow:  head + "VALUES (" + list(one) + c.constantValues + ")",
		postgresRows: head + "SELECT " + list(several) + c.constantValues + " FROM (SELECT " + list(unnested) + ") AS r",
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
