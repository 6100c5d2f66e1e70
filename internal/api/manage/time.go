package manage

import "time"

// Time is a time in the responses. JSON has it in UTC with three digits after the second, like the times of the other
// APIs, whatever the zone and the precision of the clock that it comes from.
type Time struct{ time.Time }

// NewTime returns a time for a response.
func NewTime(t time.Time) Time { return Time{t} }

// MarshalJSON returns the time as formatMillis does.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + formatMillis(t.Time) + `"`), nil }

// timeOrNil returns a time for a response, or nil for the zero time.
func timeOrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// formatMillis returns an RFC 3339 time in UTC with milliseconds.
func formatMillis(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
