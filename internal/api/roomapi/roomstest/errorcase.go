package roomstest

import (
	"net/http"
	"strings"
	"testing"

	"parley/internal/api/apitest"
)

// ErrorCase is a request that fails, with the exact error.
type ErrorCase struct {
	Name    string
	Change  func(f map[string]any)                       // changes the fields
	Body    func(b *Fixture) []byte                      // or replaces the whole body
	Header  func(b *Fixture, h http.Header, body []byte) // and changes the headers, which are signed correctly before
	Status  int
	Message string
}

// Send sends the request of the case. It changes fields, which must be valid, and
// signs the body with the API key.
func (r ErrorCase) Send(t testing.TB, c *apitest.Checker, b *Fixture, method, target string,
	fields map[string]any) *http.Response {
	t.Helper()
	body := r.BuildBody(t, b, fields)
	header := SignedHeaders(b.Issued.APIKey, body)
	if r.Header != nil {
		r.Header(b, header, body)
	}
	return c.Do(t, method, target, header, body)
}

// BuildBody returns the body of the case.
func (r ErrorCase) BuildBody(t testing.TB, b *Fixture, fields map[string]any) []byte {
	if r.Body != nil {
		return r.Body(b)
	}
	if r.Change != nil {
		r.Change(fields)
	}
	return EncodeJSON(t, fields)
}

// SetField returns a change that sets the value at a dotted path.
func SetField(path string, v any) func(map[string]any) {
	return func(f map[string]any) {
		for {
			name, rest, deeper := strings.Cut(path, ".")
			if !deeper {
				f[name] = v
				return
			}
			if _, exists := f[name]; !exists {
				f[name] = map[string]any{}
			}
			f, path = f[name].(map[string]any), rest
		}
	}
}

// RemoveField returns a change that removes the value at a dotted path.
func RemoveField(path string) func(map[string]any) {
	return func(f map[string]any) {
		if name, ok := strings.CutPrefix(path, "metadata."); ok {
			delete(f["metadata"].(map[string]any), name)
			return
		}
		delete(f, path)
	}
}

// RawBody returns a function that builds a body. PROJECT in format is replaced by
// the project's id.
func RawBody(format string) func(*Fixture) []byte {
	return func(b *Fixture) []byte { return []byte(strings.ReplaceAll(format, "PROJECT", b.Project.ID)) }
}

// FieldCase returns the case of a changed field that causes a 400.
func FieldCase(name string, change func(map[string]any), message string) ErrorCase {
	return ErrorCase{Name: name, Change: change, Status: 400, Message: message}
}

// BodyCase returns the case of a body that causes a 400.
func BodyCase(name, body, message string) ErrorCase {
	return ErrorCase{Name: name, Body: RawBody(body), Status: 400, Message: message}
}

func unauthorizedCase(name string, header func(b *Fixture, h http.Header, body []byte)) ErrorCase {
	return ErrorCase{Name: name, Header: header, Status: 401, Message: "invalid signature"}
}

// SignatureCases returns the cases of wrong signatures, for every route whose
// request names its project.
func SignatureCases() []ErrorCase {
	return []ErrorCase{
		unauthorizedCase("wrong key", func(_ *Fixture, h http.Header, body []byte) {
			h["Hash-Signature"] = SignedHeaders("other", body)["Hash-Signature"]
		}),
		unauthorizedCase("signed another body", func(b *Fixture, h http.Header, body []byte) {
			h["Hash-Signature"] = SignedHeaders(b.Issued.APIKey, append(body, ' '))["Hash-Signature"]
		}),
		unauthorizedCase("signed with the Gateway secret", func(b *Fixture, h http.Header, body []byte) {
			h["Hash-Signature"] = SignedHeaders(b.Issued.GatewaySecret, body)["Hash-Signature"]
		}),
		unauthorizedCase("no signature", func(_ *Fixture, h http.Header, _ []byte) { h.Del("hash-signature") }),
		unauthorizedCase("two signatures", func(_ *Fixture, h http.Header, _ []byte) {
			h.Add("hash-signature", h.Get("hash-signature"))
		}),
		unauthorizedCase("no Base64", func(_ *Fixture, h http.Header, _ []byte) { h.Set("hash-signature", "%%%") }),
		unauthorizedCase("unpadded Base64", func(_ *Fixture, h http.Header, _ []byte) {
			h.Set("hash-signature", strings.TrimRight(h.Get("hash-signature"), "="))
		}),
		unauthorizedCase("unknown api-key beside a right signature",
			func(_ *Fixture, h http.Header, _ []byte) { h.Set("api-key", "pk_other") }),
		unauthorizedCase("unknown key beside a live api-key", func(b *Fixture, h http.Header, _ []byte) {
			h.Set("api-key", b.Issued.APIKey.Reveal())
			h.Set("key", "pk_other")
		}),
		unauthorizedCase("api-key twice", func(b *Fixture, h http.Header, _ []byte) {
			h["Api-Key"] = []string{b.Issued.APIKey.Reveal(), b.Issued.APIKey.Reveal()}
		}),
		unauthorizedCase("key header alone", func(b *Fixture, h http.Header, _ []byte) {
			h.Del("hash-signature")
			h.Set("key", b.Issued.APIKey.Reveal())
		}),
	}
}

