package httpx

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// RequiredInteger reads a number that must be there and be written as an
// integer: no fraction, no exponent.
func (o *Object) RequiredInteger(name string) int {
	v := o.raw(name)
	if v == nil {
		o.fail(name, "is required")
		return 0
	}
	return o.integer(name, v, "must be an integer")
}

// Integer reads an optional number that is written as an integer; nil when it
// is absent or null.
func (o *Object) Integer(name string) *int {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	n := o.integer(name, v, "must be an integer")
	return &n
}

// RequiredIntegerOrDigits reads a number that must be there: an integer as
// RequiredInteger takes it, or a string of ASCII digits.
func (o *Object) RequiredIntegerOrDigits(name string) int {
	const otherwise = "must be an integer, or a string of the digits 0 to 9"
	v := o.raw(name)
	switch {
	case v == nil:
		o.fail(name, "is required")
		return 0
	case v.Kind() != '"':
		return o.integer(name, v, otherwise)
	}
	text, ok := o.text(name, v)
	for i := range len(text) {
		ok = ok && text[i] >= '0' && text[i] <= '9'
	}
	if !ok || text == "" {
		o.fail(name, otherwise)
		return 0
	}
	return o.parseInteger(name, text)
}

func (o *Object) integer(name string, v jsontext.Value, otherwise string) int {
	if v.Kind() != '0' {
		o.fail(name, "%s", otherwise)
		return 0
	}
	return o.parseInteger(name, string(v))
}

func (o *Object) parseInteger(name, text string) int {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		o.fail(name, "is out of range: %s", truncate(text))
		return 0
	case err != nil:
		o.fail(name, "must be an integer written without fraction or exponent")
	}
	return n
}

func truncate(s string) string {
	if len(s) > 24 {
		return s[:24] + "…"
	}
	return s
}
