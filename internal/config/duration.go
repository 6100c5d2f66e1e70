package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// maxDays is the largest number of whole days in a time.Duration.
const maxDays = int64(1<<63-1) / int64(day)

// Duration is a time.Duration that is also parsed and written with days ("7d",
// "1d12h"), in addition to the syntax of time.ParseDuration. kong, JSON and YAML
// parse it through UnmarshalText.
type Duration time.Duration

// ParseDuration parses a duration. Days are a whole number without a sign and come
// first.
func ParseDuration(text string) (Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, durationError(text)
		}
		return Duration(d), nil
	}
	if !isDigits(days) {
		return 0, durationError(text)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil || n > maxDays {
		return 0, durationError(text)
	}
	total := time.Duration(n) * day
	if rest == "" {
		return Duration(total), nil
	}
	if rest[0] == '-' || rest[0] == '+' {
		return 0, durationError(text)
	}
	d, err := time.ParseDuration(rest)
	if err != nil || total+d < total {
		return 0, durationError(text)
	}
	return Duration(total + d), nil
}

func durationError(text string) error {
	return fmt.Errorf("must be a duration with its unit, such as 90s, 5m or 1d, not %q", text)
}

// isDigits reports whether text is one or more ASCII digits.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String returns d in a form that ParseDuration accepts, with days and without
// parts that are zero: "1d12h", "5m".
func (d Duration) String() string {
	std := time.Duration(d)
	if std == 0 {
		return "0s"
	}
	days := ""
	if n := std / day; n > 0 {
		days, std = strconv.FormatInt(int64(n), 10)+"d", std%day
		if std == 0 {
			return days
		}
	}
	text := std.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return days + text
}

// UnmarshalText parses text as ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("must be a duration with its unit, such as 90s, 5m or 1d, not empty")
	}
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// MarshalText returns the same text as String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
