package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/internal/db"
)

// table describes how values of type T are stored as rows. Its columns are listed once:
// the SELECT list, the scan targets, the statements and their parameters are built from
// them, so that the order always agrees.
type table[T any] struct {
	name       string
	columns    []column[T]
	selectList string // the columns that are read, separated by commas
	selectFrom string // "SELECT selectList FROM name "
	readCount  int    // number of columns that are read
	paramCount int    // number of parameters of an insert
}

// column maps a column to a field of T. A read scans every column into its field,
// except those that are writeOnly. An insert writes every column: its constant if it
// has one, and its field otherwise. An update writes the fields of the columns that it
// names.
type column[T any] struct {
	name    string
	sqlType string       // type of the parameter in PostgreSQL
	value   func(*T) any // returns the parameter for the field
	dest    func(*T) any // returns the scan target for the field

	constant  string // SQL expression that an insert writes instead of the field, such as "NULL"; or empty
	parent    string // see db.InsertColumn; empty if there is none
	writeOnly bool   // reads leave the column out
}

// withConstant returns the column with an SQL expression that inserts write instead of
// the field, because the field of a new row never has another value.
func (c column[T]) withConstant(sql string) column[T] { c.constant = sql; return c }

// asWriteOnly returns the column left out of reads, for a field that only queries
// compare.
func (c column[T]) asWriteOnly() column[T] { c.writeOnly = true; return c }

// withParent returns the column with the table that it references, so that inserts
// check that the row exists; see db.InsertColumn.
func (c column[T]) withParent(table string) column[T] { c.parent = table; return c }

// text is a TEXT column.
func text[T any, F ~string](name string, field func(*T) *F) column[T] {
	return plain(name, "text", field)
}

// computed is a column without a field, which an insert sets to an SQL expression.
func computed[T any](name, sql string) column[T] {
	return column[T]{name: name, constant: sql, writeOnly: true}
}

// number is a BIGINT column.
func number[T any, F ~int | ~int64](name string, field func(*T) *F) column[T] {
	return plain(name, "bigint", field)
}

// boolean is a BOOLEAN column.
func boolean[T any, F ~bool](name string, field func(*T) *F) column[T] {
	return plain(name, "boolean", field)
}

func plain[T, F any](name, sqlType string, field func(*T) *F) column[T] {
	return column[T]{
		name: name, sqlType: sqlType,
		value: func(row *T) any { return *field(row) },
		dest:  func(row *T) any { return field(row) },
	}
}

// optionalText is a TEXT column that stores the empty string as NULL.
func optionalText[T any](name string, field func(*T) *string) column[T] {
	return column[T]{
		name: name, sqlType: "text",
		value: func(row *T) any { return db.NullString(*field(row)) },
		dest:  func(row *T) any { return db.ScanString(field(row)) },
	}
}

// timestamp is a BIGINT column with Unix milliseconds that stores the zero time
// as NULL.
func timestamp[T any](name string, field func(*T) *time.Time) column[T] {
	return column[T]{
		name: name, sqlType: "bigint",
		value: func(row *T) any { return db.NullMillis(*field(row)) },
		dest:  func(row *T) any { return db.ScanTime(field(row)) },
	}
}

// duration is a BIGINT column that counts a unit of time.
func duration[T any](name string, unit time.Duration, field func(*T) *time.Duration) column[T] {
	return column[T]{
		name: name, sqlType: "bigint",
		value: func(row *T) any { return int64(*field(row) / unit) },
		dest:  func(row *T) any { return db.ScanDuration(field(row), unit) },
	}
}

// parsed is a TEXT column whose field is formatted and parsed.
func parsed[T any, F fmt.Stringer](name string, parse func(string) F, field func(*T) *F) column[T] {
	return column[T]{
		name: name, sqlType: "text",
		value: func(row *T) any { return (*field(row)).String() },
		dest:  func(row *T) any { return db.ScanParsed(field(row), parse) },
	}
}

