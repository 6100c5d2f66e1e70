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

// slip is a usual way to get a signature wrong.
type slip struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The slips that are recognised.
var (
	slipMilliseconds = slip{"milliseconds", "the timestamp that was signed is in milliseconds: sign and send Unix time in seconds"}
	slipBase64       = slip{"base64_for_hex", "the signature is in Base64: send it as 64 hexadecimal digits"}
	slipHex          = slip{"hex_for_base64", "the signature is in hexadecimal digits: send it in standard, padded Base64"}
	slipBase64Form   = slip{"base64_form", "the signature is not in standard Base64 with padding"}
	slipBase64OfHex  = slip{"base64_of_hex", "the signature is the Base64 of hexadecimal digits: encode the 32 bytes once"}
	slipQuery        = slip{"query_left_out", "the query was left out of what was signed: sign the target as it is sent, with ? and the query"}
	slipDecoded      = slip{"target_decoded", "the target was signed decoded: sign it byte for byte as it stands in the request line"}
	slipNewline      = slip{"newline_in_secret", "the secret was used with a line break at its end: leave it out of the key"}
	slipWhiteSpace   = slip{"white_space_in_secret", "the secret given here has white space around it, the one that signed has none"}
	slipOtherSecret  = slip{"other_secret", "it was signed with another of this project's credentials"}
	slipDecodedKey   = slip{"secret_decoded", "the secret was decoded first: the key is the bytes of the whole text as shown"}
	slipBody         = slip{"body_not_signed", "the body was not signed: its raw bytes are the last part of the signed text"}
	slipBodyChanged  = slip{"body_changed", "the body was signed in another layout than it is sent: sign the very bytes that go out"}
	slipIdempotency  = slip{"idempotency_key_not_signed", "the idempotency key was not signed: it is the fifth part of the signed text"}
	slipMethod       = slip{"method_case", "the method was signed in lower case: it is signed in upper case"}
	slipEnd          = slip{"text_cut_short", "the line feeds at the end of the signed text were left out: empty parts keep theirs"}
	slipEndExtra     = slip{"newline_at_end", "a line feed was signed after the last part: nothing stands behind the body"}
	slipCarriage     = slip{"carriage_returns", "the parts were joined with CR and LF: it is one line feed between each two"}
	slipWholeText    = slip{"whole_text_signed", "more than the body was signed: this route signs the body alone"}
)

// variant is something a client may have used instead of the right thing.
type variant struct {
	value string
	slips []slip
}

// recognise returns the fewest slips that together explain a signature; nil
// when none do. given is the text that the client says it signed, if any.
func recognise(t signedText, c credentials, signature, given string) []slip {
	var best []slip
	for _, text := range texts(t, given) {
		for _, k := range keys(t, c) {
			mac := hmac.New(sha256.New, []byte(k.value))
			mac.Write([]byte(text.value))
			sum := mac.Sum(nil)
			for _, form := range forms(t, signature) {
				slips := append(append(append([]slip{}, text.slips...), k.slips...), form.slips...)
				if form.value == string(sum) && len(slips) > 0 && (best == nil || len(slips) < len(best)) {
					best = slips
				}
			}
		}
	}
	return best
}

// forms are the bytes a signature may stand for.
func forms(t signedText, signature string) []variant {
	var all []variant
	add := func(raw []byte, err error, slips ...slip) {
		if err == nil {
			all = append(all, variant{string(raw), slips})
		}
	}
	raw, err := hex.DecodeString(strings.TrimSpace(signature))
	std, stdErr := base64.StdEncoding.Strict().DecodeString(signature)
	loose := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(strings.TrimSpace(signature), "="))
	other, otherErr := base64.RawStdEncoding.DecodeString(loose)
	if t.timed {
		add(raw, err)
		add(other, otherErr, slipBase64)
	} else {
		add(std, stdErr)
		add(other, otherErr, slipBase64Form)
		add(raw, err, slipHex)
	}
	if otherErr == nil {
		inner, err := hex.DecodeString(string(other))
		add(inner, err, slipBase64OfHex)
	}
	return all
}

func keys(t signedText, c credentials) []variant {
	all := []variant{{t.key, nil}, {t.key + "\n", []slip{slipNewline}}, {t.key + "\r\n", []slip{slipNewline}}}
	if trimmed := strings.TrimSpace(t.key); trimmed != t.key {
		all = append(all, variant{trimmed, []slip{slipWhiteSpace}})
	}
	for _, other := range []string{c.GatewaySecret, c.ProjectSecret, c.APIKey} {
		if other != "" && other != t.key {
			all = append(all, variant{other, []slip{slipOtherSecret}}, variant{other + "\n", []slip{slipOtherSecret, slipNewline}})
		}
	}
	if _, encoded, ok := strings.Cut(t.key, "_"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			all = append(all, variant{string(raw), []slip{slipDecodedKey}})
		}
		all = append(all, variant{encoded, []slip{slipDecodedKey}})
	}
	return all
}

func texts(t signedText, given string) []variant {
	right := join(t.Parts)
	all := []variant{{right, nil}, {right + "\n", []slip{slipEndExtra}}}
	body := t.value("body")
	with := func(name, value string, s slip) {
		parts := append([]part{}, t.Parts...)
		for i := range parts {
			if parts[i].Name == name {
				parts[i].Value = value
			}
		}
		if text := join(parts); text != right {
			all = append(all, variant{text, []slip{s}})
		}
	}
	with("body", "", slipBody)
	for _, changed := range layouts(body) {
		with("body", changed, slipBodyChanged)
	}
	if !t.timed {
		if given != "" && given != right {
			all = append(all, variant{given, []slip{slipWholeText}})
		}
		return all
	}
	method, target, timestamp := t.value("method"), t.value("target"), t.value("timestamp")
	route, _, _ := strings.Cut(target, "?")
	with("target", route, slipQuery)
	if decoded, err := url.PathUnescape(target); err == nil {
		with("target", decoded, slipDecoded)
	}
	with("method", strings.ToLower(method), slipMethod)
	with("idempotency key", "", slipIdempotency)
	if n, err := strconv.ParseInt(timestamp, 10, 64); err == nil && n < 1e11 {
		for ms := range int64(1000) {
			with("timestamp", strconv.FormatInt(n*1000+ms, 10), slipMilliseconds)
		}
	}
	all = append(all, variant{strings.ReplaceAll(right, "\n", "\r\n"), []slip{slipCarriage}})
	if short := strings.TrimRight(right, "\n"); short != right {
		all = append(all, variant{short, []slip{slipEnd}}, variant{short + "\n", []slip{slipEnd}})
	}
	return all
}

// layouts are other layouts of the same body.
func layouts(body string) []string {
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
