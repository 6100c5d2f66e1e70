// Package validate holds what strangers fill in to its bounds: numbers, texts,
// addresses and origins. A refusal is a sentence that names the field and the
// bound. It imports the standard library and fault.
package validate

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/internal/fault"
)

// Range holds a number to its bounds, both included.
func Range(name string, n, low, high int) error {
	if n < low || n > high {
		return fault.Invalidf("%s must be between %d and %d, not %d", name, low, high, n)
	}
	return nil
}

// Text holds a text to its length in characters (not bytes). A text that
// must not be empty may not be blank either. Control characters are refused,
// line breaks aside where lines are meant.
func Text(name, text string, low, high int, lines bool) error {
	if !utf8.ValidString(text) {
		return fault.Invalidf("%s must be UTF-8", name)
	}
	if low > 0 && strings.TrimSpace(text) == "" {
		return fault.Invalidf("%s must have %d to %d characters and not be blank", name, low, high)
	}
	if n := utf8.RuneCountInString(text); n > high {
		return fault.Invalidf("%s must have at most %d characters, not %d", name, high, n)
	}
	for _, c := range text {
		if unicode.IsControl(c) && !(lines && (c == '\n' || c == '\r')) {
			return fault.Invalidf("%s must not contain control characters such as U+%04X", name, c)
		}
	}
	return nil
}

// URL holds an optional address to be absolute, http or https, without
// credentials, and of a length in characters.
func URL(name, text string, high int) error {
	if text == "" {
		return nil
	}
	if err := Text(name, text, 1, high, false); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsFunc(text, unicode.IsSpace) || !isPort(u.Port()) {
		return fault.Invalidf("%s must be an absolute http or https URL", name)
	}
	if u.User != nil {
		return fault.Invalidf("%s must not contain a user name or password", name)
	}
	return nil
}

func isPort(text string) bool {
	if text == "" {
		return true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}
