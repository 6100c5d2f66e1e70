package roomapi

import "time"

// Time is a time in the responses of the companion routes. JSON has it in UTC, always with three digits after the
// second, like the times of version 5 and of webhooks, because some parsers accept one number of digits only.
type Time struct{ time.Time }

// MarshalJSON returns the time as formatTime does.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + formatTime(t.Time) + `"`), nil }

// timeOrNil returns a time for a response, or nil for the zero time.
func timeOrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// formatTime returns an RFC 3339 time in UTC with milliseconds.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
