package cli

import (
	"fmt"
	"strings"
	"time"

	"parley/internal/config"
)

// moment is a time of the command line as an RFC 3339 time. In UTC it may also be written as in tables
// ("2026-11-24 10:05:00 UTC"), shorter ("2026-11-24 10:05", "10:05", "2026-11-24", "yesterday", "today 10:05"), or as
// its age ("90m").
type moment string

// UnmarshalText parses the value of a flag.
func (m *moment) UnmarshalText(text []byte) error {
	t, ok := parseMoment(string(text), time.Now().UTC())
	if !ok {
		return fmt.Errorf(`must be a time in UTC, such as "2026-11-24 10:05", "yesterday 10:05" or 10:05, its age, such as `+
			`90m or 2d, or an RFC 3339 time, not %q`, text)
	}
	*m = moment(t.Format(time.RFC3339Nano))
	return nil
}

func parseMoment(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil { // as the server does
		return t, true
	}
	if ago, err := config.ParseDuration(text); err == nil {
		return now.Add(-ago.Std()).Truncate(time.Second), ago >= 0
	}
	text = strings.TrimSuffix(text, " UTC")
	date, clock, both := strings.Cut(text, " ")
	if !both && strings.Contains(text, ":") {
		date, clock = "today", text
	}
	start, ok := parseDay(date, now)
	if !ok || clock == "" {
		return start, ok && !both
	}
	written := start.Format(time.DateOnly) + " " + clock
	t, err := time.Parse("2006-01-02 15:04", written)
	if err != nil {
		t, err = time.Parse(time.DateTime, written)
	}
	return t, err == nil
}

// day is a day of the command line as a date, such as 2026-11-24.
type day string

// UnmarshalText parses the value of a flag.
func (d *day) UnmarshalText(text []byte) error {
	t, ok := parseDay(strings.TrimSpace(string(text)), time.Now().UTC())
	if !ok {
		return fmt.Errorf("must be a date (UTC) such as 2026-11-24, today or yesterday, not %q", text)
	}
	*d = day(t.Format(time.DateOnly))
	return nil
}

// parseDay returns the start of a day.
func parseDay(text string, now time.Time) (time.Time, bool) {
	today := now.Truncate(24 * time.Hour)
	switch text {
	case "today":
		return today, true
	case "yesterday":
		return today.AddDate(0, 0, -1), true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil
}
