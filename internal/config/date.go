package config

import (
	"fmt"
	"time"
)

// Date is a moment that is written as a date, which means its beginning in
// UTC, or as an RFC 3339 time. The zero Date is none.
type Date time.Time

// ParseDate reads a date.
func ParseDate(text string) (Date, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && !t.IsZero() {
			return Date(t.UTC()), nil
		}
	}
	return Date{}, fmt.Errorf("must be a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z, not %q", text)
}

// Std returns d as the standard library's type.
func (d Date) Std() time.Time { return time.Time(d) }

// String writes d as ParseDate reads it; "" for none.
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

// UnmarshalText reads d from text as ParseDate does.
func (d *Date) UnmarshalText(text []byte) error {
	parsed, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// MarshalText writes d as String does.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
