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
// Four bytes tell keys apart for people; they are no defence of anything.
const keyIDSize = 4

// Key is a master key. It prints as its id, never as itself: every formatting
// verb, slog and JSON show the id alone. Its zero value is no key.
type Key struct {
	bytes [KeySize]byte
	set   bool
}

// NewKey returns a fresh random key.
func NewKey() Key {
	k := Key{set: true}
	rand.Read(k.bytes[:]) // never fails, see crypto/rand
	return k
}

// ParseKey reads a key from its Base64 text: 44 characters of the standard,
// padded alphabet (RFC 4648, section 4) that stand for 32 bytes. White space
// around it is ignored, so that a file may end in a line break. The error says
// what is wrong without repeating any of the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, errors.New("the master key is empty: it must be 32 bytes in standard Base64 (44 characters)")
	}
	if want := base64.StdEncoding.EncodedLen(KeySize); len(text) != want {
		return Key{}, fmt.Errorf("the master key must be 32 bytes in standard Base64 (%d characters), not %d characters", want, len(text))
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != KeySize {
		return Key{}, errors.New("the master key must be 32 bytes in standard Base64, with its padding and nothing else")
	}
	k := Key{set: true}
	copy(k.bytes[:], raw)
	return k, nil
}

// IsZero reports whether k is the zero value, which is no key.
func (k Key) IsZero() bool { return !k.set }

// ID returns the key's fingerprint, eight hexadecimal digits. It is no secret:
// it stands in front of every sealed value, so that a wrong key is recognised
// as such. It is an HMAC of a fixed text under the key and tells nothing
// about the key.
func (k Key) ID() string {
	mac := hmac.New(sha256.New, k.bytes[:])
	io.WriteString(mac, "parley master key id")
	return hex.EncodeToString(mac.Sum(nil)[:keyIDSize])
}

// Reveal returns the key itself as Base64, in the form ParseKey reads. It is
// meant for the key file alone.
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

// LogValue gives slog the same as String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText returns the same as String, for JSON, YAML and everything else
// that asks for text.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
