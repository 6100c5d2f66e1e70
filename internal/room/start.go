package room

import (
	"strings"
	"time"

	"parley/internal/fault"
)

const (
	startTolerance = 60 * time.Second
	startHorizon   = 366 * 24 * time.Hour
	localMinute    = "2006-01-02T15:04"
)

// ParseStart reads a start time as version 3 writes it: an ISO 8601 calendar
// date and time of day, to the minute at least, in the extended or the basic
// form. With Z or an offset it is that instant; without one it is a local time
// of zone. Either way the answer is in zone.
func ParseStart(text string, zone *time.Location) (time.Time, error) {
	wrong := fault.Invalidf("start_at must be an ISO 8601 date and time such as 2027-01-31T09:30:00Z, not %q", truncate(text))
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
	if c.failed || c.rest != "" || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, wrong
	}
	local := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if local.Day() != day || local.Month() != time.Month(month) {
		return time.Time{}, wrong
	}
	// Moments are kept to the millisecond.
	fraction = fraction.Truncate(time.Millisecond)
	if absolute {
		return local.Add(fraction - offset).In(zone), nil
	}
	at, err := resolveLocalTime(local, zone)
	return at.Add(fraction), err
}

// ParseLocalStart reads a start time as version 4 writes it: exactly
// YYYY-MM-DDTHH:MM, a local time of zone.
func ParseLocalStart(text string, zone *time.Location) (time.Time, error) {
	local, err := time.Parse(localMinute, text)
	if err != nil || len(text) != len(localMinute) {
		return time.Time{}, fault.Invalidf("start_at must have the form YYYY-MM-DDTHH:MM, such as 2027-01-31T09:30, without seconds or offset, not %q", truncate(text))
	}
	return resolveLocalTime(local, zone)
}

// resolveLocalTime returns when it is the given local time in zone; local's own zone is
// UTC and means nothing. A local time that exists twice means the first. One
// that a jump of the clocks leaves out is refused with both sides of the jump.
func resolveLocalTime(local time.Time, zone *time.Location) (time.Time, error) {
	// No zone is further from UTC than this, and none jumps further.
	const reach = 26 * time.Hour
	var before time.Time // the end of the period looked at last, by its own clock
	for at := local.Add(-reach).In(zone); ; {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		candidate := local.Add(-time.Duration(offset) * time.Second)
		switch {
		case !start.IsZero() && candidate.Before(start):
			return time.Time{}, fault.Invalidf("start_at %s does not exist in %s: the clocks go from %s straight to %s", local.Format(localMinute), zone,
				before.Add(-time.Minute).Format(localMinute), start.In(zone).Format(localMinute))
		case end.IsZero() || candidate.Before(end):
			return candidate.In(zone), nil
		}
		before = end.In(time.FixedZone("", offset))
		at = end.In(zone)
	}
}

// checkStart holds a start time to the time there is.
func checkStart(at, now time.Time) error {
	switch {
	case at.Before(now.Add(-startTolerance)):
		return fault.Invalidf("start_at must be in the future, and %s is past", FormatStart(at))
	case at.After(now.Add(startHorizon)):
		return fault.Invalidf("start_at must be at most 366 days ahead, and %s is later", FormatStart(at))
	}
	return nil
}

// FormatStart writes a start time for an answer: RFC 3339 with the offset of
// its zone, UTC as Z.
func FormatStart(at time.Time) string { return at.Format("2006-01-02T15:04:05.999Z07:00") }

// cursor reads a text from the front. After a failure it reads nothing.
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

// digits reads a number of exactly n ASCII digits.
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

// fraction reads the digits of a fraction of a second, one at least.
func (c *cursor) fraction() time.Duration {
	value := time.Duration(0)
	unit := time.Second
	read := 0
	for ; c.peek()-'0' <= 9; read++ {
		unit /= 10
		value += time.Duration(c.peek()-'0') * unit
		c.rest = c.rest[1:]
	}
	c.require(read > 0)
	return value
}

// offset reads Z, ±hh, ±hh:mm (extended) or ±hhmm (basic), where there is one.
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

func truncate(text string) string {
	const most = 40
	for i := range text {
		if i >= most {
			return text[:i] + "…"
		}
	}
	return text
}