// TransportCases returns the cases that fail before the signature is checked.
func TransportCases() []ErrorCase {
	const message = "the header Content-Type must be application/json (UTF-8)"
	header := func(name, value string) ErrorCase {
		return ErrorCase{Name: name, Status: 415, Message: message, Header: func(_ *Fixture, h http.Header, _ []byte) {
			if h.Del("Content-Type"); value != "" {
				h.Set("Content-Type", value)
			}
			h.Del("hash-signature")
		}}
	}
	return []ErrorCase{
		header("not JSON by its header", "text/plain"),
		header("no Content-Type", ""),
		header("another charset", "application/json; charset=latin1"),
		{Name: "too large", Body: RawBody(`{"project_id":"PROJECT","x":"` + strings.Repeat("a", 64<<10) + `"}`),
			Header: func(_ *Fixture, h http.Header, _ []byte) { h.Del("hash-signature") },
			Status: 413, Message: "the body must not be larger than 65536 bytes"},
	}
}

// BodyCases returns the cases of bodies that are not a JSON object.
func BodyCases() []ErrorCase {
	return []ErrorCase{
		{
			Name:    "bad fields after a bad signature stay unsaid",
			Body:    RawBody(`{`),
			Status:  401,
			Message: "invalid signature",
			Header:  func(_ *Fixture, h http.Header, _ []byte) { h.Set("hash-signature", "AAAA") },
		},
		BodyCase("empty body", ``, "the body is empty: send a JSON object"),
		BodyCase("an array", `[]`, "the body must be a JSON object"),
	}
}

