package db

import (
	"fmt"
	"slices"
	"strings"
)

// InsertStmt inserts rows into a table that gets many at once.
type InsertStmt struct {
	order     int    // a parent table has a lower number than its children
	sqliteRow string // inserts one row, with a parameter for each column
	// postgresRow is the same for PostgreSQL. postgresRows inserts several rows
	// and has an array for each column. Both look up the parent of the row and
	// fail if there is none.
	postgresRow, postgresRows string
}

// InsertColumn is a column of an InsertStmt.
type InsertColumn struct {
	Name string
	// Type is the type of the parameter in PostgreSQL.
	Type string
	// Constant is an SQL expression that every row gets. It replaces the
	// parameter, because a constant costs next to nothing and a parameter does
	// not.
	Constant string
	// Parent is the table that the column references by its id, if the column
	// is NOT NULL and has no REFERENCES in PostgreSQL, because checking each
	// row would cost as much as writing it, and would lock the parent for all
	// its rows.
	Parent string
}

// NewInsertStmt returns the statement that inserts rows into a table. Its
// parameters are the columns without a constant, in their order. order is lower
// for a parent table than for its children, because a transaction may insert
// rows in this order instead of that of the calls.
func NewInsertStmt(table string, order int, columns []InsertColumn) *InsertStmt {
	var names, constantNames, constants, plain, one, several, unnested []string
	for _, c := range columns {
		if c.Constant != "" {
			constantNames, constants = append(constantNames, c.Name), append(constants, c.Constant)
			continue
		}
		bound := fmt.Sprintf("$%d", len(names)+1)
		single, multiple := bound, c.Name
		if c.Parent != "" {
			single = "(SELECT id FROM " + c.Parent + " WHERE id = " + bound + ")"
			multiple = "(SELECT p.id FROM " + c.Parent + " p WHERE p.id = r." + c.Name + ")"
		}
		names, plain = append(names, c.Name), append(plain, bound)
		one, several = append(one, single), append(several, multiple)
		// A SELECT with several unnest calls returns row after row. In a FROM
		// PostgreSQL would materialize each first (a fifth of its work).
		unnested = append(unnested, fmt.Sprintf("unnest(%s::%s[]) AS %s", bound, c.Type, c.Name))
	}
	list := func(values []string) string { return strings.Join(slices.Concat(values, constants), ", ") }
	head := "INSERT INTO " + table + " (" + strings.Join(slices.Concat(names, constantNames), ", ") + ") "
	return &InsertStmt{
		order:        order,
		sqliteRow:    head + "VALUES (" + list(plain) + ")",
		postgresRow:  head + "VALUES (" + list(one) + ")",
		postgresRows: head + "SELECT " + list(several) + " FROM (SELECT " + strings.Join(unnested, ", ") + ") AS r",
	}
}
