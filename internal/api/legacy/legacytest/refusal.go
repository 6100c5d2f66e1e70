package legacytest

import (
	"net/http"
	"strings"
	"testing"

	"parley/internal/api/contract"
)

// Refusal is a request that is turned away, with the exact words.
type Refusal struct {
	Name     string
	Change   func(f map[string]any)                      // the fields
	Body     func(b *Bundle) []byte                      // or the whole body
	Header   func(b *Bundle, h http.Header, body []byte) // and the headers, signed rightly before
	Status   int
	Sentence string
}

// Send makes the request of a refusal from fields that are right, signed with
// the API key.
func (r Refusal) Send(t testing.TB, c *contract.Checker, b *Bundle, method, target string, fields map[string]any) *http.Response {
	t.Helper()
	body := r.Build(t, b, fields)
	header := Signed(b.Issued.APIKey, body)
	if r.Header != nil {
		r.Header(b, header, body)
	}
	return c.Do(t, method, target, header, body)
}

// Build makes the body of a refusal.
func (r Refusal) Build(t testing.TB, b *Bundle, fields map[string]any) []byte {
	if r.Body != nil {
		return r.Body(b)
	}
	if r.Change != nil {
		r.Change(fields)
	}
	return Encode(t, fields)
}

// Set puts a value at a dotted path of the fields.
func Set(path string, v any) func(map[string]any) {
	return func(f map[string]any) {
		for {
			name, rest, deeper := strings.Cut(path, ".")
			if !deeper {
				f[name] = v
				return
			}
			if _, there := f[name]; !there {
				f[name] = map[string]any{}
			}
			f, path = f[name].(map[string]any), rest
		}
	}
}

// Drop takes the value at a dotted path away.
func Drop(path string) func(map[string]any) {
	return func(f map[string]any) {
		if name, ok := strings.CutPrefix(path, "metadata."); ok {
			delete(f["metadata"].(map[string]any), name)
			return
		}
		delete(f, path)
	}
}

// Raw is a body in which PROJECT stands for the project's id.
func Raw(format string) func(*Bundle) []byte {
	return func(b *Bundle) []byte { return []byte(strings.ReplaceAll(format, "PROJECT", b.Project.ID)) }
}

// Field is the refusal of a changed field.
func Field(name string, change func(map[string]any), sentence string) Refusal {
	return Refusal{Name: name, Change: change, Status: 400, Sentence: sentence}
}

// Whole is the refusal of a whole body.
func Whole(name, body, sentence string) Refusal {
	return Refusal{Name: name, Body: Raw(body), Status: 400, Sentence: sentence}
}

func unauthorized(name string, header func(b *Bundle, h http.Header, body []byte)) Refusal {
	return Refusal{Name: name, Header: header, Status: 401, Sentence: "invalid signature"}
}

// Unsigned are the refusals of calls that are not signed as they should be,
// on every route that a request's own project signs.
func Unsigned() []Refusal {
	return []Refusal{
		unauthorized("wrong key", func(_ *Bundle, h http.Header, body []byte) {
			h["Hash-Signature"] = Signed("other", body)["Hash-Signature"]
		}),
		unauthorized("signed another body", func(b *Bundle, h http.Header, body []byte) {
			h["Hash-Signature"] = Signed(b.Issued.APIKey, append(body, ' '))["Hash-Signature"]
		}),
		unauthorized("signed with the Gateway secret", func(b *Bundle, h http.Header, body []byte) {
			h["Hash-Signature"] = Signed(b.Issued.GatewaySecret, body)["Hash-Signature"]
		}),
		unauthorized("no signature", func(_ *Bundle, h http.Header, _ []byte) { h.Del("hash-signature") }),
		unauthorized("two signatures", func(_ *Bundle, h http.Header, _ []byte) { h.Add("hash-signature", h.Get("hash-signature")) }),
		unauthorized("no Base64", func(_ *Bundle, h http.Header, _ []byte) { h.Set("hash-signature", "%%%") }),
		unauthorized("unpadded Base64", func(_ *Bundle, h http.Header, _ []byte) {
			h.Set("hash-signature", strings.TrimRight(h.Get("hash-signature"), "="))
		}),
		unauthorized("unknown api-key beside a right signature", func(_ *Bundle, h http.Header, _ []byte) { h.Set("api-key", "pk_other") }),
		unauthorized("unknown key beside a live api-key", func(b *Bundle, h http.Header, _ []byte) {
			h.Set("api-key", b.Issued.APIKey.Reveal())
			h.Set("key", "pk_other")
		}),
		unauthorized("api-key twice", func(b *Bundle, h http.Header, _ []byte) {
			h["Api-Key"] = []string{b.Issued.APIKey.Reveal(), b.Issued.APIKey.Reveal()}
		}),
		unauthorized("key header alone", func(b *Bundle, h http.Header, _ []byte) {
			h.Del("hash-signature")
			h.Set("key", b.Issued.APIKey.Reveal())
		}),
	}
}

