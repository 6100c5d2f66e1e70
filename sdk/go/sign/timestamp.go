package sign

import (
	"errors"
	"strconv"
	"time"
)

// DefaultSkew is the default maximum difference between a timestamp and the
// server's clock, in either direction. The operator may set another one.
const DefaultSkew = 5 * time.Minute

// maxTimestampDigits bounds a timestamp, so that arithmetic on it cannot overflow.
const maxTimestampDigits = 18

// ErrTimestamp is returned for a timestamp that is not a number of Unix seconds.
var ErrTimestamp = errors.New("a timestamp is Unix seconds in 1 to 18 ASCII digits")

// ParseTimestamp parses Unix seconds in 1 to 18 ASCII digits. It returns
// ErrTimestamp for a sign, a fraction, white space and digits of other scripts.
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

// FormatTimestamp returns t in the form of the header "timestamp".
func FormatTimestamp(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// Freshness is the result of comparing a timestamp with the clock.
type Freshness int

// The values of Freshness. The zero value is not Fresh, so that a forgotten check
// does not pass.
const (
	Malformed Freshness = iota // not a number of seconds
	Fresh                      // within the limit
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
	// Milliseconds is true for a timestamp that would be fresh in milliseconds, a
	// common mistake.
	Milliseconds bool
}

// CheckTimestamp compares a timestamp with now. The timestamp is fresh if it is at
// most maxSkew behind or ahead, in whole seconds of both clocks.
func CheckTimestamp(text string, now time.Time, maxSkew time.Duration) TimestampCheck {
	seconds, err := ParseTimestamp(text)
	if err != nil {
		return TimestampCheck{Freshness: Malformed}
	}
	limit := int64(maxSkew / time.Second)
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
