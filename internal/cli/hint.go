package cli

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// firstMilliseconds is a number of seconds in the year 5138, so a larger timestamp is probably in milliseconds.
const firstMilliseconds = 1e11

// hint is a common signing mistake.
type hint struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The mistakes that are recognized.
var (
	hintMilliseconds = hint{"milliseconds",
		"the signed timestamp is in milliseconds: sign and send Unix time in seconds"}
	hintBase64 = hint{"base64_for_hex",
		"the signature is in Base64: send it as 64 hexadecimal digits"}
	hintHex = hint{"hex_for_base64",
		"the signature is in hexadecimal digits: send it in standard, padded Base64"}
	hintBase64Form = hint{"base64_form",
		"the signature is not in standard Base64 with padding"}
	hintBase64OfHex = hint{"base64_of_hex",
		"the signature is the Base64 of hexadecimal digits: encode the 32 bytes once"}
	hintQuery = hint{"query_left_out",
		"the query was not signed: sign the target as it is sent, with ? and the query"}
	hintDecoded = hint{"target_decoded",
		"the decoded target was signed: sign it byte for byte as in the request line"}
	hintNewline = hint{"newline_in_secret",
		"the secret was used with a line break at its end: remove it from the key"}
	hintWhiteSpace = hint{"white_space_in_secret",
		"the secret given here has white space around it, but the signature was made without"}
	hintOtherSecret = hint{"other_secret",
		"the signature was made with another credential of this project"}
	hintDecodedKey = hint{"secret_decoded",
		"the secret was decoded first: the key is the bytes of the whole text as shown"}
	hintBody = hint{"body_not_signed",
		"the body was not signed: its raw bytes are the last part of the signed text"}
	hintBodyChanged = hint{"body_changed",
		"the body was signed with other white space than it is sent: sign the exact bytes that are sent"}
	hintIdempotency = hint{"idempotency_key_not_signed",
		"the idempotency key was not signed: it is the fifth part of the signed text"}
	hintIdempotencySigned = hint{"idempotency_key_signed",
		"the idempotency key was signed, but only a POST is signed with it: leave the fifth part of the signed text empty"}
	hintMethod = hint{"method_case",
		"the method was signed in lower case: sign it in upper case"}
	hintTextCutShort = hint{"text_cut_short",
		"the line feeds at the end of the signed text are missing: keep those before empty parts"}
	hintTrailingNewline = hint{"newline_at_end",
		"a line feed was signed after the last part: the signed text ends with the body"}
	hintCarriageReturns = hint{"carriage_returns",
		"the parts were joined with CR and LF: join them with a single line feed"}
	hintWholeText = hint{"whole_text_signed",
		"more than the body was signed: this route signs only the body"}
)

// variant is a value that a client may have used by mistake, with the hints that
// describe the mistake.
type variant struct {
	value string
	hints []hint
}

// findHints returns the smallest set of mistakes that explains a signature; nil if
// none does. given is the text that the client signed, or empty if unknown.
func findHints(t signedText, c verifyCommand, given string) []hint {
	var best []hint
	for _, text := range candidateTexts(t, c.IdempotencyKey, given) {
		for _, k := range candidateKeys(t, c.credentials) {
			mac := hmac.New(sha256.New, []byte(k.value))
			mac.Write([]byte(text.value))
			sum := mac.Sum(nil)
			for _, form := range signatureForms(t, c.Signature) {
				hints := slices.Concat(text.hints, k.hints, form.hints)
				if form.value == string(sum) && len(hints) > 0 && (best == nil || len(hints) < len(best)) {
					best = hints
				}
			}
		}
	}
	return best
}

// signatureForms returns the decodings of a signature.
func signatureForms(t signedText, signature string) []variant {
	var all []variant
	add := func(raw []byte, err error, hints ...hint) {
		if err == nil {
			all = append(all, variant{string(raw), hints})
		}
	}
	raw, err := hex.DecodeString(strings.TrimSpace(signature))
	std, stdErr := base64.StdEncoding.Strict().DecodeString(signature)
	loose := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(strings.TrimSpace(signature), "="))
	other, otherErr := base64.RawStdEncoding.DecodeString(loose)
	if t.usesV5 {
		add(raw, err)
		add(other, otherErr, hintBase64)
	} else {
		add(std, stdErr)
		add(other, otherErr, hintBase64Form)
		add(raw, err, hintHex)
	}
	if otherErr == nil {
		inner, err := hex.DecodeString(string(other))
		add(inner, err, hintBase64OfHex)
	}
	return all
}

