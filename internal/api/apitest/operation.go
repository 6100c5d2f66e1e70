package apitest

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// Operation is one operation of a description.
type Operation struct {
	ID      string
	Method  string
	Path    string // with the server's prefix, and the parameters in braces
	HasJSON bool   // whether the request has a JSON body
	Public  bool   // whether the description requires no authentication
	// Schemes are the names of the security schemes that authenticate a request together, sorted.
	// If the description has alternatives, they are those of the first one.
	Schemes []string
	Query   []string // the names of the parameters in the query, sorted
	// Arrays and Fields are the names of the fields of the JSON response with status 200, sorted: those whose values are
	// arrays, and all.
	Arrays, Fields []string
}

// Operations returns every operation of the description, sorted by path and
// method.
func (c *Checker) Operations() []Operation {
	prefix := ""
	if len(c.doc.Servers) > 0 {
		prefix = c.doc.Servers[0].URL
	}
	var all []Operation
	for path, item := range c.doc.Paths.Map() {
		for method, o := range item.Operations() {
			security := c.doc.Security
			if o.Security != nil {
				security = *o.Security
			}
			var schemes []string
			if len(security) > 0 {
				schemes = slices.Sorted(maps.Keys(security[0]))
			}
			hasJSON := o.RequestBody != nil && o.RequestBody.Value.Content.Get("application/json") != nil
			arrays, fields := responseFields(o)
			all = append(all, Operation{
				ID:      o.OperationID,
				Method:  method,
				Path:    prefix + path,
				HasJSON: hasJSON,
				Public:  len(security) == 0,
				Schemes: schemes,
				Query:   queryOf(item, o),
				Arrays:  arrays,
				Fields:  fields,
			})
		}
	}
	slices.SortFunc(all, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return all
}

// queryOf returns the names of the parameters in the query of an operation, sorted.
func queryOf(item *openapi3.PathItem, o *openapi3.Operation) []string {
	var names []string
	for _, parameter := range slices.Concat(item.Parameters, o.Parameters) {
		if parameter.Value.In == openapi3.ParameterInQuery {
			names = append(names, parameter.Value.Name)
		}
	}
	slices.Sort(names)
	return names
}

// responseFields returns the names of the fields of the JSON response with status 200, sorted: those whose values are
// arrays, and all.
func responseFields(o *openapi3.Operation) (arrays, fields []string) {
	response := o.Responses.Status(http.StatusOK)
	if response == nil {
		return nil, nil
	}
	content := response.Value.Content.Get("application/json")
	if content == nil {
		return nil, nil
	}
	schemas := []*openapi3.Schema{content.Schema.Value}
	for len(schemas) > 0 {
		schema := schemas[0]
		schemas = schemas[1:]
		for name, property := range schema.Properties {
			if fields = append(fields, name); property.Value.Type.Is(openapi3.TypeArray) {
				arrays = append(arrays, name)
			}
		}
		for _, part := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
			schemas = append(schemas, part.Value)
		}
	}
	slices.Sort(arrays)
	slices.Sort(fields)
	return arrays, fields
}
