package cli

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// parseAssignments converts NAME=VALUE arguments to the body of a change. T is the
// management API's type of the change; it defines the names and the types of the
// values. A dot separates nested names. An empty value means the default.
func parseAssignments[T any](assignments []string) (map[string]any, error) {
	known := flattenFields(reflect.ValueOf(new(T)).Elem())
	out := map[string]any{}
	for _, a := range assignments {
		name, text, ok := strings.Cut(a, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("%q is not of the form NAME=VALUE", a)}
		}
		field, ok := known[name]
		if !ok {
			return nil, usageError{fmt.Errorf("unknown setting %q, must be one of %s",
				name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))}
		}
		value, err := parseValue(field.Type(), text)
		if err != nil {
			return nil, usageError{fmt.Errorf("%s must be %w, not %q", name, err, text)}
		}
		object, last := out, name
		if outer, inner, nested := strings.Cut(name, "."); nested {
			if out[outer] == nil {
				out[outer] = map[string]any{}
			}
			object, last = out[outer].(map[string]any), inner
		}
		object[last] = value
	}
	return out, nil
}

// parseValue converts text to a value of type t. The error describes the expected
// value.
func parseValue(t reflect.Type, text string) (any, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.String:
		return text, nil
	case text == "":
		return nil, nil
	case t.Kind() == reflect.Slice:
		var list []string
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list, nil
	case t.Kind() == reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			return true, nil
		case "false", "0", "no":
			return false, nil
		}
		return nil, errors.New("true or false")
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, errors.New("an integer")
	}
	return n, nil
}

// formatValue returns a value in the form that parseValue accepts; "-" if it is
// not set.
func formatValue(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	text := fmt.Sprint(v)
	if list, ok := v.Interface().([]string); ok {
		text = strings.Join(list, ",")
	}
	if v.Kind() == reflect.Pointer || text == "" {
		return "-"
	}
	return text
}

// flattenFields returns the fields of a generated struct by their JSON names.
// Nested fields have a dot in their names.
func flattenFields(v reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		field := v.Field(i)
		if t := field.Type(); t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
			field = reflect.Zero(t.Elem())
		}
		if field.Kind() != reflect.Struct {
			all[name] = field
			continue
		}
		for inner, value := range flattenFields(field) {
			all[name+"."+inner] = value
		}
	}
	return all
}
