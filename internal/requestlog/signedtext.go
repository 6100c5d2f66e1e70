package requestlog

import (
	"strings"

	"parley.example/client/sign"
)

// SignatureCheck is the result of checking the signature of a request that is not executed.
// It contains neither secrets nor signatures.
type SignatureCheck struct {
	Text    SignedText
	Matches bool // the signature is that of the text, with a live key
}

// SignedText is the text that a signature covers.
type SignedText struct {
	Profile string       // how the signature is computed
	Key     string       // the kind of the key
	Parts   []SignedPart // joined with line feeds
}

// SignedPart is a part of a signed text.
type SignedPart struct {
	Label string
	From  string // where it comes from
	Value string
}

// Text returns the text that the signature of the call covers.
func (r SignedCall) Text() SignedText {
	idempotencyKey := SignedPart{"idempotency key", "the header Idempotency-Key of a POST, else empty", r.IdempotencyKey}
	return SignedText{Profile: sign.Profile, Key: "the Gateway secret of the API key in the header api-key",
		Parts: []SignedPart{
			{"profile", "fixed", sign.Profile},
			{"method", "the request line, in capital letters", strings.ToUpper(r.Method)},
			{"target", "the request line: the path and the query", r.Target},
			{"timestamp", "the header timestamp", r.Timestamp},
			idempotencyKey,
			{"body", "the raw body, byte for byte", string(r.Body)},
		}}
}

// Text returns the text that the signature of the call covers.
func (c BodySignedCall) Text() SignedText {
	text := SignedText{Profile: "HMAC-SHA256, in Base64", Key: "an API key or the project secret",
		Parts: []SignedPart{{"body", "the raw body, byte for byte", string(c.Message)}}}
	if c.SecretsOnly {
		text.Key = "the project secret"
	}
	return text
}
