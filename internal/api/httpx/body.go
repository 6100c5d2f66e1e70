package httpx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"parley/internal/fault"
	"parley/internal/validate"
)

var errBodyTooLarge = fault.New(fault.Invalid, CodeBodyTooLarge, "the body must not be larger than %d bytes",
	MaxBodySize)

// ReadJSONBody reads the body of a request. The request must have the content
// type application/json, and a body of at most MaxBodySize bytes. ReadJSONBody
// does not parse the body; ParseObject does. The errors are Invalid.
func ReadJSONBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkJSON(r.Header.Values("Content-Type")); err != nil {
		return nil, err
	}
	if r.ContentLength > MaxBodySize {
		return nil, errBodyTooLarge
	}
	return checkBodyRead(readAll(w, r))
}

func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodySize))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func checkJSON(values []string) error {
	if len(values) == 1 {
		if values[0] == "application/json" {
			return nil
		}
		if kind, params, err := mime.ParseMediaType(values[0]); err == nil && kind == "application/json" {
			if charset := params["charset"]; charset == "" || strings.EqualFold(charset, "utf-8") {
				return nil
			}
		}
	}
	return fault.New(fault.Invalid, CodeUnsupportedMediaType,
		"the header Content-Type must be application/json (UTF-8)")
}

// ReadOptionalBody reads a body of any content type, of at most MaxBodySize bytes. It
// returns nil if there is none. A request that needs no body may have one, because
// the signature covers it.
func ReadOptionalBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	return checkBodyRead(io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodySize)))
}

// checkBodyRead converts the error of reading a body into an Invalid error.
func checkBodyRead(body []byte, err error) ([]byte, error) {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, errBodyTooLarge
	case err != nil:
		return nil, &fault.Error{Kind: fault.Invalid, Code: "invalid_request",
			Message: "the body could not be read to its end", Err: err}
	}
	return body, nil
}

// Object is a JSON object whose members are read one by one. Each read checks
// the type of the member. Err returns the first error, which names the field;
// reads that fail return zero values.
//
// Unknown members are ignored. null means absent, and so does an empty string
// in an optional text. Duplicate names at any depth, data after the object and
// invalid UTF-8 are errors, because two parsers may disagree about the meaning
// of such a body, which is signed (RFC 8259, section 4).
type Object struct {
	prefix  string
	members []member
	err     *error // shared with the nested objects
}

type member struct {
	name  string
	value jsontext.Value // a slice of the body, which must not be modified
	inner *Object        // the value parsed as an object; nil until Object is called
}

// ParseObject parses a body that must be one JSON object. The errors are
// Invalid.
func ParseObject(body []byte) (*Object, error) {
	// jsontext is the tokenizer of encoding/json/v2. Unlike version 1 it rejects
	// duplicate names and invalid UTF-8.
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if d.PeekKind() != '{' {
		if _, err := d.ReadToken(); err != nil {
			return nil, malformed(body, err)
		}
		return nil, fault.Invalidf("the body must be a JSON object")
	}
	o, err := readObject(d, body, "")
	if err != nil {
		return nil, malformed(body, err)
	}
	o.err = new(error)
	if _, err := d.ReadToken(); err == nil {
		return nil, fault.Invalidf("the body must end after its JSON object")
	} else if d.InputOffset() < int64(len(bytes.TrimRight(body, " \t\r\n"))) {
		return nil, fault.Invalidf("the body must end after its JSON object")
	}
	return o, nil
}

// readObject reads the members of the next object of d, which decodes text. The
// values are slices of text, not copies.
func readObject(d *jsontext.Decoder, text []byte, prefix string) (*Object, error) {
	o := &Object{prefix: prefix, members: make([]member, 0, 8)}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(d.InputOffset())
		m.value = jsontext.Value(text[end-len(value) : end : end])
		o.members = append(o.members, m)
	}
	_, err := d.ReadToken()
	return o, err
}

