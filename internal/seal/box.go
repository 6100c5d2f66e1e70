// Package seal protects stored secrets: it encrypts them with the master key,
// reads and creates the file of that key, and generates credentials.
//
// It imports the standard library only. A caller identifies the row of a value
// by a string, so the package does not depend on the database.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// version is the first part of every sealed value. It stands for AES-256-GCM
// with the master key and a random nonce in front.
const version = "v1"

// ErrTampered is returned by Open for a value that names this key and cannot be
// decrypted: it was changed, cut short, or copied from another row.
var ErrTampered = errors.New("the sealed value is damaged or belongs to another row")

// WrongKeyError is returned by Open when the value was sealed with another
// master key. Its fields are key ids, which are no secrets.
type WrongKeyError struct {
	SealedWith string // id of the key that sealed the value
	Have       string // id of the key of the Box
}

// Error returns a sentence with the ids of both keys.
func (e *WrongKeyError) Error() string {
	return fmt.Sprintf("the master key does not fit this database: it was sealed with key %s, this one is %s",
		e.SealedWith, e.Have)
}

// VersionError is returned by Open when this version of the program does not
// support the format of the value.
type VersionError struct {
	Version string // found instead of "v1", at most 16 bytes
}

// Error returns a sentence with the version found.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the sealed value has the format %q, and this program supports %q only", e.Version, version)
}

// Box seals and opens values under one master key. It is safe for use by
// several goroutines. Under one key, fewer than 2³² values should ever be
// sealed (NIST SP 800-38D, section 8.3: nonces are random).
type Box struct {
	aead  cipher.AEAD
	keyID string
}

// NewBox returns a Box for a key. It panics for the zero Key, because that would
// seal everything with a known key.
func NewBox(k Key) *Box {
	if k.IsZero() {
		panic("seal: NewBox without a key")
	}
	block, err := aes.NewCipher(k.bytes[:])
	if err != nil {
		panic("seal: " + err.Error()) // only for a key of a wrong length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("seal: " + err.Error()) // only for a block that is not AES
	}
	return &Box{aead: aead, keyID: k.ID()}
}

// Seal returns the sealed plaintext: ASCII text of the form
// "v1.<key id>.<Base64 of nonce, ciphertext and tag>", about 52 characters
// longer than 4/3 of the plaintext. Open needs the same rowID. If a row has
// several sealed columns, rowID should name the column too, so that they cannot
// be exchanged. Sealing the same value twice gives different results.
func (b *Box) Seal(rowID string, plaintext []byte) string {
	out := b.aead.Seal(nil, nil, plaintext, []byte(rowID))
	return version + "." + b.keyID + "." + base64.RawURLEncoding.EncodeToString(out)
}

// Open returns the plaintext of a value that was sealed for rowID. The errors
// are *WrongKeyError, *VersionError and ErrTampered, each possibly wrapped. They
// contain no part of the value except its key id and format.
func (b *Box) Open(rowID, sealed string) ([]byte, error) {
	keyID, body, err := split(sealed)
	if err != nil {
		return nil, err
	}
	if keyID != b.keyID {
		return nil, &WrongKeyError{SealedWith: keyID, Have: b.keyID}
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") { // the decoder skips line breaks
		return nil, ErrTampered
	}
	plaintext, err := b.aead.Open(nil, nil, raw, []byte(rowID))
	if err != nil {
		return nil, ErrTampered
	}
	return plaintext, nil
}

// KeyID returns the fingerprint of the key that sealed a value; see Key.ID. The errors are
// *VersionError and ErrTampered.
func KeyID(sealed string) (string, error) {
	keyID, _, err := split(sealed)
	return keyID, err
}

// split returns the parts of a sealed value. It checks the format of the key id.
func split(sealed string) (keyID, body string, err error) {
	found, rest, ok := strings.Cut(sealed, ".")
	if !ok {
		return "", "", ErrTampered
	}
	if found != version {
		return "", "", &VersionError{Version: found[:min(len(found), 16)]}
	}
	keyID, body, ok = strings.Cut(rest, ".")
	if !ok || !isKeyID(keyID) {
		return "", "", ErrTampered
	}
	return keyID, body, nil
}

func isKeyID(s string) bool {
	if len(s) != 2*keyIDSize {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
