package cli

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-11-24T10:05:00Z":      "2026-11-24T10:05:00Z",
		"2026-11-24t10:05:00.5z":    "2026-11-24T10:05:00.5Z",
		"2026-11-24T10:05:00+02:00": "2026-11-24T08:05:00Z",
		"2026-11-24 10:05:09 UTC":   "2026-11-24T10:05:09Z", // as tables show it
		"2026-11-24 10:05":          "2026-11-24T10:05:00Z",
		"2026-11-24":                "2026-11-24T00:00:00Z",
		"today":                     "2026-11-24T00:00:00Z",
		"yesterday":                 "2026-11-23T00:00:00Z",
		"yesterday 23:59:59":        "2026-11-23T23:59:59Z",
		"10:05":                     "2026-11-24T10:05:00Z",
		" 90m ":                     "2026-11-24T13:34:05Z",
		"2d":                        "2026-11-22T15:04:05Z",
		"0s":                        "2026-11-24T15:04:05Z",
		"-5m":                       "",
		"tomorrow":                  "",
		"yesterday ":                "2026-11-23T00:00:00Z",
		"yesterday noon":            "",
		"2026-02-30":                "",
		"2026-11-24 25:00":          "",
		"24:00":                     "",
		"5":                         "",
		"":                          "",
	} {
		got, ok := parseMoment(text, now)
		if ok != (want != "") || ok && got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q: got %s, %v, want %q", text, got.UTC().Format(time.RFC3339Nano), ok, want)
		}
	}
	var m moment
	if err := m.UnmarshalText([]byte("noon")); err == nil || !strings.HasSuffix(err.Error(), `not "noon"`) || m != "" {
		t.Errorf("noon: got %q, error %v, want an error that names it", m, err)
	}
}

func TestDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"2026-11-24": "2026-11-24", "2026-11": "", "2d": ""} {
		var d day
		if err := d.UnmarshalText([]byte(text)); (err == nil) != (want != "") || string(d) != want {
			t.Errorf("%q: got %q, error %v, want %q", text, d, err, want)
		}
	}
	for text, back := range map[string]int{"today": 0, "yesterday": 1} {
		want := func() string { return time.Now().UTC().AddDate(0, 0, -back).Format(time.DateOnly) }
		before := want()
		var d day
		if err := d.UnmarshalText([]byte(text)); err != nil || string(d) != before && string(d) != want() {
			t.Errorf("%q: got %q, error %v, want %q", text, d, err, want())
		}
	}
}
