package manage

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
)

// read reads the body of a request into one of the generated types. A field
// that the type does not have is refused: an operator who writes end_room for
// end_rooms must not be told that all went well.
func read[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	var into T
	body, err := httpx.ReadJSONBody(w, r)
	if err != nil {
		return into, err
	}
	return into, decode(body, &into)
}

// readOptional is read for a body that may be left out.
func readOptional[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		var none T
		return none, nil
	}
	return read[T](w, r)
}

func decode(body []byte, into any) error {
	if _, err := httpx.ParseObject(body); err != nil { // repeated fields, what follows the object
		return err
	}
	t := reflect.TypeOf(into).Elem()
	if err := checkNames(body, t, ""); err != nil {
		return err
	}
	err := json.Unmarshal(body, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fault.Invalidf("%s must be %s", wrong.Field, typeNames[typeAt(t, wrong.Field).Kind()])
	}
	return err
}

var typeNames = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false", reflect.Int: "an integer",
	reflect.Slice: "a list of strings", reflect.Struct: "an object"}

// checkNames refuses a field that a generated type does not have, at any depth.
func checkNames(value json.RawMessage, t reflect.Type, prefix string) error {
	var given map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(value, &given) != nil {
		return nil // that it is no object is for its type to say
	}
	fields := fieldsOf(t)
	for name, value := range given {
		inner, known := fields[name]
		if !known {
			var all []string
			for name := range fields {
				all = append(all, prefix+name)
			}
			slices.Sort(all)
			return fault.Invalidf("there is no field %q here, only %s", prefix+name, strings.Join(all, ", "))
		}
		if err := checkNames(value, inner, prefix+name+"."); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf returns the types of a generated type's fields by their JSON names.
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

// typeAt returns the type of a field of a generated type, or of one inside it.
func typeAt(t reflect.Type, path string) reflect.Type {
	for name := range strings.SplitSeq(path, ".") {
		t = fieldsOf(t)[name]
	}
	return t
}

// parseInteger reads a parameter of a query. The error is Invalid and names it.
func parseInteger(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fault.Invalidf("%s must be a whole number", name)
	}
	return n, nil
}
