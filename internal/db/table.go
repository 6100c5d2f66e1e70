package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Table describes how rows of type T are stored. Its columns are the only place
// that lists them: the column lists, scan targets and statements are built from
// it, so that their order always agrees.
type Table[T any] struct {
	name       string
	columns    []Column[T]
	List       string // the columns to read, comma-separated
	SelectFrom string // "SELECT list FROM name "
	read       int    // number of columns to read
	inserted   int    // number of parameters of an insert
}

// Column maps a column to a field of T.
type Column[T any] struct {
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

// InsertedAs returns the column with a constant that inserts use instead of the
// field.
func (c Column[T]) InsertedAs(sql string) Column[T] { c.initial = sql; return c }

// NotRead returns the column excluded from reads.
func (c Column[T]) NotRead() Column[T] { c.writeOnly = true; return c }

// Text is a TEXT column.
func Text[T any, F ~string](name string, field func(*T) *F) Column[T] {
	return plain(name, "text", field)
}

// Number is a BIGINT column.
func Number[T any, F ~int | ~int64](name string, field func(*T) *F) Column[T] {
	return plain(name, "bigint", field)
}

// Boolean is a BOOLEAN column.
func Boolean[T any, F ~bool](name string, field func(*T) *F) Column[T] {
	return plain(name, "boolean", field)
}

func plain[T, F any](name, sqlType string, field func(*T) *F) Column[T] {
	return Column[T]{
		name: name, sqlType: sqlType,
		value: func(row *T) any { return *field(row) },
		dest:  func(row *T) any { return field(row) },
	}
}

// OptionalText is a TEXT column that stores the empty string as NULL.
func OptionalText[T any](name string, field func(*T) *string) Column[T] {
	return Column[T]{
		name: name, sqlType: "text",
		value: func(row *T) any { return NullString(*field(row)) },
		dest:  func(row *T) any { return emptyString{field(row)} },
	}
}

// Timestamp is a BIGINT column with Unix milliseconds that stores the zero time
// as NULL.
func Timestamp[T any](name string, field func(*T) *time.Time) Column[T] {
	return Column[T]{
		name: name, sqlType: "bigint",
		value: func(row *T) any { return NullMillis(*field(row)) },
		dest:  func(row *T) any { return NullTime{field(row)} },
	}
}

// Duration is a BIGINT column that counts a unit of time.
func Duration[T any](name string, unit time.Duration, field func(*T) *time.Duration) Column[T] {
	return Column[T]{
		name: name, sqlType: "bigint",
		value: func(row *T) any { return int64(*field(row) / unit) },
		dest:  func(row *T) any { return &durationUnits{field(row), unit} },
	}
}

// Parsed is a TEXT column whose field is formatted and parsed.
func Parsed[T any, F fmt.Stringer](name string, parse func(string) F, field func(*T) *F) Column[T] {
	return Column[T]{
		name: name, sqlType: "text",
		value: func(row *T) any { return (*field(row)).String() },
		dest:  func(row *T) any { return &parsedText[F]{field(row), parse} },
	}
}

func NewTable[T any](name string, columns ...Column[T]) *Table[T] {
	t := &Table[T]{name: name, columns: columns}
	t.List = t.Qualified("")
	t.SelectFrom = "SELECT " + t.List + " FROM " + name + " "
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

// Qualified returns the columns to read, each with a prefix such as "a.".
func (t *Table[T]) Qualified(prefix string) string {
	var names []string
	for _, c := range t.columns {
		if !c.writeOnly {
			names = append(names, prefix+c.name)
		}
	}
	return strings.Join(names, ", ")
}

// Dests returns the scan targets for the columns to read, followed by more.
func (t *Table[T]) Dests(row *T, more ...any) []any {
	dests := make([]any, 0, t.read+len(more))
	for i := range t.columns {
		if c := &t.columns[i]; !c.writeOnly {
			dests = append(dests, c.dest(row))
		}
	}
	return append(dests, more...)
}

// Values returns the parameters of the insert, followed by more.
func (t *Table[T]) Values(row *T, more ...any) []any {
	values := make([]any, 0, t.inserted+len(more))
	for i := range t.columns {
		if c := &t.columns[i]; c.initial == "" {
			values = append(values, c.value(row))
		}
	}
	return append(values, more...)
}

// InsertQuery returns the statement that inserts one row. Its parameters are
// values.
func (t *Table[T]) InsertQuery() string {
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

// UpdateStmt updates some columns of one row.
type UpdateStmt[T any] struct {
	Query   string      // its parameters are Values
	columns []Column[T] // the id and the updated columns
}

// NewUpdateStmt returns the statement that updates the named columns of the row
// with the id of T. It panics if the table has no such column.
func (t *Table[T]) NewUpdateStmt(names ...string) *UpdateStmt[T] {
	s := &UpdateStmt[T]{columns: []Column[T]{t.column("id")}}
	var set []string
	for i, name := range names {
		s.columns = append(s.columns, t.column(name))
		set = append(set, fmt.Sprintf("%s = $%d", name, i+2))
	}
	s.Query = "UPDATE " + t.name + " SET " + strings.Join(set, ", ") + " WHERE id = $1"
	return s
}

func (t *Table[T]) column(name string) Column[T] {
	i := slices.IndexFunc(t.columns, func(c Column[T]) bool { return c.name == name })
	if i < 0 {
		panic("db: table " + t.name + " has no column " + name)
	}
	return t.columns[i]
}

// Values returns the parameters of the update.
func (s *UpdateStmt[T]) Values(row *T) []any {
	values := make([]any, len(s.columns))
	for i := range s.columns {
		values[i] = s.columns[i].value(row)
	}
	return values
}

// QueryOne reads one row. It returns missing if there is none.
func QueryOne[T any](ctx context.Context, db *DB, t *Table[T], missing error, q string, args ...any) (*T, error) {
	row := new(T)
	if err := db.QueryRow(ctx, missing, q, args, t.Dests(row)...); err != nil {
		return nil, err
	}
	return row, nil
}

// QueryAll reads all rows.
func QueryAll[T any](ctx context.Context, db *DB, t *Table[T], q string, args ...any) ([]T, error) {
	var rows []T
	err := db.Query(ctx, q, args, func(scan func(...any) error) error {
		var row T
		if err := scan(t.Dests(&row)...); err != nil {
			return err
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// QueryStrings reads all rows of a query for one text column.
func (db *DB) QueryStrings(ctx context.Context, q string, args ...any) ([]string, error) {
	var all []string
	err := db.Query(ctx, q, args, func(scan func(...any) error) error {
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

// NullTime scans a stored time into dest. NULL becomes the zero time.
type NullTime struct{ Dest *time.Time }

// Scan accepts Unix milliseconds and NULL.
func (t NullTime) Scan(v any) error {
	n, valid, err := asInt64(v)
	if err != nil {
		return err
	}
	return t.ScanInt64(pgtype.Int8{Int64: n, Valid: valid})
}

// ScanInt64 accepts Unix milliseconds and NULL.
func (t NullTime) ScanInt64(n pgtype.Int8) error {
	*t.Dest = time.Time{}
	if n.Valid {
		*t.Dest = time.UnixMilli(n.Int64).UTC()
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
	return 0, false, fmt.Errorf("db: cannot scan %T as an integer", v)
}

func asString(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "", nil
	}
	return "", fmt.Errorf("db: cannot scan %T as a string", v)
}
