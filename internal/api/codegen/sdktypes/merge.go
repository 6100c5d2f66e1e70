package main

import (
	"fmt"
	"reflect"
	"slices"
)

// merge makes an object fit what another version has under its name: a field that only one
// of them requires is optional.
func (o *object) merge(other *object) error {
	if o.use != other.use {
		return fmt.Errorf("%s is in requests and in responses", o.name)
	}
	for i := range o.fields {
		if !slices.ContainsFunc(other.fields, func(f field) bool { return f.name == o.fields[i].name }) {
			o.fields[i].required = false
		}
	}
	for _, f := range other.fields {
		i := slices.IndexFunc(o.fields, func(known field) bool { return known.name == f.name })
		if i < 0 {
			f.required = false
			o.fields = append(o.fields, f)
			continue
		}
		known := &o.fields[i]
		wide, ok := widest(known.shape, f.shape)
		if !ok {
			return fmt.Errorf("%s.%s has two types", o.name, f.name)
		}
		known.shape = wide
		known.required = known.required && f.required
		known.nullable = known.nullable || f.nullable
		if known.doc == "" {
			known.doc = f.doc
		}
	}
	return nil
}

// widest returns the shape that includes both.
func widest(a, b shape) (shape, bool) {
	includes := func(outer, inner shape) bool {
		return reflect.DeepEqual(outer, inner) ||
			slices.ContainsFunc(outer.either, func(s shape) bool { return reflect.DeepEqual(s, inner) })
	}
	switch {
	case includes(a, b):
		return a, true
	case includes(b, a):
		return b, true
	}
	return shape{}, false
}
