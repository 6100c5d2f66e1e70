package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// KeySize is the length of a master key in bytes (AES-256).
const KeySize = 32

// keyIDSize is the length of a key id in bytes, before it is written as hex.
// Four bytes let people tell keys apart; nothing relies on them for security.
const keyIDSize = 4

// Key is a master key. Every formatting verb, slog and JSON show its id instead
// of the key. The zero value is not a key.
type Key struct {
	bytes [KeySize]byte
	set   bool
}

// NewKey returns a new random key.
func NewKey() Key {
	k := Key{set: true}
	rand.Read(k.bytes[:]) // never fails, see crypto/rand
	return k
}

// ParseKey reads a key from its Base64 text: 44 characters of the standard,
// padded alphabet (RFC 4648, section 4) that encode 32 bytes. White space
// around it is ignored, so that a file may end in a line break. The error does
// not contain any of the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, errors.New("the master key is empty: it must be 32 bytes in standard Base64 (44 characters)")
	}
	if want := base64.StdEncoding.EncodedLen(KeySize); len(text) != want {
		return Key{}, fmt.Errorf(
			"the master key must be 32 bytes in standard Base64 (%d characters), not %d characters", want, len(text))
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != KeySize {
		return Key{}, errors.New(
			"the master key must be 32 bytes in standard Base64, with padding and no other characters")
	}
	k := Key{set: true}
	copy(k.bytes[:], raw)
	return k, nil
}

// IsZero reports whether k is the zero value, which is not a key.
func (k Key) IsZero() bool { return !k.set }

// ID returns the fingerprint of the key, eight hexadecimal digits. It is not
// secret. Every sealed value contains it, so that a wrong key is recognized. It is
// an HMAC of a fixed text with the key and reveals nothing about the key.
func (k Key) ID() string {
	mac := hmac.New(sha256.New, k.bytes[:])
	io.WriteString(mac, "parley master key id")
	return hex.EncodeToString(mac.Sum(nil)[:keyIDSize])
}

// Reveal returns the key as Base64, as ParseKey reads it. Use it for the key file
// only.
func (k Key) Reveal() string { return base64.StdEncoding.EncodeToString(k.bytes[:]) }

// String returns the key's id in brackets.
func (k Key) String() string {
	if k.IsZero() {
		return "[no master key]"
	}
	return "[master key " + k.ID() + "]"
}

// GoString returns the same as String.
func (k Key) GoString() string { return k.String() }

// Format writes String for every verb and flag.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }

// LogValue returns the same as String, for slog.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText returns the same as String, for JSON, YAML and other text encoders.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
