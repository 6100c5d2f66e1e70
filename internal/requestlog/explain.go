package requestlog

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"parley/client/sign"
)

// The hints. Each is a sentence for the developer of the client.
const (
	HintHeaders      = "send each of the headers api-key, timestamp and hash-signature exactly once"
	HintMilliseconds = "the timestamp is in milliseconds: send Unix time in seconds"
	HintTimestamp    = "the timestamp is not a number: send Unix time in seconds, in ASCII digits"
	HintBase64       = "the signature is in Base64: send it as 64 hexadecimal digits (hex)"
	HintQuery        = "the query string was not signed: sign the request target as it is sent, with ? and the query"
	HintNewline      = "the Gateway secret was used with a trailing newline: remove the line break from the secret"
	HintBody         = "the body was not signed: its raw bytes are the sixth part of the signed text"
)

// RefusedCall is a call whose signature was not accepted, with the data that Hint
// needs. It is processed after the response was sent, and not stored.
type RefusedCall struct {
	Secret    string // Gateway secret of the API key of the call
	Method    string
	Target    string
	Timestamp string
	Signature string
	Body      []byte
	Check     sign.TimestampCheck
	// HeadersWrong means that a header of the authentication was missing or was sent
	// more than once.
	HeadersWrong bool
}

// Hint returns the hint for the recognized mistake, or an empty string.
func (r RefusedCall) Hint() string {
	switch {
	case r.HeadersWrong:
		return HintHeaders
	case r.Check.Milliseconds:
		return HintMilliseconds
	case r.Check.Freshness == sign.Malformed:
		return HintTimestamp
	case isBase64(r.Signature):
		return HintBase64
	case r.signatureMatches(r.Secret, r.Target, r.Body):
		return "" // the signature is valid, so the call was refused for another reason
	}
	if path, _, ok := strings.Cut(r.Target, "?"); ok && r.signatureMatches(r.Secret, path, r.Body) {
		return HintQuery
	}
	if r.signatureMatches(r.Secret+"\n", r.Target, r.Body) ||
		r.signatureMatches(r.Secret+"\r\n", r.Target, r.Body) {
		return HintNewline
	}
	if len(r.Body) > 0 && r.signatureMatches(r.Secret, r.Target, nil) {
		return HintBody
	}
	return ""
}

func (r RefusedCall) signatureMatches(secret, target string, body []byte) bool {
	return sign.VerifyV5(secret, r.Method, target, r.Timestamp, "", body, r.Signature)
}

// isBase64 reports whether a signature is the Base64 of 32 bytes, as API versions
// 3 and 4 use it.
func isBase64(signature string) bool {
	if _, err := hex.DecodeString(signature); err == nil {
		return false
	}
	text := strings.TrimRight(signature, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if raw, err := encoding.DecodeString(text); err == nil && len(raw) == 32 {
			return true
		}
	}
	return false
}
