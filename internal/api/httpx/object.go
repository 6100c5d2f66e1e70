package httpx

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"parley/internal/fault"
)

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
			return nil, malformed(err)
		}
		return nil, fault.Invalidf("the body must be a JSON object")
	}
	o, err := readObject(d, body, "")
	if err != nil {
		return nil, malformed(err)
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

func malformed(err error) error {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Invalidf("the body ends before its JSON does")
	}
	if errors.Is(s.Err, jsontext.ErrDuplicateName) {
		return fault.Invalidf("the body has a field twice: %s", s.JSONPointer.LastToken())
	}
	return fault.Invalidf("the body is not valid JSON, at byte %d", s.ByteOffset)
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
