package sign

import (
	"crypto/hmac"
	"encoding/base64"
)

// Legacy returns the signature of version 3 and 4 requests and of join
// events: the HMAC-SHA256 over the raw body alone, in standard Base64 with
// padding (RFC 4648, section 4), 44 characters. The key is an API key or the
// project secret for requests, and the project secret for join events, as
// shown. It does not cover a time, so that a captured request can be replayed.
func Legacy(key string, body []byte) string {
	sum := legacySum(key, body)
	return string(sum[:])
}

// VerifyLegacy reports whether signature is the signature of Legacy over body. It
// accepts only the canonical Base64 form: no line breaks, no URL alphabet, no
// missing padding. It returns false for an empty key, because anybody could sign
// with that.
func VerifyLegacy(key string, body []byte, signature string) bool {
	want := legacySum(key, body)
	return hmac.Equal(want[:], []byte(signature)) && key != ""
}

func legacySum(key string, body []byte) (encoded [base64Size]byte) {
	sum := macOf(key, nil, body)
	base64.StdEncoding.Encode(encoded[:], sum[:])
	return encoded
}