// malformed converts the error of parsing a body into an Invalid error. It names the usual causes, because "not valid
// JSON" says little about a body that a JSON library wrote.
func malformed(body []byte, err error) error {
	var s *jsontext.SyntacticError
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return fault.Invalidf("the body is empty: send a JSON object")
	case !errors.As(err, &s) || errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Invalidf("the body ends before its JSON does")
	case errors.Is(s.Err, jsontext.ErrDuplicateName):
		return fault.Invalidf("the body has a field twice: %s", validate.Truncate(s.JSONPointer.LastToken(), 255))
	}
	rest := body[min(max(s.ByteOffset, 0), int64(len(body))):]
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return fault.Invalidf("the body begins with a byte order mark: send UTF-8 without it")
	case bytes.HasPrefix(body, []byte("\x1f\x8b")):
		return fault.Invalidf("the body is compressed with gzip: send it uncompressed")
	case len(rest) > 0 && rest[0] >= utf8.RuneSelf && !startsWithRune(rest):
		return fault.Invalidf("the body is not UTF-8, at byte %d", s.ByteOffset)
	case startsWithHalfOfPair(rest):
		return fault.Invalidf("the body has half of a surrogate pair, at byte %d: a character was cut in two",
			s.ByteOffset)
	}
	return fault.Invalidf("the body is not valid JSON, at byte %d", s.ByteOffset)
}

func startsWithRune(text []byte) bool {
	r, size := utf8.DecodeRune(text)
	return r != utf8.RuneError || size > 1
}

// startsWithHalfOfPair reports whether a text begins with the escape of a surrogate, \ud800 to \udfff. Where the
// parser stopped, the other half is missing. JavaScript writes that for a text cut in the middle of an emoji.
func startsWithHalfOfPair(text []byte) bool {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return err == nil && utf16.IsSurrogate(rune(unit))
}

// Err returns the first error of the reads of this object and its nested
// objects.
func (o *Object) Err() error { return *o.err }

func (o *Object) fail(name, format string, args ...any) {
	if *o.err == nil {
		*o.err = fault.Invalidf("%s%s %s", o.prefix, name, fmt.Sprintf(format, args...))
	}
}

// member returns a member, or nil if it is absent or null.
func (o *Object) member(name string) *member {
	for i := range o.members {
		if m := &o.members[i]; m.name == name && m.value.Kind() != 'n' {
			return m
		}
	}
	return nil
}

// raw returns the value of a member, or nil if it is absent or null.
func (o *Object) raw(name string) jsontext.Value {
	if m := o.member(name); m != nil {
		return m.value
	}
	return nil
}

// Has reports whether a member is present and not null.
func (o *Object) Has(name string) bool { return o.raw(name) != nil }

// Text reads an optional string. It returns nil if the member is absent, null
// or empty.
func (o *Object) Text(name string) *string {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	text, ok := o.text(name, v)
	if !ok || text == "" {
		return nil
	}
	return &text
}

// RequiredText reads a required string, which may be empty.
func (o *Object) RequiredText(name string) string {
	v := o.raw(name)
	if v == nil {
		o.fail(name, "is required")
		return ""
	}
	text, _ := o.text(name, v)
	return text
}

func (o *Object) text(name string, v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		o.fail(name, "must be a string")
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		o.fail(name, "must be a valid string")
		return "", false
	}
	return string(text), true
}

// RequiredObject reads a required object.
func (o *Object) RequiredObject(name string) *Object {
	if !o.Has(name) {
		o.fail(name, "is required")
	}
	return o.Object(name)
}

// Object reads an optional object. It returns an empty one if the member is
// absent or null.
func (o *Object) Object(name string) *Object {
	m := o.member(name)
	if m == nil {
		return o.empty(name)
	}
	if m.inner == nil {
		m.inner = o.empty(name)
		if m.value.Kind() != '{' {
			o.fail(name, "must be an object")
			return m.inner
		}
		// ParseObject has already rejected duplicate names.
		inner, err := readObject(jsontext.NewDecoder(bytes.NewBuffer(m.value), jsontext.AllowDuplicateNames(true)),
			m.value, m.inner.prefix)
		if err != nil {
			o.fail(name, "must be an object")
			return m.inner
		}
		inner.err = o.err
		m.inner = inner
	}
	return m.inner
}