// CreateCases returns the cases that every creation of a room has.
func CreateCases() []ErrorCase {
	long := strings.Repeat("é", 256)
	key := func(name string, values []string, message string) ErrorCase {
		return ErrorCase{
			Name:    name,
			Status:  400,
			Message: message,
			Change:  SetField("max_participants", 0),
			// the key is checked before the fields
			Header: func(_ *Fixture, h http.Header, _ []byte) { h["Idempotency-Key"] = values },
		}
	}
	const badKey = "the header Idempotency-Key must have 1 to 255 printable ASCII characters"
	list := append(SignatureCases(), TransportCases()...)
	return append(list,
		ErrorCase{Name: "unknown project", Change: SetField("project_id", "01890000-0000-7000-8000-000000000000"),
			Status: 401, Message: "invalid signature"},
		ErrorCase{
			Name:    "bad fields after a bad signature stay unsaid",
			Change:  SetField("max_participants", 0),
			Status:  401,
			Message: "invalid signature",
			Header:  func(_ *Fixture, h http.Header, _ []byte) { h.Set("hash-signature", "AAAA") },
		},
		ErrorCase{Name: "a bad Idempotency-Key after a bad signature stays unsaid", Status: 401,
			Message: "invalid signature",
			Header: func(_ *Fixture, h http.Header, _ []byte) {
				h["Idempotency-Key"] = []string{""}
				h.Set("hash-signature", "AAAA")
			}},
		key("Idempotency-Key empty", []string{""}, badKey),
		key("Idempotency-Key too long", []string{strings.Repeat("k", 256)}, badKey),
		key("Idempotency-Key not ASCII", []string{"clé"}, badKey),
		key("Idempotency-Key with a tab", []string{"a\tb"}, badKey),
		key("two Idempotency-Keys", []string{"a", "b"}, "the header Idempotency-Key must be sent at most once"),
		key("Idempotency-Key twice", []string{"a", "a"}, "the header Idempotency-Key must be sent at most once"),

		BodyCase("empty body", ``, "the body is empty: send a JSON object"),
		BodyCase("no JSON", `{"project_id":`, "the body ends before its JSON does"),
		BodyCase("broken JSON", `{"project_id":"PROJECT",}`, "the body is not valid JSON, at byte 52"),
		BodyCase("an array", `[]`, "the body must be a JSON object"),
		BodyCase("a text", `"x"`, "the body must be a JSON object"),
		BodyCase("a field twice", `{"project_id":"PROJECT","project_id":"PROJECT"}`,
			"the body has a field twice: project_id"),
		BodyCase("a field twice inside", `{"project_id":"PROJECT","metadata":{"a":1,"a":2}}`,
			"the body has a field twice: a"),
		BodyCase("more after the object", `{"project_id":"PROJECT"}{}`, "the body must end after its JSON object"),
		BodyCase("junk after the object", `{"project_id":"PROJECT"} x`, "the body must end after its JSON object"),
		BodyCase("invalid UTF-8", "{\"project_id\":\"PROJECT\",\"name\":\"\xff\"}",
			"the body is not UTF-8, at byte 61"),
		BodyCase("half a surrogate pair", `{"project_id":"PROJECT","name":"\ud800"}`,
			"the body has half of a surrogate pair, at byte 61: a character was cut in two"),
		BodyCase("an unknown escape", `{"project_id":"PROJECT","name":"\x"}`, "the body is not valid JSON, at byte 61"),
		BodyCase("a byte order mark", "\ufeff"+`{"project_id":"PROJECT"}`,
			"the body begins with a byte order mark: send UTF-8 without it"),
		BodyCase("gzip", "\x1f\x8b\x08", "the body is compressed with gzip: send it uncompressed"),

		FieldCase("project_id missing", RemoveField("project_id"), "project_id is required"),
		FieldCase("project_id null", SetField("project_id", nil), "project_id is required"),
		FieldCase("project_id a number", SetField("project_id", 7), "project_id must be a string"),
		FieldCase("max_participants missing", RemoveField("max_participants"), "max_participants is required"),
		FieldCase("max_participants null", SetField("max_participants", nil), "max_participants is required"),
		FieldCase("max_participants 0", SetField("max_participants", 0),
			"max_participants must be between 1 and 1000, not 0"),
		FieldCase("max_participants 1001", SetField("max_participants", 1001),
			"max_participants must be between 1 and 1000, not 1001"),
		FieldCase("empty_timeout missing", RemoveField("empty_timeout"), "empty_timeout is required"),
		FieldCase("empty_timeout -1", SetField("empty_timeout", -1),
			"empty_timeout must be between 0 and 86400, not -1"),
		FieldCase("empty_timeout 86401", SetField("empty_timeout", 86401),
			"empty_timeout must be between 0 and 86400, not 86401"),
		FieldCase("metadata missing", RemoveField("metadata"), "metadata is required"),
		FieldCase("metadata a string", SetField("metadata", "x"), "metadata must be an object"),
		FieldCase("room_title missing", RemoveField("metadata.room_title"), "metadata.room_title is required"),
		FieldCase("room_title empty", SetField("metadata.room_title", ""),
			"metadata.room_title must have 1 to 255 characters and not be blank"),
		FieldCase("room_title blank", SetField("metadata.room_title", " "),
			"metadata.room_title must have 1 to 255 characters and not be blank"),
		FieldCase("room_title too long", SetField("metadata.room_title", long),
			"metadata.room_title must have at most 255 characters, not 256"),
		FieldCase("welcome_message missing", RemoveField("metadata.welcome_message"),
			"metadata.welcome_message is required"),
		FieldCase("welcome_message too long", SetField("metadata.welcome_message", strings.Repeat("x", 2001)),
			"metadata.welcome_message must have at most 2000 characters, not 2001"),
		FieldCase("welcome_message with an escape", SetField("metadata.welcome_message", "\x1b[1m"),
			"metadata.welcome_message must not contain control characters such as U+001B"),
		FieldCase("client_room_id too long", SetField("client_room_id", long),
			"client_room_id must have at most 255 characters, not 256"),
		FieldCase("client_room_id a number", SetField("client_room_id", 5), "client_room_id must be a string"),
	)
}

// IntegerCases returns the cases of numbers for routes that accept no strings.
func IntegerCases() []ErrorCase {
	const message = "max_participants must be an integer written without fraction or exponent"
	return []ErrorCase{
		FieldCase("max_participants a string", SetField("max_participants", "10"),
			"max_participants must be an integer"),
		FieldCase("empty_timeout a string", SetField("empty_timeout", "10"), "empty_timeout must be an integer"),
		FieldCase("max_participants true", SetField("max_participants", true), "max_participants must be an integer"),
		FieldCase("fraction", SetField("max_participants", jsonNumber("5.0")), message),
		FieldCase("exponent", SetField("max_participants", jsonNumber("1e2")), message),
		FieldCase("beyond 64 bits", SetField("max_participants", jsonNumber("99999999999999999999")),
			"max_participants must be between 1 and 1000"),
	}
}

// jsonNumber is a JSON number in its exact spelling.
type jsonNumber string

// MarshalJSON implements json.Marshaler.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// ScheduleCases returns the cases that every creation of a scheduled room has.
func ScheduleCases() []ErrorCase {
	return []ErrorCase{
		FieldCase("project_id is no UUID", SetField("project_id", "mine"), "project_id must be a UUID"),
		FieldCase("project_id empty", SetField("project_id", ""), "project_id must be a UUID"),
		FieldCase("project_id with braces", SetField("project_id", "{01890000-0000-7000-8000-000000000000}"),
			"project_id must be a UUID"),
		FieldCase("start_at missing", RemoveField("start_at"), "start_at is required"),
		FieldCase("start_at a number", SetField("start_at", 1900000000), "start_at must be a string"),
	}
}
