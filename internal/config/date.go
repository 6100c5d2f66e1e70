package config

import (
	"fmt"
	"strings"
	"time"
)

// Date is a time that is written as a date, which means 00:00 UTC, or as an
// RFC 3339 time. The zero Date means none.
type Date time.Time

// ParseDate parses a date.
func ParseDate(text string) (Date, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		// RFC 3339, section 5.6: t and z are T and Z.
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil && !t.IsZero() {
			return Date(t.UTC()), nil
		}
	}
	return Date{}, fmt.Errorf("must be a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z, not %q", text)
}

// Std returns d as the standard library's type.
func (d Date) Std() time.Time { return time.Time(d) }

// String returns d in a form that ParseDate accepts; "" for the zero Date.
func (d Date) String() string {
	t := time.Time(d)
	switch {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(day)):
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// UnmarshalText parses text as ParseDate does.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// MarshalText returns the same text as String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
