package roomapi

import (
	"errors"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/validate"
)

const localMinute = "2006-01-02T15:04"

// ParseStart parses a start time of API version 3: an ISO 8601 calendar date and
// time of day, at least to the minute, in the extended or the basic format. Text
// with Z or an offset is an absolute time; text without one is a local time in
// zone. The result is in zone. It returns Invalid for other text.
func ParseStart(text string, zone *time.Location) (time.Time, error) {
	invalid := fault.Invalidf("start_at must be an ISO 8601 date and time such as 2027-01-31T09:30:00Z or "+
		"2027-01-31T10:30:00+01:00, not %q", validate.Truncate(text, 40))
	c := cursor{rest: text}
	year := c.digits(4)
	extended := c.skip("-")
	month := c.digits(2)
	c.require(!extended || c.skip("-"))
	day := c.digits(2)
	c.require(c.skip("T"))
	hour := c.digits(2)
	c.require(!extended || c.skip(":"))
	minute := c.digits(2)
	second, fraction := 0, time.Duration(0)
	if next := c.peek(); extended && next == ':' || !extended && next >= '0' && next <= '9' {
		c.skip(":")
		second = c.digits(2)
		if c.skip(".") || c.skip(",") {
			fraction = c.fraction()
		}
	}
	offset, absolute := c.offset(extended)
	if c.failed || c.rest != "" {
		return time.Time{}, invalid
	}
	local := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if local.Day() != day || local.Month() != time.Month(month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, noSuchTime(text)
	}
	// The database stores times in milliseconds.
	fraction = fraction.Truncate(time.Millisecond)
	if absolute {
		return local.Add(fraction - offset).In(zone), nil
	}
	at, err := resolveLocalTime(local, zone)
	return at.Add(fraction), err
}

// ParseLocalStart parses a start time of API version 4: exactly YYYY-MM-DDTHH:MM,
// a local time in zone. It returns Invalid for other text.
func ParseLocalStart(text string, zone *time.Location) (time.Time, error) {
	local, err := time.Parse(localMinute, text)
	if e := (*time.ParseError)(nil); len(text) == len(localMinute) && errors.As(err, &e) &&
		strings.HasSuffix(e.Message, "out of range") {
		return time.Time{}, noSuchTime(text)
	}
	if err != nil || len(text) != len(localMinute) {
		return time.Time{}, fault.Invalidf("start_at must have the form YYYY-MM-DDTHH:MM, such as 2027-01-31T09:30, "+
			"without seconds or offset, not %q", validate.Truncate(text, 40))
	}
	return resolveLocalTime(local, zone)
}

// noSuchTime returns the error for a text of the right form that names no day of the calendar or no time of a day.
func noSuchTime(text string) error {
	return fault.Invalidf("start_at must name a day of the calendar, hours from 00 to 23, and minutes and seconds from "+
		"00 to 59, not %q", validate.Truncate(text, 40))
}

// resolveLocalTime returns the time at which clocks in zone show the date and time
// of local, whose own location is ignored. If clocks show it twice, it returns the
// first time. If clocks skip it, it returns Invalid with the times before and after
// the gap.
func resolveLocalTime(local time.Time, zone *time.Location) (time.Time, error) {
	// No zone has an offset from UTC, or a change of its offset, that is larger.
	const reach = 26 * time.Hour
	var before time.Time // end of the previous period, at that period's offset
	for at := local.Add(-reach).In(zone); ; {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		candidate := local.Add(-time.Duration(offset) * time.Second)
		switch {
		case !start.IsZero() && candidate.Before(start):
			return time.Time{}, fault.Invalidf("start_at %s does not exist in %s: the clocks go from %s straight to %s",
				local.Format(localMinute), zone, before.Add(-time.Minute).Format(localMinute), start.In(zone).Format(localMinute))
		case end.IsZero() || candidate.Before(end):
			return candidate.In(zone), nil
		}
		before = end.In(time.FixedZone("", offset))
		at = end.In(zone)
	}
}

// cursor parses a text from left to right. After a failure it reads nothing more.
type cursor struct {
	rest   string
	failed bool
}

func (c *cursor) require(ok bool) { c.failed = c.failed || !ok }

func (c *cursor) peek() byte {
	if c.failed || c.rest == "" {
		return 0
	}
	return c.rest[0]
}

func (c *cursor) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(c.rest, prefix)
	if c.failed || !ok {
		return false
	}
	c.rest = rest
	return true
}

// digits parses a number of exactly n ASCII digits.
func (c *cursor) digits(n int) int {
	value := 0
	for range n {
		d := c.peek() - '0'
		if d > 9 {
			c.failed = true
			return 0
		}
		value = value*10 + int(d)
		c.rest = c.rest[1:]
	}
	return value
}

// fraction parses the digits of a fraction of a second, at least one.
func (c *cursor) fraction() time.Duration {
	value := time.Duration(0)
	unit := time.Second
	count := 0
	for ; c.peek()-'0' <= 9; count++ {
		unit /= 10
		value += time.Duration(c.peek()-'0') * unit
		c.rest = c.rest[1:]
	}
	c.require(count > 0)
	return value
}

// offset parses an optional offset from UTC: Z, ±hh, ±hh:mm (extended) or ±hhmm
// (basic).
func (c *cursor) offset(extended bool) (offset time.Duration, present bool) {
	if c.skip("Z") {
		return 0, true
	}
	sign := time.Duration(1)
	switch {
	case c.skip("+"):
	case c.skip("-"):
		sign = -1
	default:
		return 0, false
	}
	hours, minutes := c.digits(2), 0
	if c.rest != "" {
		c.require(!extended || c.skip(":"))
		minutes = c.digits(2)
	}
	c.require(hours <= 23 && minutes <= 59)
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute), true
}
