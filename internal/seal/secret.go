package seal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[secret]"

// Secret is a text that must not be shown: a key, a token, a URL with a
// password. Every formatting verb, slog and every encoder shows "[secret]"
// instead of it, and a database driver refuses it. Only Reveal returns the text,
// so that its uses are easy to find.
type Secret string

// Reveal returns the secret text.
func (s Secret) Reveal() string { return string(s) }

// String returns "[secret]", or an empty string for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns the same as String.
func (s Secret) GoString() string { return s.String() }

// Format writes String for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// LogValue returns the same as String, for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the same as String, for JSON, YAML and other text encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Value returns an error, so that no secret is stored in clear text.
func (s Secret) Value() (driver.Value, error) {
	return nil, errors.New("a secret must be sealed or hashed before it is stored")
}
