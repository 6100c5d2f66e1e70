package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// table describes how rows of type T are stored. Its columns are the only place
// that lists them: the column lists, scan targets and statements are built from
// it, so that their order always agrees.
type table[T any] struct {
	name       string
	columns    []column[T]
	list       string // the columns to read, comma-separated
	selectFrom string // "SELECT list FROM name "
	read       int    // number of columns to read
	inserted   int    // number of parameters of an insert
}

// column maps a column to a field of T.
type column[T any] struct {
	name    string
	sqlType string // type of the parameter in PostgreSQL
	value   func(*T) any
	dest    func(*T) any

	// initial is the SQL expression that an insert uses instead of the field;
	// empty for the field.
	initial string
	// writeOnly excludes the column from reads.
	writeOnly bool
}

// insertedAs returns the column with a constant that inserts use instead of the
// field.
func (c column[T]) insertedAs(sql string) column[T] { c.initial = sql; return c }

// notRead returns the column excluded from reads.
func (c column[T]) notRead() column[T] { c.writeOnly = true; return c }

// text is a TEXT column.
func text[T any, F ~string](name string, field func(*T) *F) column[T] {
	return plain(name, "text", field)
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
		value: func(row *T) any { return nullString(*field(row)) },
		dest:  func(row *T) any { return emptyString{field(row)} },
	}
}

// timestamp is a BIGINT column with Unix milliseconds that stores the zero time
// as NULL.
func timestamp[T any](name string, field func(*T) *time.Time) column[T] {
	return column[T]{
		name: name, sqlType: "bigint",
		value: func(row *T) any { return nullMillis(*field(row)) },
		dest:  func(row *T) any { return nullTime{field(row)} },
	}
}

// duration is a BIGINT column that counts a unit of time.
func duration[T any](name string, unit time.Duration, field func(*T) *time.Duration) column[T] {
	return column[T]{
		name: name, sqlType: "bigint",
		value: func(row *T) any { return int64(*field(row) / unit) },
		dest:  func(row *T) any { return &durationUnits{field(row), unit} },
	}
}

// parsed is a TEXT column whose field is formatted and parsed.
func parsed[T any, F fmt.Stringer](name string, parse func(string) F, field func(*T) *F) column[T] {
	return column[T]{
		name: name, sqlType: "text",
		value: func(row *T) any { return (*field(row)).String() },
		dest:  func(row *T) any { return &parsedText[F]{field(row), parse} },
	}
}

func newTable[T any](name string, columns ...column[T]) *table[T] {
	t := &table[T]{name: name, columns: columns}
	t.list = t.qualified("")
	t.selectFrom = "SELECT " + t.list + " FROM " + name + " "
	for _, c := range columns {
		if !c.writeOnly {
			t.read++
		}
		if c.initial == "" {
			t.inserted++
		}
	}
	return t
}

// qualified returns the columns to read, each with a prefix such as "a.".
func (t *table[T]) qualified(prefix string) string {
	var names []string
	for _, c := range t.columns {
		if !c.writeOnly {
			names = append(names, prefix+c.name)
		}
	}
	return strings.Join(names, ", ")
}

// dests returns the scan targets for the columns to read, followed by more.
func (t *table[T]) dests(row *T, more ...any) []any {
	dests := make([]any, 0, t.read+len(more))
	for i := range t.columns {
		if c := &t.columns[i]; !c.writeOnly {
			dests = append(dests, c.dest(row))
		}
	}
	return append(dests, more...)
}

// values returns the parameters of the insert, followed by more.
func (t *table[T]) values(row *T, more ...any) []any {
	values := make([]any, 0, t.inserted+len(more))
	for i := range t.columns {
		if c := &t.columns[i]; c.initial == "" {
			values = append(values, c.value(row))
		}
	}
	return append(values, more...)
}

// insertQuery returns the statement that inserts one row. Its parameters are
// values.
func (t *table[T]) insertQuery() string {
	var names, values []string
	bound := 0
	for _, c := range t.columns {
		names = append(names, c.name)
		value := c.initial
		if value == "" {
			bound++
			value = fmt.Sprintf("$%d", bound)
		}
		values = append(values, value)
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
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

// queryOne reads one row. It returns missing if there is none.
func queryOne[T any](ctx context.Context, db *DB, t *table[T], missing error, q string, args ...any) (*T, error) {
	row := new(T)
	if err := db.queryRow(ctx, missing, q, args, t.dests(row)...); err != nil {
		return nil, err
	}
	return row, nil
}

// queryAll reads all rows.
func queryAll[T any](ctx context.Context, db *DB, t *table[T], q string, args ...any) ([]T, error) {
	var rows []T
	err := db.query(ctx, q, args, func(scan func(...any) error) error {
		var row T
		if err := scan(t.dests(&row)...); err != nil {
			return err
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// queryStrings reads all rows of a query for one text column.
func (db *DB) queryStrings(ctx context.Context, q string, args ...any) ([]string, error) {
	var all []string
	err := db.query(ctx, q, args, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		all = append(all, text)
		return err
	})
	return all, err
}

// The types below implement the scanner interfaces of pgtype and read the native
// types of the drivers directly, because the general path of either driver
// allocates.

// nullTime scans a stored time into dest. NULL becomes the zero time.
type nullTime struct{ dest *time.Time }

// Scan accepts Unix milliseconds and NULL.
func (t nullTime) Scan(v any) error {
	n, valid, err := asInt64(v)
	if err != nil {
		return err
	}
	return t.ScanInt64(pgtype.Int8{Int64: n, Valid: valid})
}

// ScanInt64 accepts Unix milliseconds and NULL.
func (t nullTime) ScanInt64(n pgtype.Int8) error {
	*t.dest = time.Time{}
	if n.Valid {
		*t.dest = time.UnixMilli(n.Int64).UTC()
	}
	return nil
}

// durationUnits scans a number of units into dest.
type durationUnits struct {
	dest *time.Duration
	unit time.Duration
}

// Scan accepts an integer.
func (d *durationUnits) Scan(v any) error {
	n, valid, err := asInt64(v)
	if err != nil {
		return err
	}
	return d.ScanInt64(pgtype.Int8{Int64: n, Valid: valid})
}

// ScanInt64 accepts an integer.
func (d *durationUnits) ScanInt64(n pgtype.Int8) error {
	*d.dest = time.Duration(n.Int64) * d.unit
	return nil
}

// emptyString scans a stored string into dest. NULL becomes the empty string.
type emptyString struct{ dest *string }

// Scan accepts a string and NULL.
func (s emptyString) Scan(v any) error {
	text, err := asString(v)
	*s.dest = text
	return err
}

// ScanText accepts a string and NULL.
func (s emptyString) ScanText(t pgtype.Text) error {
	*s.dest = t.String
	return nil
}

// parsedText scans a string that is parsed into dest.
type parsedText[F any] struct {
	dest  *F
	parse func(string) F
}

// Scan accepts a string.
func (p *parsedText[F]) Scan(v any) error {
	text, err := asString(v)
	*p.dest = p.parse(text)
	return err
}

// ScanText accepts a string.
func (p *parsedText[F]) ScanText(t pgtype.Text) error {
	*p.dest = p.parse(t.String)
	return nil
}

func asInt64(v any) (n int64, valid bool, err error) {
	switch v := v.(type) {
	case int64:
		return v, true, nil
	case nil:
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("store: cannot scan %T as an integer", v)
}

func asString(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "", nil
	}
	return "", fmt.Errorf("store: cannot scan %T as a string", v)
}
