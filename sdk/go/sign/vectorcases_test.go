package sign_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
)

// The names of the profiles in vectors.json beside sign.Profile.
const (
	profileLegacy   = "legacy-body"
	profileWebhooks = "standard-webhooks-1.0"
)

// Credentials of the vectors. They are published and used nowhere else.
const (
	gatewaySecret = "gs_0000VectorSecretDoNotUse0000000000000000000000"
	otherGateway  = "gs_1111VectorSecretDoNotUse1111111111111111111111"
	apiKey        = "pk_0000VectorKeyDoNotUse00000000000"
	projectSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	newSecret     = "whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="
	now           = "1767225600" // 2026-01-01T00:00:00Z
)

// writeVectors writes vectors.json from the cases below. Signatures come from
// this package; TestVectorsWithOpenSSL is what checks them.
func writeVectors(t *testing.T) {
	t.Helper()
	f := vectorFile{
		Description: []string{
			"Test vectors for the signatures of Parley. A client that gets every case right can talk to the server.",
			"Every signature is an HMAC-SHA256 (RFC 2104). The credentials here are published: use them nowhere else.",
			"To check an implementation: for every case, build the text that is signed and compare it with signed_text, byte for byte; then, where valid is true, sign it and compare with signature. Where valid is false, the signature must not verify, for the reason in why.",
		},
		Fields: vectorFields,
		Profiles: []vectorProfile{
			{Profile: sign.Profile, Description: v5Description, Cases: v5Cases()},
			{Profile: profileLegacy, Description: legacyDescription, Cases: legacyCases()},
			{Profile: profileWebhooks, Description: webhooksDescription, Cases: webhookCases()},
		},
		Timestamps: timestampGroup{Description: timestampsDescription, Cases: timestampCases()},
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(vectorsPath, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

var vectorFields = json.RawMessage(`{
  "name": "unique within its profile",
  "why": "what the case is there for; always given where valid is false",
  "valid": "whether the server accepts signature for these inputs",
  "secrets": "the credentials that the verifier knows, exactly as shown to their owner; the first two profiles use one",
  "signed_with": "webhooks only: the secrets that the header was made with, where they are others than the verifier knows",
  "method, target, id, timestamp, idempotency_key": "the other inputs, exactly as they travel",
  "body": "the raw body as text, where it is valid UTF-8",
  "body_base64": "the raw body in standard Base64, where it is not plain ASCII without control characters; it then counts",
  "signed_text, signed_text_base64": "the exact bytes that are signed for these inputs, in the same two forms",
  "signature": "the value of the header hash-signature (webhook-signature for webhooks)"
}`)

var v5Description = []string{
	"Requests of version 5 and our own signed writes. The key is the UTF-8 bytes of the Gateway secret as shown.",
	"Six parts with one line feed between each two: the profile's name; the method in upper case; the target, which is path and query exactly as in the request line; the timestamp as in its header; the idempotency key, empty for GET; the raw body, empty for GET. Nothing stands behind the body: with an empty key and an empty body the text ends with two line feeds, the ones before those parts.",
	"The signature is 64 hexadecimal digits. Lower case is usual; the server takes either.",
}

var legacyDescription = []string{
	"Requests of versions 3 and 4 (key: an API key of the project, or the project secret) and join events (key: the project secret only). The key is the UTF-8 bytes of the credential as shown: the project secret is not decoded here.",
	"The text that is signed is the raw body and nothing else. The signature is standard Base64 with padding, 44 characters.",
}

var webhooksDescription = []string{
	"Webhooks that Parley sends, after Standard Webhooks 1.0. Here alone the key is the decoded secret: the bytes behind whsec_, in standard Base64.",
	"The text that is signed is webhook-id, webhook-timestamp and raw body with full stops between them. The header webhook-signature holds one signature, or two with a space between them while the project secret is being rotated.",
	"A delivery is good when any signature in the header fits any secret that the receiver knows.",
}

var timestampsDescription = []string{
	"Whether the header timestamp of version 5 is taken: Unix seconds in 1 to 18 ASCII digits, at most bound_seconds (300 unless the operator changes it) behind or ahead of now. result is fresh, behind, ahead or malformed; skew_seconds is the client's clock minus the server's, 0 when malformed. Only fresh is accepted.",
}

// v5Case returns a case with the signature that fits it.
func v5Case(name, why, method, target, timestamp, idempotencyKey string, body []byte) vectorCase {
	c := vectorCase{
		Name:           name,
		Why:            why,
		Valid:          true,
		Secrets:        []string{gatewaySecret},
		Method:         &method,
		Target:         &target,
		Timestamp:      &timestamp,
		IdempotencyKey: &idempotencyKey,
	}
	c.Body, c.BodyBase64 = encodeRaw(body)
	c.SignedText, c.SignedTextBase64 = encodeRaw(sign.V5Text(method, target, timestamp, idempotencyKey, body))
	c.Signature = sign.V5(gatewaySecret, method, target, timestamp, idempotencyKey, body)
	return c
}

// v5Refused returns a case whose inputs do not belong to its signature.
func v5Refused(c vectorCase, signature string) vectorCase {
	c.Valid, c.Signature = false, signature
	return c
}

func v5Cases() []vectorCase {
	get := func(name, why, target string) vectorCase {
		return v5Case(name, why, "GET", target, now, "", nil)
	}
	post := func(name, why, key string, body []byte) vectorCase {
		return v5Case(name, why, "POST", "/api/v4/rooms/end_room", now, key, body)
	}
	const requests = "/api/v5/requests"
	right := get("", "", requests+"?limit=50&cursor=abc").Signature
	upper := get("upper-case-hex", "hexadecimal digits are taken in either case", "/api/v5/keys")
	upper.Signature = strings.ToUpper(upper.Signature)
	wrongSecret := v5Refused(get("wrong-secret", "signed with another Gateway secret", "/api/v5/keys"),
		sign.V5(otherGateway, "GET", "/api/v5/keys", now, "", nil))
	lineBreakSecret := v5Refused(get("line-break-in-secret",
		"signed with the secret and the line break at the end of the file it was read from", "/api/v5/keys"),
		sign.V5(gatewaySecret+"\n", "GET", "/api/v5/keys", now, "", nil))
	return []vectorCase{
		get("get-keys", "the simplest request", "/api/v5/keys"),
		get("get-usage", "", "/api/v5/usage"),
		get("get-with-query", "the query is part of the target", requests+"?limit=50&cursor=abc"),
		get("query-order", "the order of the query is kept, so this differs from get-with-query",
			requests+"?cursor=abc&limit=50"),
		get("percent-encoding-kept", "percent-encoding is kept raw: not decoded, not put in one case",
			requests+"?cursor=a%2Fb%2fc%20d+e"),
		get("percent-encoding-decoded", "the same cursor, decoded: another text", requests+"?cursor=a/b/c"),
		get("empty-query", "a question mark with nothing behind it is still part of the target", "/api/v5/keys?"),
		get("repeated-and-empty-parameters", "nothing is tidied up", requests+"?&limit=&limit=10&&"),
		get("encoded-path", "the path is kept raw too", "/api/v5/%6Beys"),
		v5Case("head", "HEAD is signed as HEAD", "HEAD", "/api/v5/keys", now, "", nil),
		v5Case("leading-zeros", "the timestamp is signed as sent", "GET", "/api/v5/keys", "00"+now, "", nil),
		v5Case("get-with-body", "a body is signed wherever one is sent", "GET", "/api/v5/keys", now, "", []byte("{}")),
		post("post-json", "a signed write without an idempotency key", "",
			[]byte(`{"room_id":"0198c0de-0000-7000-8000-000000000001"}`)),
		post("post-idempotency-key", "on signed writes part 5 is the header Idempotency-Key", "order-4711",
			[]byte(`{"room_id":"0198c0de-0000-7000-8000-000000000001"}`)),
		post("post-empty-body", "an empty body leaves the last part empty", "order-4712", nil),
		post("post-unicode", "UTF-8 as sent, not normalised and not escaped", "",
			[]byte(`{"name":"Zoë 🚪 会議","note":"e`+"\u0301"+`"}`)),
		post("post-crlf", "line breaks of the body are kept", "", []byte("{\r\n  \"room_id\": \"x\"\r\n}\r\n")),
		post("post-binary", "a body need not be text", "", []byte{0, 1, 0xff, 0xfe, '\n', 0x80}),
		post("post-large", "longer than one block of any buffer", "",
			[]byte(`{"name":"`+strings.Repeat("0123456789abcdef", 512)+`"}`)),
		upper,
		wrongSecret,
		lineBreakSecret,
		v5Refused(get("query-changed", "the signature is that of get-with-query", requests+"?limit=51&cursor=abc"),
			right),
		v5Refused(get("query-reordered", "the signature is that of get-with-query", requests+"?cursor=abc&limit=50"),
			right),
		v5Refused(get("query-left-out-when-signing", "signed without the query, sent with it", requests+"?limit=50"),
			get("", "", requests).Signature),
		v5Refused(get("percent-encoding-normalised", "signed with %2F, sent with %2f", requests+"?cursor=%2f"),
			get("", "", requests+"?cursor=%2F").Signature),
		v5Refused(get("absolute-url-signed", "signed with scheme and host; the target begins with a slash",
			"/api/v5/keys"),
			get("", "", "https://meet.example.org/api/v5/keys").Signature),
		v5Refused(v5Case("timestamp-changed", "the header timestamp is not the one that was signed", "GET",
			"/api/v5/keys", "1767225601", "", nil),
			get("", "", "/api/v5/keys").Signature),
		v5Refused(v5Case("method-changed", "signed as GET", "HEAD", "/api/v5/keys", now, "", nil),
			get("", "", "/api/v5/keys").Signature),
		v5Refused(get("idempotency-key-signed-on-get", "part 5 is empty on GET whatever headers are sent",
			"/api/v5/keys"),
			v5Case("", "", "GET", "/api/v5/keys", now, "order-4711", nil).Signature),
		v5Refused(post("body-changed", "one space more than was signed", "", []byte(`{"a": 1}`)),
			post("", "", "", []byte(`{"a":1}`)).Signature),
		v5Refused(post("body-line-break-added", "a line break more than was signed", "", []byte("{}\n")),
			post("", "", "", []byte("{}")).Signature),
		v5Refused(get("line-break-at-end-of-text",
			"signed with one line feed too many at the end, as tools that write lines add it", "/api/v5/keys"),
			v5Case("", "", "GET", "/api/v5/keys", now, "", []byte("\n")).Signature),
		v5Refused(get("base64-instead-of-hex", "the right bytes in Base64: that is how versions 3 and 4 write them",
			"/api/v5/keys"),
			hexToBase64(get("", "", "/api/v5/keys").Signature)),
		v5Refused(get("cut-short", "62 of 64 digits", "/api/v5/keys"), get("", "", "/api/v5/keys").Signature[:62]),
		v5Refused(get("not-hex", "64 characters, one of which is no digit", "/api/v5/keys"),
			"g"+get("", "", "/api/v5/keys").Signature[1:]),
		v5Refused(get("empty-signature", "nothing is no signature", "/api/v5/keys"), ""),
		v5Refused(get("line-feed-in-target",
			"a line feed within a part could shift the border to the next; it is refused although the signature fits", "/api/v5/keys\n1767225600"),
			get("", "", "/api/v5/keys\n1767225600").Signature),
	}
}

// legacyCase returns a case with the signature that fits it.
func legacyCase(name, why, key string, body []byte) vectorCase {
	c := vectorCase{Name: name, Why: why, Valid: true, Secrets: []string{key}}
	c.Body, c.BodyBase64 = encodeRaw(body)
	c.SignedText, c.SignedTextBase64 = encodeRaw(body)
	c.Signature = sign.Legacy(key, body)
	return c
}

func legacyRefused(name, why, key string, body []byte, signature string) vectorCase {
	c := legacyCase(name, why, key, body)
	c.Valid, c.Signature = false, signature
	return c
}

func legacyCases() []vectorCase {
	status := []byte(`{"status":"inactive"}`)
	join := []byte(`{"room_id":"0198c0de-0000-7000-8000-000000000001","user_info":{"name":"Zoë"}}`)
	right := sign.Legacy(apiKey, status)
	return []vectorCase{
		legacyCase("api-key", "keyed with an API key", apiKey, status),
		legacyCase("project-secret", "keyed with the project secret as shown, prefix and all", projectSecret, status),
		legacyCase("join-event", "join events are keyed with the project secret only", projectSecret, join),
		legacyCase("empty-body", "an empty body is signed as such", apiKey, nil),
		legacyCase("crlf", "line breaks of the body are kept", apiKey, []byte("{\r\n\"status\":\"active\"\r\n}")),
		legacyCase("white-space", "the body is never written anew: this differs from api-key", apiKey,
			[]byte(`{ "status" : "inactive" }`)),
		legacyCase("not-utf-8", "a body need not be text", apiKey, []byte{0xff, 0x00, '\r', '\n'}),
		legacyCase("large", "longer than one block of any buffer", apiKey,
			[]byte(strings.Repeat("0123456789abcdef", 512))),
		legacyRefused("wrong-key", "signed with the API key, checked with the project secret",
			projectSecret, status, right),
		legacyRefused("decoded-project-secret", "keyed with the decoded bytes, as Standard Webhooks has it",
			projectSecret, status, sign.Legacy(string(decodedSecret(projectSecret)), status)),
		legacyRefused("body-changed", "the signature is that of api-key", apiKey, []byte(`{"status":"active"}`), right),
		legacyRefused("hex-instead-of-base64", "the right bytes in hexadecimal", apiKey, status, base64ToHex(right)),
		legacyRefused("no-padding", "Base64 without its padding", apiKey, status, strings.TrimRight(right, "=")),
		legacyRefused("url-alphabet", "Base64 with the alphabet for URLs", apiKey, status, urlAlphabet(right)),
		legacyRefused("line-break-behind", "a line break behind the signature", apiKey, status, right+"\n"),
		legacyRefused("empty-signature", "nothing is no signature", apiKey, status, ""),
	}
}

// webhookCase returns a case whose header was made with signedBy.
func webhookCase(name, why string, valid bool, known, signedBy []string, id, timestamp string, body []byte) vectorCase {
	c := vectorCase{
		Name:      name,
		Why:       why,
		Valid:     valid,
		Secrets:   known,
		ID:        &id,
		Timestamp: &timestamp,
	}
	c.Body, c.BodyBase64 = encodeRaw(body)
	c.SignedText, c.SignedTextBase64 = encodeRaw(sign.WebhookText(id, timestamp, body))
	if !slices.Equal(known, signedBy) {
		c.SignedWith = signedBy
	}
	header, err := sign.Webhook(signedBy, id, timestamp, body)
	if err != nil {
		panic(err)
	}
	c.Signature = header
	return c
}

func webhookCases() []vectorCase {
	const id = "msg_0198c0de000070008000000000000001"
	body := []byte(`{"id":"msg_0198c0de000070008000000000000001","type":"webhook.test","data":{}}`)
	one, both := []string{projectSecret}, []string{newSecret, projectSecret}
	replaced := func(name, why, signature string) vectorCase {
		c := webhookCase(name, why, false, one, one, id, now, body)
		c.Signature = signature
		return c
	}
	right := webhookCase("", "", true, one, one, id, now, body).Signature
	newer := webhookCase("", "", true, both[:1], both[:1], id, now, body).Signature
	svix := webhookCase("known-elsewhere", "the example that other implementations of Standard Webhooks test with",
		true,
		[]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		"msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	unknown := webhookCase("unknown-versions", "signatures of other versions are passed over", true, one, one, id, now,
		body)
	unknown.Signature = "v1a,AAAA v2,BBBB " + unknown.Signature
	dotted := webhookCase("full-stop-in-id",
		"a full stop in the id could shift the border to the next part; it is refused although the signature fits", false, one, one, id, now, body)
	dottedID := "msg.1"
	dotted.ID = &dottedID
	dottedText := sign.WebhookText(dottedID, now, body)
	dotted.SignedText, dotted.SignedTextBase64 = encodeRaw(dottedText)
	dotted.Signature = "v1," + sign.Legacy(string(decodedSecret(projectSecret)), dottedText)
	return []vectorCase{
		webhookCase("one-secret", "", true, one, one, id, now, body),
		webhookCase("two-secrets", "during a rotation: the newer secret's signature first",
			true, both, both, id, now, body),
		webhookCase("receiver-knows-the-old-secret", "two signatures, of which the second fits",
			true, one, both, id, now, body),
		webhookCase("receiver-knows-both", "one signature, which the second secret fits",
			true, both, one, id, now, body),
		webhookCase("empty-body", "", true, one, one, id, now, nil),
		webhookCase("unicode-and-crlf", "the raw bytes, not what a JSON library would write", true, one, one, id, now,
			[]byte("{\"title\":\"会議 🚪\"}\r\n")),
		unknown,
		svix,
		webhookCase("wrong-secret", "made with another secret", false, one, both[:1], id, now, body),
		replaced("version-missing", "the signature alone, without v1 and the comma", strings.TrimPrefix(right, "v1,")),
		replaced("comma-between-signatures", "signatures are parted by a space; this is one long wrong signature",
			newer+","+right),
		replaced("undecoded-secret", "keyed with the secret as shown instead of its decoded bytes",
			"v1,"+sign.Legacy(projectSecret, sign.WebhookText(id, now, body))),
		replaced("body-alone", "id and timestamp left out of the text",
			"v1,"+sign.Legacy(string(decodedSecret(projectSecret)), body)),
		replaced("empty-header", "nothing is no signature", ""),
		dotted,
	}
}

func timestampCases() []timestampCase {
	const at = 1767225600
	var cases []timestampCase
	for _, c := range []struct{ name, timestamp string }{
		{"now", "1767225600"}, {"one-second-ahead", "1767225601"},
		{"oldest", "1767225300"}, {"too-old", "1767225299"},
		{"newest", "1767225900"}, {"too-new", "1767225901"},
		{"leading-zeros", "001767225600"}, {"milliseconds", "1767225600000"}, {"zero", "0"},
		{"eighteen-digits", strings.Repeat("9", 18)}, {"nineteen-digits", strings.Repeat("9", 19)},
		{"empty", ""}, {"plus-sign", "+1767225600"}, {"minus-sign", "-1767225600"},
		{"fraction", "1767225600.0"}, {"exponent", "1e9"}, {"hexadecimal", "0x69555800"}, {"underscore", "1_767_225_600"},
		{"space-before", " 1767225600"}, {"line-break-behind", "1767225600\n"},
		{"digits-of-another-script", "١٧٦٧٢٢٥٦٠٠"}, {"full-width-digits", "\uff11\uff17\uff16\uff17\uff12\uff12\uff15\uff16\uff10\uff10"},
		{"date", "2026-01-01T00:00:00Z"},
	} {
		got := sign.CheckTimestamp(c.timestamp, time.Unix(at, 0), sign.DefaultSkew)
		cases = append(cases, timestampCase{
			Name:        c.name,
			Timestamp:   c.timestamp,
			Now:         at,
			BoundSecs:   300,
			Result:      got.Freshness.String(),
			SkewSeconds: got.SkewSeconds,
		})
	}
	return cases
}
