package cli

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
)

var testCredentials = credentials{APIKey: "pk_0123456789abcdef0123456789abcdef", GatewaySecret: "gs_secret",
	ProjectSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}

func hmacSHA256(key, text string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return h.Sum(nil)
}

// TestVerify_Hints makes every mistake that is recognized and checks the hint
// for it.
func TestVerify_Hints(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_790_000_000, 0)
	const seconds = "1790000000"
	const body = `{"a": 1}`
	text := func(method, target, timestamp, idem, body string) string {
		return strings.Join([]string{sign.Profile, method, target, timestamp, idem, body}, "\n")
	}
	get := message{Method: "get", Target: "/api/v5/requests?limit=5&cursor=a%20b", Timestamp: seconds}
	right := text("GET", get.Target, seconds, "", "")
	post := message{
		Method:         "POST",
		Target:         "/api/v4/rooms/end_room",
		Timestamp:      seconds,
		IdempotencyKey: "once",
		Body:           body,
	}
	older := message{Method: "POST", Target: "/api/v3/rooms/create_quick_audio_room", Body: body}
	joinEvent := message{Method: "POST", Target: "/api/v4/webhook/get_room_events/0190", Body: body}
	asHex := func(key, text string) string { return hex.EncodeToString(hmacSHA256(key, text)) }
	as64 := func(key, text string) string { return base64.StdEncoding.EncodeToString(hmacSHA256(key, text)) }
	withKey := get
	withKey.IdempotencyKey = "once"
	inMilliseconds := get
	inMilliseconds.Timestamp = seconds + "123"
	for _, tc := range []struct {
		name      string
		message   message
		signature string
		hints     string
	}{
		{"right", get, asHex(testCredentials.GatewaySecret, right), ""},
		{"right, upper case", get, strings.ToUpper(asHex(testCredentials.GatewaySecret, right)), ""},
		{"right, with a body", post, asHex(testCredentials.GatewaySecret, text("POST", post.Target, seconds, "once", body)), ""},
		{"right, older", older, as64(testCredentials.ProjectSecret, body), ""},
		{"Base64", get, as64(testCredentials.GatewaySecret, right), "base64_for_hex"},
		{"Base64 for URLs", get, base64.RawURLEncoding.EncodeToString(hmacSHA256(testCredentials.GatewaySecret, right)), "base64_for_hex"},
		{"Base64 of hex", get, base64.StdEncoding.EncodeToString([]byte(asHex(testCredentials.GatewaySecret, right))), "base64_of_hex"},
		{"milliseconds signed", get, asHex(testCredentials.GatewaySecret, text("GET", get.Target, seconds+"456", "", "")), "milliseconds"},
		{"milliseconds sent and signed", inMilliseconds, asHex(testCredentials.GatewaySecret, text("GET", get.Target, seconds+"123", "", "")), "milliseconds"},
		{"no query", get, asHex(testCredentials.GatewaySecret, text("GET", "/api/v5/requests", seconds, "", "")), "query_left_out"},
		{"decoded", get, asHex(testCredentials.GatewaySecret, text("GET", "/api/v5/requests?limit=5&cursor=a b", seconds, "", "")), "target_decoded"},
		{"newline", get, asHex(testCredentials.GatewaySecret+"\n", right), "newline_in_secret"},
		{"lower case", get, asHex(testCredentials.GatewaySecret, text("get", get.Target, seconds, "", "")), "method_case"},
		{"cut short", get, asHex(testCredentials.GatewaySecret, strings.TrimRight(right, "\n")), "text_cut_short"},
		{"one too many", get, asHex(testCredentials.GatewaySecret, right+"\n"), "newline_at_end"},
		{"carriage returns", get, asHex(testCredentials.GatewaySecret, strings.ReplaceAll(right, "\n", "\r\n")), "carriage_returns"},
		{"the API key", get, asHex(testCredentials.APIKey, right), "other_secret"},
		{"two hints", get, as64(testCredentials.GatewaySecret+"\n", right), "newline_in_secret base64_for_hex"},
		{"no body", post, asHex(testCredentials.GatewaySecret, text("POST", post.Target, seconds, "once", "")), "body_not_signed"},
		{"compact body", post, asHex(testCredentials.GatewaySecret, text("POST", post.Target, seconds, "once", `{"a":1}`)), "body_changed"},
		{"no idempotency key", post, asHex(testCredentials.GatewaySecret, text("POST", post.Target, seconds, "", body)), "idempotency_key_not_signed"},
		{"right, a read with an idempotency key", withKey, asHex(testCredentials.GatewaySecret, right), ""},
		{"a read with its idempotency key signed", withKey, asHex(testCredentials.GatewaySecret, text("GET", get.Target, seconds, "once", "")), "idempotency_key_signed"},
		{"older, in hex", older, asHex(testCredentials.ProjectSecret, body), "hex_for_base64"},
		{"older, unpadded", older, strings.TrimRight(as64(testCredentials.ProjectSecret, body), "="), "base64_form"},
		{"right, older, the API key", older, as64(testCredentials.APIKey, body), ""},
		{"older, the API key in hex", older, asHex(testCredentials.APIKey, body), "hex_for_base64"},
		{"older, the Gateway secret", older, as64(testCredentials.GatewaySecret, body), "other_secret"},
		{"right, join event", joinEvent, as64(testCredentials.ProjectSecret, body), ""},
		{"join event, the API key", joinEvent, as64(testCredentials.APIKey, body), "other_secret"},
		{"older, decoded secret", older, as64(mustDecode(t, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), body), "secret_decoded"},
		{"older, with a line feed", older, as64(testCredentials.ProjectSecret, body+"\n"), "newline_at_end"},
		{"nothing known", get, strings.Repeat("ab", 32), ""},
		{"no signature at all", get, "%%%", ""},
	} {
		c := verifyCommand{credentials: testCredentials, message: tc.message, Signature: tc.signature}
		v, err := c.verify("", now)
		if err != nil {
			t.Errorf("%s: got error %v, want none", tc.name, err)
			continue
		}
		var codes []string
		for _, s := range v.Hints {
			codes = append(codes, s.Code)
		}
		if got := strings.Join(codes, " "); got != tc.hints || v.Valid != strings.HasPrefix(tc.name, "right") {
			t.Errorf("%s: got valid %t, hints %q, want hints %q", tc.name, v.Valid, got, tc.hints)
		}
	}
}

