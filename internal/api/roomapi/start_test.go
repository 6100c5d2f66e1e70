package roomapi

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/fault"
)

// startFormat is RFC 3339 with the digits of a second that the database keeps.
const startFormat = "2006-01-02T15:04:05.999Z07:00"

func loadLocation(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestParseStart(t *testing.T) {
	t.Parallel()
	berlin := loadLocation(t, "Europe/Berlin")
	for text, want := range map[string]string{
		"2027-01-31T09:30Z":                "2027-01-31T10:30:00+01:00",
		"2027-01-31T09:30:15Z":             "2027-01-31T10:30:15+01:00",
		"2027-01-31T09:30:15.25Z":          "2027-01-31T10:30:15.25+01:00",
		"2027-01-31T09:30:15,25Z":          "2027-01-31T10:30:15.25+01:00",
		"2027-01-31T09:30:15.1239999999Z":  "2027-01-31T10:30:15.123+01:00",
		"2027-01-31T09:30:00-03:30":        "2027-01-31T14:00:00+01:00",
		"2027-01-31T09:30+14":              "2027-01-30T20:30:00+01:00",
		"2027-01-31T09:30:00-00:00":        "2027-01-31T10:30:00+01:00",
		"20270131T0930Z":                   "2027-01-31T10:30:00+01:00",
		"20270131T093015.5-0330":           "2027-01-31T14:00:15.5+01:00",
		"2027-01-31T09:30":                 "2027-01-31T09:30:00+01:00",
		"2027-07-31T09:30:59":              "2027-07-31T09:30:59+02:00",
		"20270731T0930":                    "2027-07-31T09:30:00+02:00",
		"2028-02-29T00:00":                 "2028-02-29T00:00:00+01:00",
		"2027-10-31T02:30":                 "2027-10-31T02:30:00+02:00", // exists twice: the first
		"2027-10-31T02:30+01:00":           "2027-10-31T02:30:00+01:00",
		"2027-10-31T02:59:59.999":          "2027-10-31T02:59:59.999+02:00",
		"2027-10-31T03:00":                 "2027-10-31T03:00:00+01:00",
		"2027-03-28T01:59:59.9999999999":   "2027-03-28T01:59:59.999+01:00",
		"2027-03-28T03:00":                 "2027-03-28T03:00:00+02:00",
		"0000-01-01T00:00Z":                "0000-01-01T00:53:28+00:53",
		"2027-01-31T09:30:15.000000000001": "2027-01-31T09:30:15+01:00",
	} {
		at, err := ParseStart(text, berlin)
		if err != nil || at.Format(startFormat) != want {
			t.Errorf("%s: got %s %v, want %s", text, at.Format(startFormat), err, want)
		}
	}
	for _, text := range []string{"", "T", "2027-01-31", "2027-01-31T", "2027-01-31T09", "2027-01-31T09:3",
		"2027-01-31T09:30:", "2027-01-31T09:30:1", "2027-01-31T09:30:15.",
		"2027-01-31T09:30:15.Z", "2027-01-31T09:30.5Z", "2027-01-31 09:30Z", "2027-01-31t09:30Z",
		"2027-01-31T09:30z", "2027-01-31T09:30 Z",
		" 2027-01-31T09:30Z", "2027-01-31T09:30Z ", "2027-01-31T09:30ZZ", "2027-01-31T09:30+", "2027-01-31T09:30+1",
		"2027-01-31T09:30+0100", "2027-01-31T09:30+01:0",
		"2027-01-31T09:30+24:00", "2027-01-31T09:30+01:60", "2027-01-31T09:30−01:00", "20270131T09:30Z", "2027-01-31T0930Z",
		"2027-0131T09:30Z", "20270131T0930+01:00",
		"27-01-31T09:30Z", "+2027-01-31T09:30Z", "-2027-01-31T09:30Z", "2027-W05-7T09:30Z", "2027-031T09:30Z",
		"２027-01-31T09:30Z", "2027-01-31T09:30:15.٥Z", "1900000000"} {
		if at, err := ParseStart(text, berlin); !fault.Is(err, fault.Invalid) ||
			!strings.HasPrefix(err.Error(), "start_at must be an ISO 8601 date and time such as") {
			t.Errorf("%q: got %s, %v, want Invalid: start_at must be an ISO 8601 date and time", text, at, err)
		}
	}
}

// Text of the right form gets a sentence that does not ask for this form.
func TestParseStart_NonexistentDayOrTime(t *testing.T) {
	t.Parallel()
	check := func(text string, err error) {
		t.Helper()
		want := "start_at must name a day of the calendar, hours from 00 to 23, and minutes and seconds from 00 to 59, not " +
			strconv.Quote(text)
		if !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("%s: got %v, want Invalid: %s", text, err, want)
		}
	}
	for _, text := range []string{"2027-01-31T24:00", "2027-01-31T09:60", "2027-02-29T09:30", "2027-00-10T09:30",
		"2027-13-10T09:30", "2027-01-00T09:30", "2027-01-32T09:30"} {
		_, err := ParseLocalStart(text, time.UTC)
		check(text, err)
		_, err = ParseStart(text+"Z", time.UTC)
		check(text+"Z", err)
	}
	for _, text := range []string{"2027-01-31T09:30:60Z", "2027-01-31T24:00:00+01:00"} {
		_, err := ParseStart(text, time.UTC)
		check(text, err)
	}
}