// WrongBodies are the refusals of bodies that come before all others.
func WrongBodies() []Refusal {
	const sentence = "the header Content-Type must be application/json (UTF-8)"
	header := func(name, value string) Refusal {
		return Refusal{Name: name, Status: 415, Sentence: sentence, Header: func(_ *Bundle, h http.Header, _ []byte) {
			if h.Del("Content-Type"); value != "" {
				h.Set("Content-Type", value)
			}
			h.Del("hash-signature")
		}}
	}
	return []Refusal{
		header("not JSON by its header", "text/plain"),
		header("no Content-Type", ""),
		header("another charset", "application/json; charset=latin1"),
		{Name: "too large", Body: Raw(`{"project_id":"PROJECT","x":"` + strings.Repeat("a", 64<<10) + `"}`),
			Header: func(_ *Bundle, h http.Header, _ []byte) { h.Del("hash-signature") },
			Status: 413, Sentence: "the body must not be larger than 65536 bytes"},
	}
}

// Creations are the refusals that every creation of a room has.
func Creations() []Refusal {
	long := strings.Repeat("é", 256)
	key := func(name string, values []string, sentence string) Refusal {
		return Refusal{Name: name, Status: 400, Sentence: sentence, Change: Set("max_participants", 0), // the key is looked at before the fields
			Header: func(_ *Bundle, h http.Header, _ []byte) { h["Idempotency-Key"] = values }}
	}
	const badKey = "the header Idempotency-Key must have 1 to 255 printable ASCII characters"
	list := append(Unsigned(), WrongBodies()...)
	return append(list,
		Refusal{Name: "unknown project", Change: Set("project_id", "01890000-0000-7000-8000-000000000000"), Status: 401, Sentence: "invalid signature"},
		Refusal{Name: "bad fields after a bad signature stay unsaid", Change: Set("max_participants", 0), Status: 401, Sentence: "invalid signature",
			Header: func(_ *Bundle, h http.Header, _ []byte) { h.Set("hash-signature", "AAAA") }},
		Refusal{Name: "a bad Idempotency-Key after a bad signature stays unsaid", Status: 401, Sentence: "invalid signature",
			Header: func(_ *Bundle, h http.Header, _ []byte) {
				h["Idempotency-Key"] = []string{""}
				h.Set("hash-signature", "AAAA")
			}},
		key("Idempotency-Key empty", []string{""}, badKey),
		key("Idempotency-Key too long", []string{strings.Repeat("k", 256)}, badKey),
		key("Idempotency-Key not ASCII", []string{"clé"}, badKey),
		key("Idempotency-Key with a tab", []string{"a\tb"}, badKey),

		Whole("empty body", ``, "the body ends before its JSON does"),
		Whole("no JSON", `{"project_id":`, "the body ends before its JSON does"),
		Whole("broken JSON", `{"project_id":"PROJECT",}`, "the body is not valid JSON, at byte 52"),
		Whole("an array", `[]`, "the body must be a JSON object"),
		Whole("a text", `"x"`, "the body must be a JSON object"),
		Whole("a field twice", `{"project_id":"PROJECT","project_id":"PROJECT"}`, "the body has a field twice: project_id"),
		Whole("a field twice inside", `{"project_id":"PROJECT","metadata":{"a":1,"a":2}}`, "the body has a field twice: a"),
		Whole("more after the object", `{"project_id":"PROJECT"}{}`, "the body must end after its JSON object"),
		Whole("junk after the object", `{"project_id":"PROJECT"} x`, "the body must end after its JSON object"),
		Whole("invalid UTF-8", "{\"project_id\":\"PROJECT\",\"name\":\"\xff\"}", "the body is not valid JSON, at byte 61"),
		Whole("half a surrogate pair", `{"project_id":"PROJECT","name":"\ud800"}`, "the body is not valid JSON, at byte 61"),

		Field("project_id missing", Drop("project_id"), "project_id is required"),
		Field("project_id null", Set("project_id", nil), "project_id is required"),
		Field("project_id a number", Set("project_id", 7), "project_id must be a string"),
		Field("max_participants missing", Drop("max_participants"), "max_participants is required"),
		Field("max_participants null", Set("max_participants", nil), "max_participants is required"),
		Field("max_participants 0", Set("max_participants", 0), "max_participants must be between 1 and 1000, not 0"),
		Field("max_participants 1001", Set("max_participants", 1001), "max_participants must be between 1 and 1000, not 1001"),
		Field("empty_timeout missing", Drop("empty_timeout"), "empty_timeout is required"),
		Field("empty_timeout -1", Set("empty_timeout", -1), "empty_timeout must be between 0 and 86400, not -1"),
		Field("empty_timeout 86401", Set("empty_timeout", 86401), "empty_timeout must be between 0 and 86400, not 86401"),
		Field("metadata missing", Drop("metadata"), "metadata is required"),
		Field("metadata a string", Set("metadata", "x"), "metadata must be an object"),
		Field("room_title missing", Drop("metadata.room_title"), "metadata.room_title is required"),
		Field("room_title empty", Set("metadata.room_title", ""), "metadata.room_title must have 1 to 255 characters and not be blank"),
		Field("room_title blank", Set("metadata.room_title", " "), "metadata.room_title must have 1 to 255 characters and not be blank"),
		Field("room_title too long", Set("metadata.room_title", long), "metadata.room_title must have at most 255 characters, not 256"),
		Field("welcome_message missing", Drop("metadata.welcome_message"), "metadata.welcome_message is required"),
		Field("welcome_message too long", Set("metadata.welcome_message", strings.Repeat("x", 2001)), "metadata.welcome_message must have at most 2000 characters, not 2001"),
		Field("welcome_message with an escape", Set("metadata.welcome_message", "\x1b[1m"), "metadata.welcome_message must not contain control characters such as U+001B"),
		Field("client_room_id too long", Set("client_room_id", long), "client_room_id must have at most 255 characters, not 256"),
		Field("client_room_id a number", Set("client_room_id", 5), "client_room_id must be a string"),
	)
}

