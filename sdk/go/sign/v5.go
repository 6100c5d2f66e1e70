package sign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Profile is the name of version 5's signing profile, the first line of every
// signed text.
const Profile = "SVC-HMAC-V5-1"

// V5Text returns the text that a version 5 signature covers: six parts, separated
// by line feeds. There is no line feed after the body, so that with an empty
// idempotency key and an empty body the text ends with two line feeds.
//
//   - the profile's name
//   - the method, which V5Text converts to upper case
//   - the target: the path and, if there is one, "?" and the query, byte for
//     byte as in the request line
//   - the timestamp: Unix seconds in ASCII digits, as in the header "timestamp"
//   - the idempotency key, empty for all GET requests
//   - the raw body, empty for GET
//
// A line feed within one of the first five parts would make the text ambiguous.
// V5Text does not check for it; VerifyV5 refuses it.
func V5Text(method, target, timestamp, idempotencyKey string, body []byte) []byte {
	return append(v5Head(len(body), method, target, timestamp, idempotencyKey), body...)
}

// v5Head returns the signed text without the body, with capacity for extra bytes.
func v5Head(extra int, method, target, timestamp, idempotencyKey string) []byte {
	n := len(Profile) + len(method) + len(target) + len(timestamp) + len(idempotencyKey) + 5
	head := make([]byte, 0, n+extra)
	head = append(head, Profile...)
	head = append(head, '\n')
	for i := range len(method) {
		head = append(head, upperASCII(method[i]))
	}
	head = append(head, '\n')
	head = append(head, target...)
	head = append(head, '\n')
	head = append(head, timestamp...)
	head = append(head, '\n')
	head = append(head, idempotencyKey...)
	return append(head, '\n')
}

// upperASCII converts an ASCII letter to upper case. Methods are ASCII (RFC 9110,
// section 9.1), so the rules of other alphabets must not apply.
func upperASCII(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// V5 returns the version 5 signature over what V5Text describes: 64
// hexadecimal digits in lower case. The secret is the Gateway secret as shown.
func V5(secret, method, target, timestamp, idempotencyKey string, body []byte) string {
	sum := v5Sum(secret, method, target, timestamp, idempotencyKey, body)
	return hex.EncodeToString(sum[:])
}

// VerifyV5 reports whether signature is the version 5 signature over the other
// parts. It accepts hexadecimal digits of either case, and takes the same time for
// well-formed and malformed signatures. It does not check whether the timestamp is
// recent; use CheckTimestamp for that. It returns false for an empty secret,
// because anybody could sign with that.
func VerifyV5(secret, method, target, timestamp, idempotencyKey string, body []byte, signature string) bool {
	want := v5Sum(secret, method, target, timestamp, idempotencyKey, body)
	got, wellFormed := decodeHex(signature)
	equal := hmac.Equal(got[:], want[:])
	return equal && wellFormed && secret != "" && !hasLineFeed(method, target, timestamp, idempotencyKey)
}

func v5Sum(secret, method, target, timestamp, idempotencyKey string, body []byte) [sha256.Size]byte {
	return macOf(secret, v5Head(0, method, target, timestamp, idempotencyKey), body)
}

// decodeHex decodes a signature of 64 hexadecimal digits.
func decodeHex(signature string) (sum [sha256.Size]byte, ok bool) {
	if len(signature) != hex.EncodedLen(sha256.Size) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(signature))
	return sum, err == nil
}

func hasLineFeed(parts ...string) bool {
	for _, part := range parts {
		if strings.IndexByte(part, '\n') >= 0 {
			return true
		}
	}
	return false
}
