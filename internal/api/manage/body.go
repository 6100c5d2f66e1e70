package manage

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// read reads the body of a request into a generated type T. An unknown field is
// an error, so that an operator who writes end_room for end_rooms notices.
func read[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	var dst T
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return dst, err
	}
	return dst, decode(body, &dst)
}

// readOptional is read for an optional body. It returns the zero value without
// one.
func readOptional[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		var zero T
		return zero, nil
	}
	return read[T](w, r)
}

func decode(body []byte, dst any) error {
	if _, err := httpx.ParseObject(body); err != nil { // also rejects duplicate fields and data after the object
		return err
	}
	t := reflect.TypeOf(dst).Elem()
	if err := checkNames(body, t, ""); err != nil {
		return err
	}
	err := json.Unmarshal(body, dst)
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return fault.Invalidf("%s must be %s", typeErr.Field, typeNames[typeAt(t, typeErr.Field).Kind()])
	}
	return err
}

var typeNames = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false",
	reflect.Int: "an integer", reflect.Slice: "a list of strings", reflect.Struct: "an object"}

// checkNames returns an error for a field that t does not have, at any depth.
func checkNames(value json.RawMessage, t reflect.Type, prefix string) error {
	var members map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(value, &members) != nil {
		return nil // json.Unmarshal reports a value that is not an object
	}
	fields := fieldsOf(t)
	for name, value := range members {
		fieldType, known := fields[name]
		if !known {
			var all []string
			for name := range fields {
				all = append(all, prefix+name)
			}
			slices.Sort(all)
			return fault.Invalidf("unknown field %q, the fields are %s", prefix+name, strings.Join(all, ", "))
		}
		if err := checkNames(value, fieldType, prefix+name+"."); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf maps the JSON names of the fields of a generated type to their types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all[name] = t.Field(i).Type
		if all[name].Kind() == reflect.Pointer {
			all[name] = all[name].Elem()
		}
	}
	return all
}

// typeAt returns the type of the field at a dotted path of a generated type.
func typeAt(t reflect.Type, path string) reflect.Type {
	for name := range strings.SplitSeq(path, ".") {
		t = fieldsOf(t)[name]
	}
	return t
}

// parseInteger parses the query parameter name. The error is Invalid.
func parseInteger(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fault.Invalidf("%s must be a whole number", name)
	}
	return n, nil
}

func parseTime(name string, text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(*text)) // RFC 3339, section 5.6: t and z are T and Z
	if err != nil {
		return t, fault.Invalidf("%s must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not %q", name, *text)
	}
	return t, nil
}

// parsePeriod parses the parameters since and before of a list. A time that is absent is zero.
func parsePeriod(query map[string]string) (since, before time.Time, err error) {
	parse := func(name string) (time.Time, error) {
		text, sent := query[name]
		if !sent {
			return time.Time{}, nil
		}
		return parseTime(name, &text)
	}
	if since, err = parse("since"); err != nil {
		return since, before, err
	}
	if before, err = parse("before"); err == nil && !before.IsZero() && !since.Before(before) {
		err = fault.Invalidf("before must be later than since")
	}
	return since, before, err
}