// Names returns the names of the members that are not null, in the order of the
// body.
func (o *Object) Names() []string {
	names := make([]string, 0, len(o.members))
	for _, m := range o.members {
		if m.value.Kind() != 'n' {
			names = append(names, m.name)
		}
	}
	return names
}

func (o *Object) empty(name string) *Object {
	return &Object{prefix: o.prefix + name + ".", err: o.err}
}

// Flag reads an optional boolean. It returns false if the member is absent or
// null.
func (o *Object) Flag(name string) bool {
	v := o.raw(name)
	if v == nil {
		return false
	}
	if k := v.Kind(); k != 't' && k != 'f' {
		o.fail(name, "must be true or false")
	}
	return v.Kind() == 't'
}

// Texts reads an optional list of strings. It returns nil if the member is
// absent or null.
func (o *Object) Texts(name string) []string {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	// ParseObject has already rejected duplicate names.
	d := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true))
	if v.Kind() == '[' {
		_, _ = d.ReadToken()
	}
	texts := []string{}
	for d.PeekKind() == '"' && v.Kind() == '[' {
		value, _ := d.ReadValue()
		text, ok := o.text(name, value)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	if v.Kind() != '[' || d.PeekKind() != ']' {
		o.fail(name, "must be a list of strings")
		return nil
	}
	return texts
}

// Objects reads an optional list of objects. It returns nil if the member is absent or null.
func (o *Object) Objects(name string) []*Object {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	// ParseObject has already rejected duplicate names.
	d := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true))
	if v.Kind() == '[' {
		_, _ = d.ReadToken()
	}
	objects := []*Object{}
	for d.PeekKind() == '{' && v.Kind() == '[' {
		inner, err := readObject(d, v, fmt.Sprintf("%s%s[%d].", o.prefix, name, len(objects)))
		if err != nil {
			break
		}
		inner.err = o.err
		objects = append(objects, inner)
	}
	if v.Kind() != '[' || d.PeekKind() != ']' {
		o.fail(name, "must be a list of objects")
		return nil
	}
	return objects
}

// RequiredInteger reads a required number that is written as an integer,
// without fraction or exponent. It returns the largest or the smallest int for
// a number beyond it, so that the caller's check of the range names the bounds.
func (o *Object) RequiredInteger(name string) int {
	v := o.raw(name)
	if v == nil {
		o.fail(name, "is required")
		return 0
	}
	return o.integer(name, v, "must be an integer")
}

// Integer reads an optional number as RequiredInteger does. It returns nil if
// the member is absent or null.
func (o *Object) Integer(name string) *int {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	n := o.integer(name, v, "must be an integer")
	return &n
}

// RequiredIntegerOrDigits reads a required number: an integer as
// RequiredInteger accepts it, or a string of ASCII digits.
func (o *Object) RequiredIntegerOrDigits(name string) int {
	const rule = "must be an integer, or a string of the digits 0 to 9"
	v := o.raw(name)
	switch {
	case v == nil:
		o.fail(name, "is required")
		return 0
	case v.Kind() != '"':
		return o.integer(name, v, rule)
	}
	text, ok := o.text(name, v)
	for i := range len(text) {
		ok = ok && text[i] >= '0' && text[i] <= '9'
	}
	if !ok || text == "" {
		o.fail(name, rule)
		return 0
	}
	return o.parseInteger(name, text)
}

func (o *Object) integer(name string, v jsontext.Value, rule string) int {
	if v.Kind() != '0' {
		o.fail(name, "%s", rule)
		return 0
	}
	return o.parseInteger(name, string(v))
}

func (o *Object) parseInteger(name, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		o.fail(name, "must be an integer written without fraction or exponent")
	}
	return n
}
