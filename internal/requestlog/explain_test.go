package requestlog

import (
	"bytes"
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
