package cli

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// hint is a usual way to get a signature wrong.
type hint struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The slips that are recognised.
var (
	hintMilliseconds    = hint{"milliseconds", "the timestamp that was signed is in milliseconds: sign and send Unix time in seconds"}
	hintBase64          = hint{"base64_for_hex", "the signature is in Base64: send it as 64 hexadecimal digits"}
	hintHex             = hint{"hex_for_base64", "the signature is in hexadecimal digits: send it in standard, padded Base64"}
	hintBase64Form      = hint{"base64_form", "the signature is not in standard Base64 with padding"}
	hintBase64OfHex     = hint{"base64_of_hex", "the signature is the Base64 of hexadecimal digits: encode the 32 bytes once"}
	hintQuery           = hint{"query_left_out", "the query was left out of what was signed: sign the target as it is sent, with ? and the query"}
	hintDecoded         = hint{"target_decoded", "the target was signed decoded: sign it byte for byte as it stands in the request line"}
	hintNewline         = hint{"newline_in_secret", "the secret was used with a line break at its end: leave it out of the key"}
	hintWhiteSpace      = hint{"white_space_in_secret", "the secret given here has white space around it, the one that signed has none"}
	hintOtherSecret     = hint{"other_secret", "it was signed with another of this project's credentials"}
	hintDecodedKey      = hint{"secret_decoded", "the secret was decoded first: the key is the bytes of the whole text as shown"}
	hintBody            = hint{"body_not_signed", "the body was not signed: its raw bytes are the last part of the signed text"}
	hintBodyChanged     = hint{"body_changed", "the body was signed in another layout than it is sent: sign the very bytes that go out"}
	hintIdempotency     = hint{"idempotency_key_not_signed", "the idempotency key was not signed: it is the fifth part of the signed text"}
	hintMethod          = hint{"method_case", "the method was signed in lower case: it is signed in upper case"}
	hintTextCutShort    = hint{"text_cut_short", "the line feeds at the end of the signed text were left out: empty parts keep theirs"}
	hintTrailingNewline = hint{"newline_at_end", "a line feed was signed after the last part: nothing stands behind the body"}
	hintCarriageReturns = hint{"carriage_returns", "the parts were joined with CR and LF: it is one line feed between each two"}
	hintWholeText       = hint{"whole_text_signed", "more than the body was signed: this route signs the body alone"}
)

// variant is something a client may have used instead of the right thing.
type variant struct {
	value string
	hints []hint
}

// findHints returns the fewest slips that together explain a signature; nil
// when none do. given is the text that the client says it signed, if any.
func findHints(t signedText, c credentials, signature, given string) []hint {
	var best []hint
	for _, text := range candidateTexts(t, given) {
		for _, k := range candidateKeys(t, c) {
			mac := hmac.New(sha256.New, []byte(k.value))
			mac.Write([]byte(text.value))
			sum := mac.Sum(nil)
			for _, form := range signatureForms(t, signature) {
				slips := append(append(append([]hint{}, text.hints...), k.hints...), form.hints...)
				if form.value == string(sum) && len(slips) > 0 && (best == nil || len(slips) < len(best)) {
					best = slips
				}
			}
		}
	}
	return best
}

// signatureForms are the bytes a signature may stand for.
func signatureForms(t signedText, signature string) []variant {
	var all []variant
	add := func(raw []byte, err error, slips ...hint) {
		if err == nil {
			all = append(all, variant{string(raw), slips})
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

func candidateKeys(t signedText, c credentials) []variant {
	all := []variant{{t.key, nil}, {t.key + "\n", []hint{hintNewline}}, {t.key + "\r\n", []hint{hintNewline}}}
	if trimmed := strings.TrimSpace(t.key); trimmed != t.key {
		all = append(all, variant{trimmed, []hint{hintWhiteSpace}})
	}
	for _, other := range []string{c.GatewaySecret, c.ProjectSecret, c.APIKey} {
		if other != "" && other != t.key {
			all = append(all, variant{other, []hint{hintOtherSecret}}, variant{other + "\n", []hint{hintOtherSecret, hintNewline}})
		}
	}
	if _, encoded, ok := strings.Cut(t.key, "_"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			all = append(all, variant{string(raw), []hint{hintDecodedKey}})
		}
		all = append(all, variant{encoded, []hint{hintDecodedKey}})
	}
	return all
}

func candidateTexts(t signedText, given string) []variant {
	right := joinParts(t.Parts)
	all := []variant{{right, nil}, {right + "\n", []hint{hintTrailingNewline}}}
	body := t.value("body")
	with := func(name, value string, s hint) {
		parts := append([]part{}, t.Parts...)
		for i := range parts {
			if parts[i].Name == name {
				parts[i].Value = value
			}
		}
		if text := joinParts(parts); text != right {
			all = append(all, variant{text, []hint{s}})
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
	if n, err := strconv.ParseInt(timestamp, 10, 64); err == nil && n < 1e11 {
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

// bodyLayouts are other layouts of the same body.
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
