package v3

import (
	"net/http"
	"strings"
)

// refusal is a request that is turned away, with the exact words.
type refusal struct {
	name     string
	change   func(f map[string]any)                      // the fields
	body     func(b *bundle) []byte                      // or the whole body
	header   func(b *bundle, h http.Header, body []byte) // and the headers, signed rightly before
	status   int
	sentence string
}

func set(path string, v any) func(map[string]any) {
	return func(f map[string]any) {
		if name, ok := strings.CutPrefix(path, "metadata."); ok {
			f, path := f["metadata"].(map[string]any), name
			f[path] = v
			return
		}
		f[path] = v
	}
}

func drop(path string) func(map[string]any) {
	return func(f map[string]any) {
		if name, ok := strings.CutPrefix(path, "metadata."); ok {
			delete(f["metadata"].(map[string]any), name)
			return
		}
		delete(f, path)
	}
}

func raw(format string) func(*bundle) []byte {
	return func(b *bundle) []byte { return []byte(strings.ReplaceAll(format, "PROJECT", b.project.ID)) }
}

const rest = `"name":"A","max_participants":2,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}`

func refusals() []refusal {
	long := strings.Repeat("é", 256)
	unauthorized := func(name string, header func(b *bundle, h http.Header, body []byte)) refusal {
		return refusal{name: name, header: header, status: 401, sentence: "invalid signature"}
	}
	field := func(name string, change func(map[string]any), sentence string) refusal {
		return refusal{name: name, change: change, status: 400, sentence: sentence}
	}
	whole := func(name, body, sentence string) refusal {
		return refusal{name: name, body: raw(body), status: 400, sentence: sentence}
	}
	return []refusal{
		unauthorized("wrong key", func(_ *bundle, h http.Header, body []byte) {
			h["Hash-Signature"] = signed("other", body)["Hash-Signature"]
		}),
		unauthorized("signed another body", func(b *bundle, h http.Header, body []byte) {
			h["Hash-Signature"] = signed(b.issued.APIKey, append(body, ' '))["Hash-Signature"]
		}),
		unauthorized("signed with the Gateway secret", func(b *bundle, h http.Header, body []byte) {
			h["Hash-Signature"] = signed(b.issued.GatewaySecret, body)["Hash-Signature"]
		}),
		unauthorized("no signature", func(_ *bundle, h http.Header, _ []byte) { h.Del("hash-signature") }),
		unauthorized("two signatures", func(_ *bundle, h http.Header, _ []byte) { h.Add("hash-signature", h.Get("hash-signature")) }),
		unauthorized("no Base64", func(_ *bundle, h http.Header, _ []byte) { h.Set("hash-signature", "%%%") }),
		unauthorized("unpadded Base64", func(_ *bundle, h http.Header, _ []byte) {
			h.Set("hash-signature", strings.TrimRight(h.Get("hash-signature"), "="))
		}),
		unauthorized("unknown api-key beside a right signature", func(_ *bundle, h http.Header, _ []byte) { h.Set("api-key", "pk_other") }),
		unauthorized("unknown key beside a live api-key", func(b *bundle, h http.Header, _ []byte) {
			h.Set("api-key", b.issued.APIKey.Reveal())
			h.Set("key", "pk_other")
		}),
		unauthorized("key header alone", func(b *bundle, h http.Header, _ []byte) {
			h.Del("hash-signature")
			h.Set("key", b.issued.APIKey.Reveal())
		}),
		{name: "unknown project", change: set("project_id", "01890000-0000-7000-8000-000000000000"), status: 401, sentence: "invalid signature"},
		{name: "project_id is no UUID", change: set("project_id", "mine"), status: 401, sentence: "invalid signature"},
		{name: "bad fields after a bad signature stay unsaid", change: set("max_participants", 0), status: 401, sentence: "invalid signature",
			header: func(_ *bundle, h http.Header, _ []byte) { h.Set("hash-signature", "AAAA") }},

		{name: "not JSON by its header", header: func(_ *bundle, h http.Header, _ []byte) { h.Set("Content-Type", "text/plain") },
			status: 415, sentence: "the header Content-Type must be application/json (UTF-8)"},
		{name: "no Content-Type", header: func(_ *bundle, h http.Header, _ []byte) { h.Del("Content-Type") },
			status: 415, sentence: "the header Content-Type must be application/json (UTF-8)"},
		{name: "another charset", header: func(_ *bundle, h http.Header, _ []byte) { h.Set("Content-Type", "application/json; charset=latin1") },
			status: 415, sentence: "the header Content-Type must be application/json (UTF-8)"},
		{name: "too large", body: raw(`{"project_id":"PROJECT","x":"` + strings.Repeat("a", 64<<10) + `"}`),
			status: 413, sentence: "the body must not be larger than 65536 bytes"},
		{name: "api-key twice", header: func(b *bundle, h http.Header, _ []byte) {
			h["Api-Key"] = []string{b.issued.APIKey.Reveal(), b.issued.APIKey.Reveal()}
		}, status: 400, sentence: "the headers api-key and key must be sent at most once"},

		whole("empty body", ``, "the body ends before its JSON does"),
		whole("no JSON", `{"project_id":`, "the body ends before its JSON does"),
		whole("broken JSON", `{"project_id":"PROJECT",}`, "the body is not valid JSON, at byte 52"),
		whole("an array", `[]`, "the body must be a JSON object"),
		whole("a text", `"x"`, "the body must be a JSON object"),
		whole("a field twice", `{"project_id":"PROJECT","project_id":"PROJECT"}`, "the body has a field twice: project_id"),
		whole("a field twice inside", `{"project_id":"PROJECT","metadata":{"a":1,"a":2}}`, "the body has a field twice: a"),
		whole("more after the object", `{"project_id":"PROJECT",`+rest+`}{}`, "the body must end after its JSON object"),
		whole("junk after the object", `{"project_id":"PROJECT",`+rest+`} x`, "the body must end after its JSON object"),
		whole("invalid UTF-8", "{\"project_id\":\"PROJECT\",\"name\":\"\xff\"}", "the body is not valid JSON, at byte 61"),
		whole("half a surrogate pair", `{"project_id":"PROJECT","name":"\ud800"}`, "the body is not valid JSON, at byte 61"),
		whole("fraction", `{"project_id":"PROJECT","name":"A","max_participants":5.0}`, "max_participants must be an integer written without fraction or exponent"),
		whole("exponent", `{"project_id":"PROJECT","name":"A","max_participants":1e2}`, "max_participants must be an integer written without fraction or exponent"),
		whole("beyond 64 bits", `{"project_id":"PROJECT","name":"A","max_participants":99999999999999999999}`, "max_participants is out of range: 99999999999999999999"),

		field("project_id missing", drop("project_id"), "project_id is required"),
		field("project_id null", set("project_id", nil), "project_id is required"),
		field("project_id a number", set("project_id", 7), "project_id must be a string"),
		field("name missing", drop("name"), "name is required"),
		field("name empty", set("name", ""), "name must have 1 to 255 characters and not be blank"),
		field("name blank", set("name", " \t "), "name must have 1 to 255 characters and not be blank"),
		field("name too long", set("name", long), "name must have at most 255 characters, not 256"),
		field("name a list", set("name", []int{}), "name must be a string"),
		field("name with a line break", set("name", "a\nb"), "name must not contain control characters such as U+000A"),
		field("max_participants missing", drop("max_participants"), "max_participants is required"),
		field("max_participants a string", set("max_participants", "10"), "max_participants must be an integer"),
		field("max_participants 0", set("max_participants", 0), "max_participants must be between 1 and 1000, not 0"),
		field("max_participants 1001", set("max_participants", 1001), "max_participants must be between 1 and 1000, not 1001"),
		field("max_participants true", set("max_participants", true), "max_participants must be an integer"),
		field("empty_timeout missing", drop("empty_timeout"), "empty_timeout is required"),
		field("empty_timeout -1", set("empty_timeout", -1), "empty_timeout must be between 0 and 86400, not -1"),
		field("empty_timeout 86401", set("empty_timeout", 86401), "empty_timeout must be between 0 and 86400, not 86401"),
		field("metadata missing", drop("metadata"), "metadata is required"),
		field("metadata a string", set("metadata", "x"), "metadata must be an object"),
		field("room_title missing", drop("metadata.room_title"), "metadata.room_title is required"),
		field("room_title blank", set("metadata.room_title", " "), "metadata.room_title must have 1 to 255 characters and not be blank"),
		field("room_title too long", set("metadata.room_title", long), "metadata.room_title must have at most 255 characters, not 256"),
		field("welcome_message missing", drop("metadata.welcome_message"), "metadata.welcome_message is required"),
		field("welcome_message too long", set("metadata.welcome_message", strings.Repeat("x", 2001)), "metadata.welcome_message must have at most 2000 characters, not 2001"),
		field("welcome_message with an escape", set("metadata.welcome_message", "\x1b[1m"), "metadata.welcome_message must not contain control characters such as U+001B"),
		field("client_room_id too long", set("client_room_id", long), "client_room_id must have at most 255 characters, not 256"),
		field("client_room_id a number", set("client_room_id", 5), "client_room_id must be a string"),
	}
}
