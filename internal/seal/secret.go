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
// instead of it, and a database driver refuses it. Reveal is the one way out,
// and easy to search for.
type Secret string

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String returns "[secret]", or nothing when there is nothing to hide.
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

// LogValue gives slog the same as String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the same as String, for JSON, YAML and everything else
// that asks for text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Value refuses to hand a secret to a database in clear.
func (s Secret) Value() (driver.Value, error) {
	return nil, errors.New("a secret must be sealed or hashed before it is stored")
}
