package requestlog

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"parley/client/sign"
)

// The hints. Each is a sentence for whoever wrote the client.
const (
	HintRepeated     = "send each of the headers api-key, timestamp and hash-signature exactly once"
	HintMilliseconds = "the timestamp is in milliseconds: send Unix time in seconds"
	HintTimestamp    = "the timestamp is no number: send Unix time in seconds, in ASCII digits"
	HintBase64       = "the signature is in Base64: send it as 64 hexadecimal digits (hex)"
	HintQuery        = "the query string was left out of what was signed: sign the target as it is sent, with ? and the query"
	HintNewline      = "the Gateway secret was used with a trailing newline: leave the line break out of the key"
	HintBody         = "the body was not signed: its raw bytes are the sixth part of the signed text"
)

// RefusedCall is a call whose signature was not accepted, with what it takes to
// say why. It is worked on after the answer has been sent, and not kept.
type RefusedCall struct {
	Secret    string // the Gateway secret of the key that the call named
	Method    string
	Target    string
	Timestamp string
	Signature string
	Body      []byte
	Check     sign.TimestampCheck
	Repeated  bool // a header was sent twice, or not at all
}

// Hint returns the slip that is recognised, or nothing.
func (r RefusedCall) Hint() string {
	switch {
	case r.Repeated:
		return HintRepeated
	case r.Check.Milliseconds:
		return HintMilliseconds
	case r.Check.Freshness == sign.Malformed:
		return HintTimestamp
	case isBase64(r.Signature):
		return HintBase64
	case r.signatureMatches(r.Secret, r.Target, r.Body):
		return "" // the signature is right, so something else was wrong
	}
	if path, _, ok := strings.Cut(r.Target, "?"); ok && r.signatureMatches(r.Secret, path, r.Body) {
		return HintQuery
	}
	if r.signatureMatches(r.Secret+"\n", r.Target, r.Body) || r.signatureMatches(r.Secret+"\r\n", r.Target, r.Body) {
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

// isBase64 reports whether a signature has the form that the older versions
// give it: the Base64 of 32 bytes.
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
