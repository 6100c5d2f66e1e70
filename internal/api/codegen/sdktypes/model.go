package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// model has the types of the SDKs, without a language.
type model struct {
	objects []*object // an object is after those that it contains
	enums   []enum
	byName  map[string]*object
	use     use // of the objects that are being read
	version string
	source  description
}

// use says what an object is for.
type use int

const (
	inResponse use = iota
	inEvent
	inRequest
)

// object becomes a class.
type object struct {
	name, doc string
	fields    []field
	use       use
	root      bool    // a whole response or request body
	headers   []field // fields of a response that come from its headers
	eventType string  // of an event
}

type field struct {
	name, doc          string
	shape              shape
	required, nullable bool
	fromHeader         bool // not in the body
}

// optional reports whether a value may be without the field, or have null in it.
func (f field) optional() bool { return !f.required || f.nullable }

// ordered returns the fields, the optional ones at the end, where their parameters have defaults.
func (o *object) ordered() []field {
	fields := slices.Clone(o.fields)
	slices.SortStableFunc(fields, func(a, b field) int {
		switch {
		case a.optional() == b.optional():
			return 0
		case a.optional():
			return 1
		}
		return -1
	})
	return fields
}

// enum is a named list of values.
type enum struct {
	name, doc string
	values    []any
}

// shape is the type of a value.
type shape struct {
	kind   kind
	name   string  // of an object or an enum
	items  *shape  // of a list or a map
	values []any   // of an enum
	either []shape // of a union
}

type kind int

const (
	kindString kind = iota
	kindInteger
	kindNumber
	kindBoolean
	kindTime
	kindList
	kindMap
	kindObject
	kindFree  // an object whose members are not described
	kindEvent // one of the events, by its type
	kindUnion // one of several types, only in requests
)

func newModel() *model { return &model{byName: map[string]*object{}} }

// read adds the types of one description.
func (m *model) read(version string, text []byte) error {
	m.version, m.source = version, description{}
	if err := yaml.Unmarshal(text, &m.source); err != nil {
		return err
	}
	for _, op := range m.source.Paths {
		err := errors.Join(m.readRequest(op), m.readResponse(op))
		if err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
	}
	for _, op := range m.source.Webhooks {
		if err := m.readEvent(op); err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
	}
	return nil
}

func (m *model) readRequest(op operation) error {
	body := op.RequestBody.Content.json()
	if body == nil {
		return nil
	}
	m.use = inRequest
	o, err := m.root(body, pascal(op.ID)+"Request")
	if err == nil && o.doc == "" {
		o.doc = "The body of a request to " + strings.ToLower(op.Summary[:1]) + op.Summary[1:] + "."
	}
	return err
}

// readResponse adds the type of a success. A body whose schema has no name is text for the SDKs.
func (m *model) readResponse(op operation) error {
	success := op.Responses["200"]
	body := success.Content.json()
	if body == nil || body.Ref == "" {
		return nil
	}
	body, err := m.open(body)
	if err != nil {
		return err
	}
	m.use = inResponse
	o, err := m.root(body, "")
	if err != nil {
		return err
	}
	if o.doc == "" {
		o.doc = success.Description
	}
	for _, h := range headerFields {
		_, sent := success.Headers[h.header]
		if sent && !slices.ContainsFunc(o.headers, func(f field) bool { return f.name == h.name }) {
			o.headers = append(o.headers, h.field)
		}
	}
	return nil
}

// open returns what an envelope contains, or the body itself if it is no envelope.
func (m *model) open(body *schema) (*schema, error) {
	name, envelope, err := m.source.lookUp(body.Ref)
	if err != nil || envelopes[name] == "" {
		return body, err
	}
	for _, p := range envelope.Properties {
		if p.name == envelopes[name] {
			return p.schema, nil
		}
	}
	return nil, fmt.Errorf("%s has no %s", name, envelopes[name])
}

func (m *model) readEvent(op operation) error {
	m.use = inEvent
	o, err := m.root(op.RequestBody.Content.json(), pascal(op.ID)+"Event")
	if err != nil {
		return err
	}
	if o.doc == "" {
		o.doc = op.Summary + "."
	}
	for _, f := range o.fields {
		if f.name == "type" && len(f.shape.values) == 1 {
			o.eventType, _ = f.shape.values[0].(string)
		}
	}
	if o.eventType == "" {
		return errors.New("the event has no type with one value")
	}
	return nil
}

// root adds the object of a whole body, which has the name unless the schema has one.
func (m *model) root(s *schema, name string) (*object, error) {
	v, err := m.value(s, name)
	if err != nil {
		return nil, err
	}
	o := m.byName[v.shape.name]
	if v.shape.kind != kindObject || o == nil {
		return nil, errors.New("the body is not an object with properties")
	}
	o.root = true
	return o, nil
}

// addObject adds an object, or merges it with the one of the same name that another version has.
func (m *model) addObject(name string, s *schema) error {
	o := &object{name: name, use: m.use, doc: cleanDoc(s.Description)}
	if doc := documented[name]; doc != "" {
		o.doc = doc
	}
	for _, p := range s.Properties {
		if m.use == inRequest && p.name == addedField {
			continue
		}
		v, err := m.value(p.schema, inlineName(name, p.name))
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, p.name, err)
		}
		f := field{
			name:     p.name,
			doc:      v.doc,
			shape:    v.shape,
			required: slices.Contains(s.Required, p.name),
			nullable: v.nullable,
		}
		if doc := documented[name+"."+p.name]; doc != "" {
			f.doc = doc
		}
		o.fields = append(o.fields, f)
	}
	known := m.byName[name]
	if known == nil {
		m.byName[name] = o
		m.objects = append(m.objects, o)
		return nil
	}
	return known.merge(o)
}

// check returns an error if the generated types would not be usable.
func (m *model) check() error {
	var problems []error
	for _, o := range m.objects {
		if o.doc == "" {
			problems = append(problems, fmt.Errorf("%s has no description: add one to documented", o.name))
		}
		for _, f := range o.fields {
			if f.shape.kind == kindUnion && o.use != inRequest {
				problems = append(problems, fmt.Errorf("%s.%s has several types, which only requests may", o.name, f.name))
			}
		}
	}
	return errors.Join(problems...)
}

// of returns the objects with a use.
func (m *model) of(u use) (selected []*object) {
	for _, o := range m.objects {
		if o.use == u {
			selected = append(selected, o)
		}
	}
	return selected
}