func newTable[T any](name string, columns ...column[T]) *table[T] {
	t := &table[T]{name: name, columns: columns}
	t.selectList = t.qualified("")
	t.selectFrom = "SELECT " + t.selectList + " FROM " + name + " "
	for _, c := range columns {
		if !c.writeOnly {
			t.readCount++
		}
		if c.constant == "" {
			t.paramCount++
		}
	}
	return t
}

// qualified returns the select list with a prefix before each column, such as "a.".
func (t *table[T]) qualified(prefix string) string {
	var names []string
	for _, c := range t.columns {
		if !c.writeOnly {
			names = append(names, prefix+c.name)
		}
	}
	return strings.Join(names, ", ")
}

// dests returns the scan targets for the select list, followed by more.
func (t *table[T]) dests(row *T, more ...any) []any {
	dests := make([]any, 0, t.readCount+len(more))
	for i := range t.columns {
		if c := &t.columns[i]; !c.writeOnly {
			dests = append(dests, c.dest(row))
		}
	}
	return append(dests, more...)
}

// values returns the parameters of an insert, followed by more.
func (t *table[T]) values(row *T, more ...any) []any {
	values := make([]any, 0, t.paramCount+len(more))
	for i := range t.columns {
		if c := &t.columns[i]; c.constant == "" {
			values = append(values, c.value(row))
		}
	}
	return append(values, more...)
}

