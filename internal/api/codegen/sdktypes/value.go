package main

import (
	"errors"
	"fmt"
	"slices"
)

// value is what a schema says about one value.
type value struct {
	shape    shape
	nullable bool
	doc      string
}

// value returns the type of a schema, and adds the objects and enums that it contains. An
// object gets the name unless the schema is a reference to one with a name of its own.
func (m *model) value(s *schema, name string) (value, error) {
	v, err := m.undocumented(s, name)
	if doc := cleanDoc(s.Description); doc != "" {
		v.doc = doc
	}
	return v, err
}

func (m *model) undocumented(s *schema, name string) (value, error) {
	switch {
	case s.Ref != "":
		return m.reference(s.Ref)
	case len(s.AllOf) == 1:
		return m.value(s.AllOf[0], name)
	case len(s.AllOf) > 1:
		all, err := m.combine(s.AllOf)
		if err != nil {
			return value{}, err
		}
		return m.value(all, name)
	case s.Discriminator != nil:
		return value{shape: shape{kind: kindEvent}}, nil
	case len(s.OneOf) > 0:
		return m.oneOf(s.OneOf, name)
	}
	types := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return value{}, fmt.Errorf("the schema has the types %q, want one and perhaps null", s.Type)
	}
	sh, err := m.typed(types[0], s, name)
	return value{shape: sh, nullable: len(types) < len(s.Type)}, err
}

// typed returns the shape of a schema with one type.
func (m *model) typed(typeName string, s *schema, name string) (shape, error) {
	switch typeName {
	case "string":
		if s.Format == "date-time" {
			return shape{kind: kindTime}, nil
		}
		return shape{kind: kindString, values: s.Enum}, nil
	case "integer":
		return shape{kind: kindInteger, values: s.Enum}, nil
	case "number":
		return shape{kind: kindNumber}, nil
	case "boolean":
		return shape{kind: kindBoolean}, nil
	case "array":
		return m.container(kindList, s.Items, name)
	case "object":
		if len(s.Properties) > 0 {
			return shape{kind: kindObject, name: name}, m.addObject(name, s)
		}
		if s.Additional.schema != nil {
			return m.container(kindMap, s.Additional.schema, name)
		}
		return shape{kind: kindFree}, nil
	}
	return shape{}, fmt.Errorf("the type %q is unknown", typeName)
}

func (m *model) container(k kind, items *schema, name string) (shape, error) {
	if items == nil {
		return shape{}, errors.New("the array has no items")
	}
	v, err := m.value(items, name)
	return shape{kind: k, items: &v.shape}, err
}

// reference returns the value of a named schema. A schema that becomes an object or an
// enum gives its name to it; another one gives its description to the field.
func (m *model) reference(ref string) (value, error) {
	schemaName, target, err := m.source.lookUp(ref)
	if err != nil {
		return value{}, err
	}
	name := schemaName
	for _, key := range []string{schemaName, m.version + " " + schemaName} {
		if better := renamed[key]; better != "" {
			name = better
		}
	}
	v, err := m.value(target, name)
	switch {
	case err != nil:
		return value{}, err
	case v.shape.kind == kindObject || v.shape.kind == kindEvent:
		v.doc = ""
	case len(v.shape.values) > 1:
		v.shape.name = name
		if !slices.ContainsFunc(m.enums, func(e enum) bool { return e.name == name }) {
			m.enums = append(m.enums, enum{name, v.doc, v.shape.values})
		}
	}
	return v, nil
}

// oneOf returns a nullable value for two alternatives of which one is null, with the documentation
// of the other one. Otherwise it returns a union.
func (m *model) oneOf(alternatives []*schema, name string) (value, error) {
	var either []shape
	nullable, doc := false, ""
	for _, s := range alternatives {
		if slices.Equal(s.Type, typeNames{"null"}) {
			nullable = true
			continue
		}
		v, err := m.value(s, name)
		if err != nil {
			return value{}, err
		}
		either, doc = append(either, v.shape), v.doc
		nullable = nullable || v.nullable
	}
	if len(either) == 1 {
		return value{shape: either[0], nullable: nullable, doc: doc}, nil
	}
	return value{shape: shape{kind: kindUnion, either: either}, nullable: nullable}, nil
}

// combine returns one schema with the properties of all.
func (m *model) combine(parts []*schema) (*schema, error) {
	all := &schema{Type: typeNames{"object"}}
	for _, s := range parts {
		if s.Ref != "" {
			var err error
			if _, s, err = m.source.lookUp(s.Ref); err != nil {
				return nil, err
			}
		}
		if len(s.AllOf) > 0 {
			inner, err := m.combine(s.AllOf)
			if err != nil {
				return nil, err
			}
			all.add(inner)
		}
		all.add(s)
	}
	return all, nil
}

func (s *schema) add(part *schema) {
	s.Properties = append(s.Properties, part.Properties...)
	s.Required = append(s.Required, part.Required...)
	if s.Description == "" {
		s.Description = part.Description
	}
}
