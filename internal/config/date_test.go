package config

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	morning := time.Date(2027, 1, 31, 8, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2027-01-31":                time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
		"2027-01-31T08:30:00Z":      morning,
		"2027-01-31t08:30:00z":      morning,
		"2027-01-31T09:30:00+01:00": morning,
		"2027-01-31T08:30:00.000Z":  morning,
	} {
		if got, err := ParseDate(text); err != nil || !got.Std().Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
}
