package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"parley/internal/fault"
)

// Object is a JSON object whose members are read one by one, each with a
// sentence that names the field when it is not what it should be. The first
// such sentence is kept for Err; reads after it return zero values.
//
// Unknown members are ignored. null means absent, and so does an empty string
// in an optional text. A name that stands twice, at any depth, anything after
// the object and invalid UTF-8 are refused: two readers of such a text may
// disagree about what was signed (RFC 8259, section 4).
type Object struct {
	prefix  string
	members []member
	err     *error // shared with the objects inside
}

type member struct {
	name  string
	value jsontext.Value
}

// Parse reads a body that must be one JSON object.
func Parse(body []byte) (*Object, error) {
	// jsontext is the tokenizer of Go's next encoding/json; unlike the
	// present one it refuses repeated names and invalid UTF-8.
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if d.PeekKind() != '{' {
		if _, err := d.ReadToken(); err != nil {
			return nil, malformed(err)
		}
		return nil, fault.Invalidf("the body must be a JSON object")
	}
	o, err := read(d, "")
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

func read(d *jsontext.Decoder, prefix string) (*Object, error) {
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
		m.value = value.Clone()
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

// Err returns the first thing that was wrong with what was read, here and in
// the objects inside.
func (o *Object) Err() error { return *o.err }

func (o *Object) fail(name, format string, args ...any) {
	if *o.err == nil {
		*o.err = fault.Invalidf("%s%s %s", o.prefix, name, fmt.Sprintf(format, args...))
	}
}

// raw returns the value of a member, or nil when it is absent or null.
func (o *Object) raw(name string) jsontext.Value {
	for _, m := range o.members {
		if m.name == name && m.value.Kind() != 'n' {
			return m.value
		}
	}
	return nil
}

// Has reports whether a member is there and not null.
func (o *Object) Has(name string) bool { return o.raw(name) != nil }

// Text reads an optional text: nil when it is absent, null or empty.
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

// RequiredText reads a text that must be there; it may be empty.
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

// RequiredInteger reads a number that must be there and be written as an
// integer: no fraction, no exponent.
func (o *Object) RequiredInteger(name string) int {
	v := o.raw(name)
	switch {
	case v == nil:
		o.fail(name, "is required")
		return 0
	case v.Kind() != '0':
		o.fail(name, "must be an integer")
		return 0
	}
	n, err := strconv.Atoi(string(v))
	switch {
	case errors.Is(err, strconv.ErrRange):
		o.fail(name, "is out of range: %s", clip(string(v)))
	case err != nil:
		o.fail(name, "must be an integer written without fraction or exponent")
	}
	return n
}

// RequiredObject reads an object that must be there.
func (o *Object) RequiredObject(name string) *Object {
	v := o.raw(name)
	if v == nil {
		o.fail(name, "is required")
		return o.empty(name)
	}
	if v.Kind() != '{' {
		o.fail(name, "must be an object")
		return o.empty(name)
	}
	inner, err := read(jsontext.NewDecoder(bytes.NewBuffer(v)), o.prefix+name+".")
	if err != nil { // the whole text was checked before
		o.fail(name, "must be an object")
		return o.empty(name)
	}
	inner.err = o.err
	return inner
}

func (o *Object) empty(name string) *Object {
	return &Object{prefix: o.prefix + name + ".", err: o.err}
}

func clip(s string) string {
	if len(s) > 24 {
		return s[:24] + "…"
	}
	return s
}