// insertQuery returns the statement that inserts one row. Its parameters are
// values, which end with those of the extra columns.
func (t *table[T]) insertQuery(extra ...string) string {
	var names, values []string
	bound := 0
	for _, c := range t.columns {
		names = append(names, c.name)
		value := c.constant
		if value == "" {
			bound++
			value = fmt.Sprintf("$%d", bound)
		}
		values = append(values, value)
	}
	for _, name := range extra {
		bound++
		names, values = append(names, name), append(values, fmt.Sprintf("$%d", bound))
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// newInsertStmt returns the statement for a table that gets many rows at once. Its
// parameters are values, which end with those of extra. See db.NewInsertStmt for
// order.
func (t *table[T]) newInsertStmt(order int, extra ...db.InsertColumn) *db.InsertStmt {
	columns := make([]db.InsertColumn, 0, len(t.columns)+len(extra))
	for _, c := range t.columns {
		columns = append(columns, db.InsertColumn{Name: c.name, Type: c.sqlType, Constant: c.constant, Parent: c.parent})
	}
	return db.NewInsertStmt(t.name, order, append(columns, extra...))
}

// updateStmt updates some columns of one row.
type updateStmt[T any] struct {
	query   string
	columns []column[T] // the id and the updated columns
}

// newUpdateStmt returns the statement that updates the named columns of the row
// with the id of T. It panics if the table has no such column.
func (t *table[T]) newUpdateStmt(names ...string) *updateStmt[T] {
	s := &updateStmt[T]{columns: []column[T]{t.column("id")}}
	var set []string
	for i, name := range names {
		s.columns = append(s.columns, t.column(name))
		set = append(set, fmt.Sprintf("%s = $%d", name, i+2))
	}
	s.query = "UPDATE " + t.name + " SET " + strings.Join(set, ", ") + " WHERE id = $1"
	return s
}

func (t *table[T]) column(name string) column[T] {
	i := slices.IndexFunc(t.columns, func(c column[T]) bool { return c.name == name })
	if i < 0 {
		panic("store: table " + t.name + " has no column " + name)
	}
	return t.columns[i]
}

// values returns the parameters of the update.
func (s *updateStmt[T]) values(row *T) []any {
	values := make([]any, len(s.columns))
	for i := range s.columns {
		values[i] = s.columns[i].value(row)
	}
	return values
}

// unindexed returns an expression for a text column that no index contains, for a
// condition that only filters. Otherwise the engine may search an index by the project
// and read all of its rows, because it does not know how few another index finds.
func unindexed(column string) string { return column + ` || ''` }

// anyValue returns an expression for a parameter of a type, which hides the value from PostgreSQL when it plans. A plan
// for this value then looks no cheaper than one for any value, which it keeps. Otherwise it may plan again for each
// call, which takes longer than a short statement.
func anyValue(param, sqlType string) string { return `(SELECT CAST(` + param + ` AS ` + sqlType + `))` }

// page returns the conditions and the order of a page of the rows whose columns have the
// values of params. id is the column that orders them. The page begins after the row
// with the id of the parameter cursor, and the list ends with the id of the parameter end, unless
// these are empty. Only an index on the
// columns and the id has this order. With equal columns and the order of ids,
// PostgreSQL may walk all rows in that order and skip those with other values, however
// many they are.
func page(columns, params []string, id, cursor, end string, ascending bool) (where []string, order string) {
	direction, after, until := " DESC", "<", ">="
	if ascending {
		direction, after, until = " ASC", ">", "<="
	}
	compare := func(columns []string, operator string, params []string) string {
		return "(" + strings.Join(columns, ", ") + ") " + operator + " (" + strings.Join(params, ", ") + ")"
	}
	ordered := append(slices.Clone(columns), id)
	switch {
	case cursor != "":
		where = append(where, compare(ordered, after, append(slices.Clone(params), cursor)))
	case len(columns) > 0:
		where = append(where, compare(columns, after+"=", params))
	}
	switch {
	case end != "":
		where = append(where, compare(ordered, until, append(slices.Clone(params), end)))
	case len(columns) > 0:
		where = append(where, compare(columns, until, params))
	}
	return where, strings.Join(ordered, direction+", ") + direction
}

// queryOne reads one row. It returns missing if there is none.
func queryOne[T any](ctx context.Context, s *DB, t *table[T], missing error, q string, args ...any) (*T, error) {
	row := new(T)
	if err := s.QueryRow(ctx, missing, q, args, t.dests(row)...); err != nil {
		return nil, err
	}
	return row, nil
}

// queryAll reads all rows.
func queryAll[T any](ctx context.Context, s *DB, t *table[T], q string, args ...any) ([]T, error) {
	return queryAllMore(ctx, s, t, func(*T) []any { return nil }, q, args...)
}

// queryAllMore is queryAll for a query that selects more columns after those of the
// table. more returns the scan targets for them.
func queryAllMore[T any](ctx context.Context, s *DB, t *table[T], more func(row *T) []any, q string, args ...any) (
	[]T, error,
) {
	var all []T
	err := s.Query(ctx, q, args, func(row db.Row) error {
		var next T
		if err := row.Scan(t.dests(&next, more(&next)...)...); err != nil {
			return err
		}
		all = append(all, next)
		return nil
	})
	return all, err
}

// queryStrings reads all rows of a query for one text column.
func (s *DB) queryStrings(ctx context.Context, q string, args ...any) ([]string, error) {
	var all []string
	err := s.Query(ctx, q, args, func(row db.Row) error {
		var text string
		err := row.Scan(&text)
		all = append(all, text)
		return err
	})
	return all, err
}

// inList returns an SQL list of parameters for values, such as "($2, $3)", and args with
// the values added. It repeats the last value until their number is a power of two, so
// that lists of different lengths need few statements. values must not be empty.
func inList(args []any, values []string) (list string, with []any) {
	n := 1
	for n < len(values) {
		n *= 2
	}
	params := make([]string, n)
	for i := range params {
		args = append(args, values[min(i, len(values)-1)])
		params[i] = fmt.Sprintf("$%d", len(args))
	}
	return "(" + strings.Join(params, ", ") + ")", args
}

// lockRow locks a row until the transaction of ctx ends. It returns missing if
// there is no row with that id.
func (s *DB) lockRow(ctx context.Context, missing error, table, id string) error {
	forUpdate, err := s.ForUpdate(ctx)
	if err != nil {
		return err
	}
	return s.QueryRow(ctx, missing, `SELECT id FROM `+table+` WHERE id = $1`+forUpdate, []any{id}, &id)
}
