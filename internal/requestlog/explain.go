package requestlog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"parley.example/client/sign"
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
	HintURL          = "the whole URL was signed: sign the request target as it is sent, which begins with the path"
	HintLineFeeds    = "the signed text needs exactly five line feeds (U+000A): one between any two parts, even empty ones"
	HintCredential   = "the API key or the project secret signed the call: sign it with the Gateway secret"
	HintOtherSecret  = "the Gateway secret of another API key signed the call: use an API key with its own Gateway secret"

	HintIdempotencyKeySigned   = "the Idempotency-Key was signed: the fifth part of the signed text is empty on this route"
	HintIdempotencyKeyUnsigned = "the Idempotency-Key was not signed: it is the fifth part of the signed text"

	HintOneSignature  = "send the header hash-signature exactly once"
	HintHex           = "the signature is in hexadecimal digits (hex): send it as Base64 with padding"
	HintBase64Form    = "the signature is in another form of Base64: use the standard alphabet, with padding"
	HintSecretNewline = "the API key or project secret was used with a trailing newline: remove the line break"
	HintGatewaySecret = "the Gateway secret signed the body: sign it with the API key or the project secret"
	HintSpaces        = "the signed bytes are not those that were sent, white space differs: sign the body as it is sent"
	HintKeyOnly       = "an API key signed the body: this route, or this project, requires the project secret"
	HintUnsigned      = "the call has no signature: this project requires that of the project secret"
)

// SignedCall is a call with a Gateway signature, with the data that Explain needs. It is
// processed after the response was sent, and not stored.
type SignedCall struct {
	Secret    string // Gateway secret of the API key of the call
	Method    string
	Target    string
	Timestamp string
	// IdempotencyKey is the fifth part of the signed text; version 5 has none.
	IdempotencyKey string
	// SentIdempotencyKey is the header Idempotency-Key, which is not part of every signed text.
	SentIdempotencyKey string
	Host               string // of the request
	Signature          string
	Body               []byte
	Check              sign.TimestampCheck
	// HeadersWrong means that a header of the authentication was missing or was sent
	// more than once.
	HeadersWrong bool
	// Other credentials of the project, with which a client may have signed by mistake.
	APIKeys, ProjectSecrets, GatewaySecrets []string
}

// Explain returns the hint for the recognized mistake, or an empty string. The cause that is
// already recorded stays.
func (r SignedCall) Explain(context.Context) (cause, hint string) { return "", r.hint() }

func (r SignedCall) hint() string {
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
		return "" // the signature is valid, so the call was rejected for another reason
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
	if r.signatureMatches(r.Secret, "http://"+r.Host+r.Target, r.Body) ||
		r.signatureMatches(r.Secret, "https://"+r.Host+r.Target, r.Body) {
		return HintURL
	}
	if r.isJoinedWrongly() {
		return HintLineFeeds
	}
	return cmp.Or(r.idempotencyKeyHint(), r.credentialHint())
}

func (r SignedCall) idempotencyKeyHint() string {
	other, hint := r, HintIdempotencyKeySigned
	other.IdempotencyKey = r.SentIdempotencyKey
	if r.IdempotencyKey != "" {
		other.IdempotencyKey, hint = "", HintIdempotencyKeyUnsigned
	}
	if other.signatureMatches(r.Secret, r.Target, r.Body) {
		return hint
	}
	return ""
}

func (r SignedCall) credentialHint() string {
	signs := func(secret string) bool { return r.signatureMatches(secret, r.Target, r.Body) }
	switch {
	case slices.ContainsFunc(r.APIKeys, signs), slices.ContainsFunc(r.ProjectSecrets, signs):
		return HintCredential
	case slices.ContainsFunc(r.GatewaySecrets, signs):
		return HintOtherSecret
	}
	return ""
}

// isJoinedWrongly reports whether the right parts were signed, with other line feeds than those of SVC-HMAC-V5-1.
func (r SignedCall) isJoinedWrongly() bool {
	head := []string{sign.Profile, strings.ToUpper(r.Method), r.Target, r.Timestamp}
	parts := append(slices.Clone(head), r.IdempotencyKey, string(r.Body))
	texts := []string{
		strings.Join(parts, "\n") + "\n",
		strings.Join(parts, "\r\n"),
		strings.Join(parts, `\n`), // in a language whose quotation marks leave it as it is
	}
	if r.IdempotencyKey == "" {
		texts = append(texts, strings.Join(append(slices.Clone(head), string(r.Body)), "\n"))
		if len(r.Body) == 0 {
			texts = append(texts, strings.Join(head, "\n"))
		}
	}
	signature, err := hex.DecodeString(r.Signature)
	return err == nil && slices.ContainsFunc(texts, func(text string) bool {
		mac := hmac.New(sha256.New, []byte(r.Secret))
		mac.Write([]byte(text))
		return hmac.Equal(mac.Sum(nil), signature)
	})
}

func (r SignedCall) signatureMatches(secret, target string, body []byte) bool {
	return sign.VerifyV5(secret, r.Method, target, r.Timestamp, r.IdempotencyKey, body, r.Signature)
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

// BodySignedCall is a call whose body alone is signed, as in versions 3 and 4, with the
// data that Explain needs. It is processed after the response was sent, and not stored.
type BodySignedCall struct {
	APIKeys        []string // live ones of the project
	GatewaySecrets []string
	ProjectSecrets []string // live ones
	// SecretsOnly means that only a project secret may sign.
	SecretsOnly bool
	Signatures  []string // values of the header hash-signature
	Message     []byte   // what should have been signed
}

// Explain returns the hint for the recognized mistake, or an empty string. The cause that is
// already recorded stays.
func (c BodySignedCall) Explain(context.Context) (cause, hint string) { return "", c.hint() }

func (c BodySignedCall) hint() string {
	if len(c.Signatures) != 1 {
		return HintOneSignature
	}
	signature := c.Signatures[0]
	if raw, err := hex.DecodeString(signature); err == nil && len(raw) == sha256.Size {
		return HintHex
	}
	credentials := slices.Concat(c.APIKeys, c.ProjectSecrets)
	if c.signedWith(credentials, "", c.Message, signature) {
		if c.SecretsOnly && !c.signedWith(c.ProjectSecrets, "", c.Message, signature) {
			return HintKeyOnly
		}
		return "" // the signature is valid, so the call was rejected for another reason
	}
	if standard := standardBase64(signature); standard != signature &&
		c.signedWith(credentials, "", c.Message, standard) {
		return HintBase64Form
	}
	if c.signedWith(c.GatewaySecrets, "", c.Message, signature) {
		return HintGatewaySecret
	}
	if c.signedWith(credentials, "\n", c.Message, signature) || c.signedWith(credentials, "\r\n", c.Message, signature) {
		return HintSecretNewline
	}
	var compact bytes.Buffer
	if json.Compact(&compact, c.Message) != nil {
		return ""
	}
	for _, message := range [][]byte{compact.Bytes(), append(compact.Bytes(), '\n'), bytes.TrimSpace(c.Message)} {
		if c.signedWith(credentials, "", message, signature) {
			return HintSpaces
		}
	}
	return ""
}

// signedWith reports whether one of the credentials, with a suffix, signed a message.
func (c BodySignedCall) signedWith(credentials []string, suffix string, message []byte, signature string) bool {
	return slices.ContainsFunc(credentials, func(credential string) bool {
		return sign.VerifyLegacy(credential+suffix, message, signature)
	})
}

// standardBase64 returns a text in the URL alphabet or without padding in the standard
// form of Base64.
func standardBase64(text string) string {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	return text + strings.Repeat("=", (4-len(text)%4)%4)
}
