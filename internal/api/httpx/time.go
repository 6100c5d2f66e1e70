package httpx

import "time"

// Time is a time in a response. JSON has it in UTC, always with three digits after the second, whatever the zone and
// the precision of the clock that it comes from, because some parsers accept one number of digits only.
type Time struct{ time.Time }

// MarshalJSON returns the time as FormatTime does.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + FormatTime(t.Time) + `"`), nil }

// TimeOrNil returns a time for a response, or nil for the zero time.
func TimeOrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// FormatTime returns an RFC 3339 time in UTC with milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
