package apitest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// RequestBody is the description of the JSON body of a request.
type RequestBody struct {
	Example    []byte     // JSON
	Properties []Property // at any depth, sorted by path
}

// Property is a property of a request body.
type Property struct {
	Path       string // the names from the body to the property, joined by dots
	AllowsNull bool   // whether the value may be null
}

// RequestBody returns the description of the body of an operation with a JSON body. It fails the
// test if the description has no example of it.
func (c *Checker) RequestBody(t testing.TB, o Operation) RequestBody {
	t.Helper()
	path := o.Path
	if len(c.doc.Servers) > 0 {
		path = strings.TrimPrefix(path, c.doc.Servers[0].URL)
	}
	content := c.doc.Paths.Value(path).GetOperation(o.Method).RequestBody.Value.Content.Get("application/json")
	if content.Example == nil {
		t.Fatalf("%s: the description has no example of the body", o.ID)
	}
	example, err := json.Marshal(content.Example)
	if err != nil {
		t.Fatal(err)
	}
	properties := propertiesOf(content.Schema.Value, "")
	slices.SortFunc(properties, func(a, b Property) int { return cmp.Compare(a.Path, b.Path) })
	return RequestBody{Example: example, Properties: properties}
}

// propertiesOf returns the properties of an object and of the objects in it. The prefix is before
// their names.
func propertiesOf(schema *openapi3.Schema, prefix string) []Property {
	var all []Property
	for name, property := range schema.Properties {
		allowsNull := property.Value.VisitJSON(nil, openapi3.EnableJSONSchema2020()) == nil
		all = append(all, Property{Path: prefix + name, AllowsNull: allowsNull})
		all = append(all, propertiesOf(property.Value, prefix+name+".")...)
	}
	for _, part := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		all = append(all, propertiesOf(part.Value, prefix)...)
	}
	return all
}
