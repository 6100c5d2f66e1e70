// Package validate checks the fields of requests: numbers, texts, names, URLs and
// origins. Each error is a fault.Invalid whose message names the field, the rule
// and the bound. The package imports the standard library and fault.
package validate

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/internal/fault"
)

// maxRepeated bounds the numbers that the errors of Range repeat. A larger one may not be the one that was sent,
// because readers of requests replace those that do not fit by the largest that does.
const maxRepeated = 100_000_000

// Range returns an error unless low <= n <= high.
func Range(name string, n, low, high int) error {
	if n < low || n > high {
		if n <= -maxRepeated || n >= maxRepeated {
			return fault.InvalidField(name, "must be between %d and %d", low, high)
		}
		return fault.InvalidField(name, "must be between %d and %d, not %d", low, high, n)
	}
	return nil
}

// Text returns an error unless text is UTF-8 of low to high characters (not
// bytes). If low is not zero, text must not be blank. Control characters are not
// allowed, except for line breaks if lines is true.
func Text(name, text string, low, high int, lines bool) error {
	if !utf8.ValidString(text) {
		return fault.InvalidField(name, "must be UTF-8")
	}
	if low > 0 && strings.TrimSpace(text) == "" {
		return fault.InvalidField(name, "must have %d to %d characters and not be blank", low, high)
	}
	if n := utf8.RuneCountInString(text); n > high {
		return fault.InvalidField(name, "must have at most %d characters, not %d", high, n)
	}
	for _, c := range text {
		if unicode.IsControl(c) && !(lines && (c == '\n' || c == '\r')) {
			return fault.InvalidField(name, "must not contain control characters such as U+%04X", c)
		}
	}
	return nil
}

// URL returns an error unless text is empty or an absolute http or https URL of
// at most high characters, without a user name or password.
func URL(name, text string, high int) error {
	if text == "" {
		return nil
	}
	if err := Text(name, text, 1, high, false); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.ContainsFunc(text, unicode.IsSpace) || !isPort(u.Port()) {
		return fault.InvalidField(name, "must be an absolute http or https URL")
	}
	if u.User != nil {
		return fault.InvalidField(name, "must not contain a user name or password")
	}
	return nil
}

// WebhookURL is URL for the target of webhooks. It also limits the bytes, because an index of PostgreSQL cannot
// contain more than about 2,700 in a row.
func WebhookURL(name, text string) error {
	if err := URL(name, text, MaxWebhookURL); err != nil {
		return err
	}
	if n := len(text); n > MaxWebhookURL {
		return fault.InvalidField(name, "must have at most %d bytes, not %d", MaxWebhookURL, n)
	}
	return nil
}

// isPort reports whether text is empty or a port from 1 to 65535.
func isPort(text string) bool {
	if text == "" {
		return true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// Truncate returns the start of a text for an error message: at most a number of bytes, and "…"
// if the text is longer.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
