package main

import "strings"

// pythonRequest writes the type of a request body. Its required and optional fields are in
// two classes, because Python 3.9 has no NotRequired.
func (c *code) pythonRequest(o *object) {
	var required, optional []field
	for _, f := range o.fields {
		if f.required {
			required = append(required, f)
		} else {
			optional = append(optional, f)
		}
	}
	d := typedDict{name: o.name, doc: o.doc, fields: required}
	if len(optional) > 0 {
		d.fields, d.partial = optional, true
		if len(required) > 0 {
			base := typedDict{name: "_" + o.name + "Required", fields: required}
			c.pythonTypedDict(base)
			d.bases = []string{base.name}
		}
	}
	c.pythonTypedDict(d)
}

// typedDict is a class of Python for objects in requests.
type typedDict struct {
	name, doc string
	bases     []string
	fields    []field
	partial   bool // all fields are optional
}

// pythonTypedDict writes one class. A field that is a keyword is in a base class that a call
// makes, because a class cannot declare it.
func (c *code) pythonTypedDict(d typedDict) {
	end := ""
	if d.partial {
		end = ", total=False"
	}
	var declared []field
	for _, f := range d.fields {
		if pythonName(f.name) == f.name {
			declared = append(declared, f)
			continue
		}
		base := "_" + d.name + pascal(f.name)
		d.bases = append(d.bases, base)
		if f.doc != "" {
			d.doc += "\n\n" + f.name + ": " + f.doc
		}
		c.line(0, "")
		c.line(0, "")
		c.line(0, "%s = TypedDict(%q, {%q: %s}%s)", base, base, f.name, pythonRequestType(f), end)
	}
	if len(d.bases) == 0 {
		d.bases = []string{"TypedDict"}
	}
	c.line(0, "")
	c.line(0, "")
	c.line(0, "class %s(%s%s):", d.name, strings.Join(d.bases, ", "), end)
	if d.doc != "" {
		c.pythonDoc(1, d.doc)
		c.line(0, "")
	}
	for _, f := range declared {
		c.line(1, "%s: %s", f.name, pythonRequestType(f))
		if f.doc != "" {
			c.pythonDoc(1, f.doc)
		}
	}
	if len(declared) == 0 {
		c.line(1, "pass")
	}
}

// pythonRequestType returns the annotation of a field of a request.
func pythonRequestType(f field) string {
	if f.nullable {
		return "Optional[" + pythonType(f.shape) + "]"
	}
	return pythonType(f.shape)
}
