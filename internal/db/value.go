package db

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// NullMillis returns the stored form of a time: Unix milliseconds, or NULL for
// the zero time.
func NullMillis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// NullString returns the stored form of an optional string: NULL if it is empty.
func NullString(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// storable reports whether both engines can store a text. PostgreSQL accepts only UTF-8 without
// NUL, and refuses a statement with another text, which aborts the transaction.
func storable(text string) bool {
	return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}

// nullUnstorable returns the arguments of a query with NULL, which equals nothing, in the place
// of each text that is not storable. It copies args before it changes them.
func nullUnstorable(args []any) []any {
	copied := false
	for i, arg := range args {
		text, ok := arg.(string)
		if optional, isNull := arg.(sql.NullString); isNull {
			text, ok = optional.String, true
		}
		if !ok || storable(text) {
			continue
		}
		if !copied {
			args, copied = slices.Clone(args), true
		}
		args[i] = nil
	}
	return args
}

// ScanTime returns the destination for Row.Scan that stores Unix milliseconds in
// dest. NULL becomes the zero time.
func ScanTime(dest *time.Time) any { return nullTime{dest} }

// ScanDuration returns the destination for Row.Scan that stores a number of units
// in dest.
func ScanDuration(dest *time.Duration, unit time.Duration) any { return &durationUnits{dest, unit} }

// ScanString returns the destination for Row.Scan that stores a string in dest.
// NULL becomes the empty string.
func ScanString(dest *string) any { return emptyString{dest} }

// ScanParsed returns the destination for Row.Scan that stores the result of parse
// for a string in dest.
func ScanParsed[F any](dest *F, parse func(string) F) any { return &parsedText[F]{dest, parse} }

// ScanJSON returns the destination for Row.Scan that stores the value of a JSON text in dest.
func ScanJSON[F any](dest *F) any { return &jsonText[F]{dest} }

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

// jsonText scans a JSON text into dest.
type jsonText[F any] struct{ dest *F }

// Scan accepts a string.
func (j *jsonText[F]) Scan(v any) error {
	text, err := asString(v)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), j.dest)
}

// ScanText accepts a string.
func (j *jsonText[F]) ScanText(t pgtype.Text) error { return json.Unmarshal([]byte(t.String), j.dest) }

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
