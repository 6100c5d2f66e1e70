package sign

import (
	"errors"
	"strconv"
	"time"
)

// DefaultSkew is how far a timestamp may be from the server's clock, either
// way, unless the operator sets another bound.
const DefaultSkew = 5 * time.Minute

// maxTimestampDigits bounds a timestamp, so that no arithmetic on it can
// overflow. Eighteen digits of seconds are far beyond any date.
const maxTimestampDigits = 18

// ErrTimestamp is returned for a timestamp that is no number of Unix seconds.
var ErrTimestamp = errors.New("a timestamp is Unix seconds in 1 to 18 ASCII digits")

// ParseTimestamp reads Unix seconds from 1 to 18 ASCII digits. A sign, a
// fraction, white space and the digits of other scripts are ErrTimestamp.
func ParseTimestamp(text string) (int64, error) {
	if len(text) == 0 || len(text) > maxTimestampDigits {
		return 0, ErrTimestamp
	}
	var n int64
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, ErrTimestamp
		}
		n = n*10 + int64(digit)
	}
	return n, nil
}

// FormatTimestamp returns t as the header "timestamp" carries it.
func FormatTimestamp(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// Freshness is what CheckTimestamp finds.
type Freshness int

// The values of Freshness. The zero value is not Fresh, so that nothing is
// fresh by accident.
const (
	Malformed Freshness = iota // no number of seconds
	Fresh                      // within the bound
	Behind                     // too old
	Ahead                      // too far in the future
)

// String returns the name of f in lower case.
func (f Freshness) String() string {
	switch f {
	case Fresh:
		return "fresh"
	case Behind:
		return "behind"
	case Ahead:
		return "ahead"
	default:
		return "malformed"
	}
}

// TimestampCheck is the result of CheckTimestamp.
type TimestampCheck struct {
	Freshness Freshness
	// SkewSeconds is the client's clock minus ours, in seconds; 0 when the
	// timestamp is malformed.
	SkewSeconds int64
	// Milliseconds is true for a timestamp that would be fresh if it were
	// read as milliseconds, the usual slip.
	Milliseconds bool
}

// CheckTimestamp compares a timestamp with the time now. It is fresh when it
// is at most bound behind or ahead, in whole seconds of both clocks.
func CheckTimestamp(text string, now time.Time, bound time.Duration) TimestampCheck {
	seconds, err := ParseTimestamp(text)
	if err != nil {
		return TimestampCheck{Freshness: Malformed}
	}
	limit := int64(bound / time.Second)
	skew := seconds - now.Unix()
	check := TimestampCheck{Freshness: Fresh, SkewSeconds: skew}
	if skew < -limit {
		check.Freshness = Behind
	}
	if skew > limit {
		asMilliseconds := seconds/1000 - now.Unix()
		check.Freshness = Ahead
		check.Milliseconds = -limit <= asMilliseconds && asMilliseconds <= limit
	}
	return check
}