func TestParseLocalStart_NonexistentTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, text, want string }{
		{"Europe/Berlin", "2027-03-28T02:00", "start_at 2027-03-28T02:00 does not exist in Europe/Berlin: the clocks go from 2027-03-28T01:59 straight to 2027-03-28T03:00"},
		{"Europe/Berlin", "2027-03-28T02:59", "start_at 2027-03-28T02:59 does not exist in Europe/Berlin: the clocks go from 2027-03-28T01:59 straight to 2027-03-28T03:00"},
		{"Australia/Lord_Howe", "2027-10-03T02:15", "start_at 2027-10-03T02:15 does not exist in Australia/Lord_Howe: the clocks go from 2027-10-03T01:59 straight to 2027-10-03T02:30"},
		{"America/Santiago", "2027-09-05T00:30", "start_at 2027-09-05T00:30 does not exist in America/Santiago: the clocks go from 2027-09-04T23:59 straight to 2027-09-05T01:00"},
		{"Pacific/Apia", "2011-12-30T12:00", "start_at 2011-12-30T12:00 does not exist in Pacific/Apia: the clocks go from 2011-12-29T23:59 straight to 2011-12-31T00:00"},
	} {
		if _, err := ParseLocalStart(tc.text, loadLocation(t, tc.zone)); err == nil || err.Error() != tc.want {
			t.Errorf("%s in %s: got  %v\nwant %s", tc.text, tc.zone, err, tc.want)
		}
	}
	// These zones have an offset with seconds or no clock changes.
	for _, tc := range []struct{ zone, text, want string }{
		{"UTC", "2027-03-28T02:30", "2027-03-28T02:30:00Z"},
		{"Asia/Kathmandu", "2027-03-28T02:30", "2027-03-28T02:30:00+05:45"},
		{"Australia/Lord_Howe", "2027-04-04T01:45", "2027-04-04T01:45:00+11:00"}, // twice
		{"America/St_Johns", "2027-11-07T01:30", "2027-11-07T01:30:00-02:30"},    // twice
		{"Pacific/Kiritimati", "2027-01-01T00:00", "2027-01-01T00:00:00+14:00"},
	} {
		if at, err := ParseLocalStart(tc.text, loadLocation(t, tc.zone)); err != nil || at.Format(startFormat) != tc.want {
			t.Errorf("%s in %s: got %s, %v, want %s", tc.text, tc.zone, at.Format(startFormat), err, tc.want)
		}
	}
}

// TestResolveLocalTime_AmbiguousIsFirst compares with a search through every minute around.
func TestResolveLocalTime_AmbiguousIsFirst(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe",
		"Africa/Casablanca", "Asia/Tehran", "Pacific/Apia", "America/Asuncion"}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		near := time.Date(rapid.IntRange(2000, 2037).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 1,
			0, 0, 0, 0, zone)
		if _, jump := near.ZoneBounds(); !jump.IsZero() && rapid.Bool().Draw(t, "at a jump") {
			near = jump
		}
		local := near.Add(time.Duration(rapid.IntRange(-180, 180).Draw(t, "minutes")) * time.Minute)
		text := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(),
			local.Minute()+rapid.IntRange(-90, 90).Draw(t, "more"), 0, 0, time.UTC).Format(localMinute)
		wall, _ := time.Parse(localMinute, text)
		var first time.Time
		for at := wall.Add(-15 * time.Hour); at.Before(wall.Add(15 * time.Hour)); at = at.Add(time.Minute) {
			if at.In(zone).Format(localMinute) == text {
				first = at
				break
			}
		}
		got, err := ParseLocalStart(text, zone)
		if first.IsZero() != (err != nil) || err == nil && !got.Equal(first) {
			t.Fatalf("%s in %s: got %s, %v, want %s, which the search found", text, zone, got, err, first)
		}
	})
}

// FuzzParseStart looks for start times that cause a panic, that are formatted
// differently than they were parsed, or that return another error than Invalid.
func FuzzParseStart(f *testing.F) {
	for _, seed := range []string{"2027-01-31T09:30Z", "20270131T093015.5-0330", "2027-03-28T02:30", "2027-10-31T02:30",
		"2027-01-31T09:30:15,25+14", "9999-12-31T23:59", "0000-01-01T00:00", "T"} {
		f.Add(seed, "Europe/Berlin")
		f.Add(seed, "Pacific/Apia")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return
		}
		for _, parse := range []func(string, *time.Location) (time.Time, error){ParseStart, ParseLocalStart} {
			at, err := parse(text, zone)
			if err != nil {
				if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "start_at ") {
					t.Fatalf("%q: got error %v, want Invalid about start_at", text, err)
				}
				continue
			}
			if at.Year() < 1900 || at.Year() > 9998 { // offsets with seconds, and five digits of a year
				continue
			}
			if again, err := ParseStart(at.Format(startFormat), zone); err != nil || !again.Equal(at) {
				t.Fatalf("%q: parsed from %s: got %s, %v, want %s", text, at.Format(startFormat), again, err, at)
			}
		}
	})
}
