package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// insertion adds rows to a table that gets many at once.
type insertion struct {
	rank    int    // parents come before their children
	one     string // adds a row: a parameter for each column
	several string // adds rows: an array for each column, as PostgreSQL has them
}

// newInsertion takes a table's columns and their types, in the same order.
func newInsertion(rank int, table, columns, types string) *insertion {
	return newInsertionWith(rank, table, columns, types, "", "")
}

// newInsertionWith takes besides columns that are the same in each new row, as
// ", a, b", and their values. What is not bound costs next to nothing.
func newInsertionWith(rank int, table, columns, types, same, values string) *insertion {
	var each, arrays []string
	for i, t := range strings.Split(types, ",") {
		each = append(each, fmt.Sprintf("$%d", i+1))
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, strings.TrimSpace(t)))
	}
	head := "INSERT INTO " + table + " (" + columns + same + ") "
	return &insertion{
		rank:    rank,
		one:     head + "VALUES (" + strings.Join(each, ", ") + values + ")",
		several: head + "SELECT *" + values + " FROM unnest(" + strings.Join(arrays, ", ") + ")",
	}
}

// merge makes one statement of those that add rows to the same table, because
// a statement costs more than a row. Only inserts with nothing else between
// them change their order, which makes no difference to who gets no answer:
// together they succeed or fail.
func merge(queue []statement) []statement {
	merged := make([]statement, 0, len(queue))
	for len(queue) > 0 {
		inserts := leading(queue, func(s statement) bool { return s.into != nil })
		if inserts == 0 {
			merged, queue = append(merged, queue[0]), queue[1:]
			continue
		}
		rows := queue[:inserts]
		queue = queue[inserts:]
		slices.SortStableFunc(rows, func(a, b statement) int { return a.into.rank - b.into.rank })
		for len(rows) > 0 {
			same := leading(rows, func(s statement) bool { return s.into == rows[0].into })
			merged, rows = append(merged, together(rows[:same])), rows[same:]
		}
	}
	return merged
}

// leading counts the statements before the first that is not such a one.
func leading(queue []statement, such func(statement) bool) int {
	for i, s := range queue {
		if !such(s) {
			return i
		}
	}
	return len(queue)
}

// together adds all rows of one table.
func together(rows []statement) statement {
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
	return statement{q: first.into.several, args: columns}
}
