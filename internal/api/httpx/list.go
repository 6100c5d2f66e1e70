package httpx

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

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
	var texts []string
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
