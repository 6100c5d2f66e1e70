package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// insertStmt adds rows to a table that gets many at once.
type insertStmt struct {
	tableOrder int    // parents come before their children
	sqliteRow  string // adds a row: a parameter for each column
	// The same for PostgreSQL, and with an array for each column for several
	// rows. Both look the row's parent up and fail where there is none.
	postgresRow, postgresRows string
}

// bulkTable describes a table that gets many rows at once.
type bulkTable struct {
	tableOrder     int
	table          string
	columns, types string // with commas between them, in the same order
	// Columns that are the same in each new row, as ", a, b", and their
	// values. What is not bound costs next to nothing.
	constantColumns, constantValues string
	// The column, NOT NULL, that names the row of another table, where
	// PostgreSQL has no REFERENCES for it: to check them one by one costs it
	// as much as to write them, and locks a project's row for all its rooms.
	parentColumn, parentTable string
}

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
		// Side by side in a SELECT the arrays yield row after row; in a FROM
		// PostgreSQL would store each by itself first (a fifth of its work).
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

// mergeInserts makes one statement of those that add rows to the same table, because
// a statement costs more than a row. Only inserts with nothing else between
// them change their order, which makes no difference to who gets no answer:
// together they succeed or fail.
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

// countLeading counts the statements before the first that is not such a one.
func countLeading(queue []statement, such func(statement) bool) int {
	for i, s := range queue {
		if !such(s) {
			return i
		}
	}
	return len(queue)
}

// bulkInsert adds all rows of one table.
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
