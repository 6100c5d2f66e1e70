package manage

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"parley/internal/api/web"
	"parley/internal/fault"
)

// read reads the body of a request into one of the generated types. A field
// that the type does not have is refused: an operator who writes end_room for
// end_rooms must not be told that all went well.
func read[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	var into T
	body, err := web.Body(w, r)
	if err != nil {
		return into, err
	}
	return into, decode(body, &into)
}

// readIfAny is read for a body that may be left out.
func readIfAny[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		var none T
		return none, nil
	}
	return read[T](w, r)
}

func decode(body []byte, into any) error {
	if _, err := web.Parse(body); err != nil { // repeated fields, what follows the object
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return fault.Invalidf("the body must be a JSON object")
	}
	known := names(into)
	for name := range fields {
		if !slices.Contains(known, name) {
			return fault.Invalidf("there is no field %q here, only %s", name, strings.Join(known, ", "))
		}
	}
	err := json.Unmarshal(body, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fault.Invalidf("%s must be %s", wrong.Field, kinds[wrong.Type.Kind()])
	}
	return err
}

var kinds = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false", reflect.Int: "an integer"}

// names returns the JSON names of a generated type's fields.
func names(of any) []string {
	t := reflect.TypeOf(of).Elem()
	var all []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}
