package v5

import "time"

// Time is a time in the JSON form of this version: RFC 3339 in UTC, always with
// milliseconds.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.appendJSON(make([]byte, 0, len(`"2006-01-02T15:04:05.000Z"`))), nil
}

// appendJSON appends the JSON form. It formats with time.RFC3339 and appends the
// milliseconds itself, because package time has a fast path only for that layout.
func (t Time) appendJSON(b []byte) []byte {
	b = time.Time(t).UTC().AppendFormat(append(b, '"'), time.RFC3339)
	ms := time.Time(t).Nanosecond() / 1e6
	return append(b[:len(b)-len("Z")], '.', lastDigit(ms/100), lastDigit(ms/10), lastDigit(ms), 'Z', '"')
}

// lastDigit returns the last decimal digit of n.
func lastDigit(n int) byte { return '0' + byte(n%10) }

// date is a UTC date.
type date struct {
	day  int64 // since 1970-01-01
	text string
}

// utcDay returns the UTC date of a time as 2006-01-02. It formats the date of the first call of a day only.
func (s *Server) utcDay(at time.Time) string {
	day := at.Unix() / int64(24*time.Hour/time.Second)
	d := s.today.Load()
	if d == nil || d.day != day {
		d = &date{day, at.UTC().Format(time.DateOnly)}
		s.today.Store(d)
	}
	return d.text
}

// timeOrNil returns nil for the zero time.
func timeOrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return (*Time)(&t)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(text []byte) error { return (*time.Time)(t).UnmarshalJSON(text) }
