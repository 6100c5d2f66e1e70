package requestlog

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"parley.example/client/sign"
)

func TestBodySignedCall_Hints(t *testing.T) {
	t.Parallel()
	body := []byte("{ \"room_id\": \"1\" }\n")
	signature := func(credential, body string) string { return sign.Legacy(credential, []byte(body)) }
	raw, err := base64.StdEncoding.DecodeString(signature("pk_1", string(body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		signatures  []string
		secretsOnly bool
		want        string
	}{
		"no signature":       {nil, false, HintOneSignature},
		"two signatures":     {[]string{"a", "b"}, false, HintOneSignature},
		"hex":                {[]string{hex.EncodeToString(raw)}, false, HintHex},
		"no padding":         {[]string{base64.RawStdEncoding.EncodeToString(raw)}, false, HintBase64Form},
		"URL alphabet":       {[]string{base64.URLEncoding.EncodeToString(raw)}, false, HintBase64Form},
		"Gateway secret":     {[]string{signature("gs_1", string(body))}, false, HintGatewaySecret},
		"newline":            {[]string{signature("sk_1\n", string(body))}, false, HintSecretNewline},
		"Windows newline":    {[]string{signature("pk_1\r\n", string(body))}, false, HintSecretNewline},
		"compact body":       {[]string{signature("sk_1", `{"room_id":"1"}`)}, false, HintSpaces},
		"compact, newline":   {[]string{signature("sk_1", `{"room_id":"1"}`+"\n")}, false, HintSpaces},
		"trimmed body":       {[]string{signature("pk_1", string(bytes.TrimSpace(body)))}, false, HintSpaces},
		"key, secret wanted": {[]string{signature("pk_1", string(body))}, true, HintKeyOnly},
		"valid":              {[]string{signature("sk_1", string(body))}, true, ""},
		"another secret":     {[]string{signature("sk_2", string(body))}, false, ""},
		"no Base64":          {[]string{strings.Repeat("?", 44)}, false, ""},
	} {
		call := BodySignedCall{
			APIKeys:        []string{"pk_1"},
			GatewaySecrets: []string{"gs_1"},
			ProjectSecrets: []string{"sk_1"},
			SecretsOnly:    tc.secretsOnly,
			Signatures:     tc.signatures,
			Message:        body,
		}
		if cause, got := call.Explain(t.Context()); got != tc.want || cause != "" {
			t.Errorf("%s: got hint %q and cause %q, want hint %q", name, got, cause, tc.want)
		}
	}
}

func TestSignedCall_Hints(t *testing.T) {
	t.Parallel()
	call := func(idempotencyKey, body string) SignedCall {
		return SignedCall{
			Secret:             "gs_1",
			Method:             "POST",
			Target:             "/api/v4/rooms/end_room",
			Timestamp:          "1767225600",
			IdempotencyKey:     idempotencyKey,
			SentIdempotencyKey: idempotencyKey,
			Host:               "meet.example.org",
			Body:               []byte(body),
			Check:              sign.TimestampCheck{Freshness: sign.Fresh},
			APIKeys:            []string{"pk_1", "pk_2"},
			ProjectSecrets:     []string{"whsec_1"},
			GatewaySecrets:     []string{"gs_1", "gs_2"},
		}
	}
	signed := func(c SignedCall, secret, text string) SignedCall {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(text))
		c.Signature = hex.EncodeToString(mac.Sum(nil))
		return c
	}
	const head = "SVC-HMAC-V5-1\nPOST\n/api/v4/rooms/end_room\n1767225600\n"
	line := func(old, new string) SignedCall {
		return signed(call("", "{}"), "gs_1", strings.ReplaceAll(head+"\n{}", old, new))
	}
	notPart := call("", "")
	notPart.SentIdempotencyKey = "once"
	for name, tc := range map[string]struct {
		call SignedCall
		want string
	}{
		"valid":                        {signed(call("", "{}"), "gs_1", head+"\n{}"), ""},
		"another body":                 {signed(call("", "{}"), "gs_1", head+"\n[]"), ""},
		"one line feed too many":       {signed(call("", "{}"), "gs_1", head+"\n{}\n"), HintLineFeeds},
		"no line for a key":            {signed(call("", "{}"), "gs_1", head+"{}"), HintLineFeeds},
		"one line feed at the end":     {signed(call("", ""), "gs_1", head), HintLineFeeds},
		"no line feed at the end":      {signed(call("", ""), "gs_1", strings.TrimSpace(head)), HintLineFeeds},
		"three line feeds at the end":  {signed(call("", ""), "gs_1", head+"\n\n"), HintLineFeeds},
		"Windows line ends":            {line("\n", "\r\n"), HintLineFeeds},
		"a backslash and an n":         {line("\n", `\n`), HintLineFeeds},
		"key not signed":               {signed(call("once", "{}"), "gs_1", head+"\n{}"), HintIdempotencyKeyUnsigned},
		"key signed that is no part":   {signed(notPart, "gs_1", head+"once\n"), HintIdempotencyKeySigned},
		"API key":                      {signed(call("", "{}"), "pk_2", head+"\n{}"), HintCredential},
		"project secret":               {signed(call("", "{}"), "whsec_1", head+"\n{}"), HintCredential},
		"Gateway secret of another":    {signed(call("", "{}"), "gs_2", head+"\n{}"), HintOtherSecret},
		"URL":                          {line("/api", "https://meet.example.org/api"), HintURL},
		"URL of another server":        {line("/api", "https://other.example.org/api"), ""},
		"body that was not signed":     {signed(call("", "{}"), "gs_1", head+"\n"), HintBody},
		"no hexadecimal digits at all": {func() SignedCall { c := call("", ""); c.Signature = "zz"; return c }(), ""},
	} {
		if cause, got := tc.call.Explain(t.Context()); got != tc.want || cause != "" {
			t.Errorf("%s: got hint %q and cause %q, want hint %q", name, got, cause, tc.want)
		}
	}
}