// candidateKeys returns the keys that may sign and those that may have been used instead.
func candidateKeys(t signedText, c credentials) []variant {
	var all []variant
	others := []string{c.GatewaySecret, c.ProjectSecret, c.APIKey}
	for _, k := range t.keys {
		all = append(all, signerVariants(k.value)...)
		others = slices.DeleteFunc(others, func(other string) bool { return other == k.value })
	}
	for _, other := range others {
		if other != "" {
			all = append(all, variant{other, []hint{hintOtherSecret}},
				variant{other + "\n", []hint{hintOtherSecret, hintNewline}})
		}
	}
	return all
}

// signerVariants returns a key that may sign, and the forms of it that are used by mistake.
func signerVariants(key string) []variant {
	all := []variant{{key, nil}, {key + "\n", []hint{hintNewline}}, {key + "\r\n", []hint{hintNewline}}}
	if trimmed := strings.TrimSpace(key); trimmed != key {
		all = append(all, variant{trimmed, []hint{hintWhiteSpace}})
	}
	if _, encoded, ok := strings.Cut(key, "_"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			all = append(all, variant{string(raw), []hint{hintDecodedKey}})
		}
		all = append(all, variant{encoded, []hint{hintDecodedKey}})
	}
	return all
}

// candidateTexts returns the right text and those that may have been signed
// instead. idempotencyKey is the header, whether or not it is signed.
func candidateTexts(t signedText, idempotencyKey, given string) []variant {
	right := joinParts(t.Parts)
	all := []variant{{right, nil}, {right + "\n", []hint{hintTrailingNewline}}}
	body := t.value("body")
	with := func(name, value string, h hint) {
		parts := append([]part{}, t.Parts...)
		for i := range parts {
			if parts[i].Name == name {
				parts[i].Value = value
			}
		}
		if text := joinParts(parts); text != right {
			all = append(all, variant{text, []hint{h}})
		}
	}
	with("body", "", hintBody)
	for _, changed := range bodyLayouts(body) {
		with("body", changed, hintBodyChanged)
	}
	if !t.usesV5 {
		if given != "" && given != right {
			all = append(all, variant{given, []hint{hintWholeText}})
		}
		return all
	}
	method, target, timestamp := t.value("method"), t.value("target"), t.value("timestamp")
	route, _, _ := strings.Cut(target, "?")
	with("target", route, hintQuery)
	if decoded, err := url.PathUnescape(target); err == nil {
		with("target", decoded, hintDecoded)
	}
	with("method", strings.ToLower(method), hintMethod)
	with("idempotency key", "", hintIdempotency)
	with("idempotency key", idempotencyKey, hintIdempotencySigned)
	if n, err := strconv.ParseInt(timestamp, 10, 64); err == nil && n < firstMilliseconds {
		for ms := range int64(1000) {
			with("timestamp", strconv.FormatInt(n*1000+ms, 10), hintMilliseconds)
		}
	}
	all = append(all, variant{strings.ReplaceAll(right, "\n", "\r\n"), []hint{hintCarriageReturns}})
	if short := strings.TrimRight(right, "\n"); short != right {
		all = append(all, variant{short, []hint{hintTextCutShort}}, variant{short + "\n", []hint{hintTextCutShort}})
	}
	return all
}

// bodyLayouts returns the same body with other white space.
func bodyLayouts(body string) []string {
	all := []string{strings.TrimRight(body, "\r\n"), body + "\n"}
	var compact, indented bytes.Buffer
	if json.Compact(&compact, []byte(body)) == nil {
		all = append(all, compact.String())
	}
	for _, indent := range []string{"  ", "    ", "\t"} {
		indented.Reset()
		if json.Indent(&indented, []byte(body), "", indent) == nil {
			all = append(all, indented.String())
		}
	}
	return all
}