// Integers are the refusals of numbers where strings are not taken.
func Integers() []Refusal {
	const sentence = "max_participants must be an integer written without fraction or exponent"
	return []Refusal{
		Field("max_participants a string", Set("max_participants", "10"), "max_participants must be an integer"),
		Field("empty_timeout a string", Set("empty_timeout", "10"), "empty_timeout must be an integer"),
		Field("max_participants true", Set("max_participants", true), "max_participants must be an integer"),
		Field("fraction", Set("max_participants", number("5.0")), sentence),
		Field("exponent", Set("max_participants", number("1e2")), sentence),
		Field("beyond 64 bits", Set("max_participants", number("99999999999999999999")), "max_participants is out of range: 99999999999999999999"),
	}
}

// number is a JSON number as it is written.
type number string

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// Scheduled are the refusals that every creation of a scheduled room has.
func Scheduled() []Refusal {
	return []Refusal{
		Field("project_id is no UUID", Set("project_id", "mine"), "project_id must be a UUID"),
		Field("project_id empty", Set("project_id", ""), "project_id must be a UUID"),
		Field("project_id with braces", Set("project_id", "{01890000-0000-7000-8000-000000000000}"), "project_id must be a UUID"),
		Field("start_at missing", Drop("start_at"), "start_at is required"),
		Field("start_at a number", Set("start_at", 1900000000), "start_at must be a string"),
	}
}
