package v5

import "time"

// Time is a moment as this version writes it: RFC 3339 in UTC, always with
// milliseconds.
type Time time.Time

const timeFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.appendJSON(make([]byte, 0, len(timeFormat)+2)), nil
}

func (t Time) appendJSON(b []byte) []byte {
	b = append(b, '"')
	b = time.Time(t).UTC().AppendFormat(b, timeFormat)
	return append(b, '"')
}

// optional is nil for the zero time.
func optional(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return (*Time)(&t)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(text []byte) error { return (*time.Time)(t).UnmarshalJSON(text) }