func mustDecode(t *testing.T, text string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestDifferences_Parts(t *testing.T) {
	t.Parallel()
	c := verifyCommand{credentials: testCredentials, message: message{Method: "GET",
		Target: "/api/v5/keys", Timestamp: "1"}}
	signed, err := c.buildSignedText(testCredentials)
	if err != nil {
		t.Fatal(err)
	}
	right := joinParts(signed.Parts)
	for given, want := range map[string]difference{
		strings.Replace(right, "keys", "kéys", 1): {Part: 3, Name: "target", Expected: "/api/v5/keys",
			Given: "/api/v5/kéys", At: 10},
		strings.Replace(right, "GET", "GET ", 1): {Part: 2, Name: "method", Expected: "GET", Given: "GET ", At: 4},
		right + "\n":                             {Part: 6, Name: "body", Expected: "", Given: "\n", At: 1},
		strings.TrimSuffix(right, "\n\n"):        {Part: 5, Name: "the line feeds before it", Expected: "\n\n", At: 1},
	} {
		if got := differences(signed, given); len(got) != 1 || got[0] != want {
			t.Errorf("differences of %q: got %+v, want %+v", given, got, want)
		}
	}
	if got := differences(signed, right); len(got) != 0 {
		t.Errorf("differences of the same text: got %+v, want none", got)
	}
}

func TestEscapeInvisible_Characters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text": "plain text", "a\nb\r\t": "a␊b␍␉", "end  ": "end␠␠", "\x1b[1m\x7f": "␛[1m␡",
		"\xff\xfe": `\xff\xfe`, "\ufeffx\u200b": "<U+FEFF>x<U+200B>", "a\u00a0b": "a<U+00A0>b", "é": "é", "\u0085": "<U+0085>",
	} {
		if got := escapeInvisible(text); got != want {
			t.Errorf("escape %q: got %s, want %s", text, got, want)
		}
	}
}

// TestUsesV5Profile_Routes checks which routes sign their time.
func TestUsesV5Profile_Routes(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"/api/v5/keys": true, "/api/v5/requests?limit=1": true,
		"/api/v3/rooms/create_quick_audio_room": false, "/api/v3/rooms/create_schedule_video_room": false,
		"/api/v4/rooms/create_schedule_video_room": false, "/api/v4/rooms/create_quick_video_room": false,
		"/api/v4/projects/update_project_status": false, "/api/v4/webhook/get_room_events/0190": false,
		"/api/v4/rooms/join_room": true, "/api/v3/rooms/end_room": true, "/api/v4/rooms/create_invitation_link": true,
		"/api/v3/rooms/room_status?room_id=x": true, "/api/v4/rooms/x/events?after=1": true, "/healthz": false,
	} {
		if got := usesV5Profile(target); got != want {
			t.Errorf("%s: got %t, want %t", target, got, want)
		}
	}
}
