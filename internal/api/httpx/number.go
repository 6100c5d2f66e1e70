package httpx

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// RequiredInteger reads a required number that is written as an integer,
// without fraction or exponent.
func (o *Object) RequiredInteger(name string) int {
	v := o.raw(name)
	if v == nil {
		o.fail(name, "is required")
		return 0
	}
	return o.integer(name, v, "must be an integer")
}

// Integer reads an optional number that is written as an integer. It returns
// nil if the member is absent or null.
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
