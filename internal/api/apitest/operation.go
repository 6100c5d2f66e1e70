package apitest

import (
	"cmp"
	"maps"
	"slices"
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
			all = append(all, Operation{
				ID:      o.OperationID,
				Method:  method,
				Path:    prefix + path,
				HasJSON: hasJSON,
				Public:  len(security) == 0,
				Schemes: schemes,
			})
		}
	}
	slices.SortFunc(all, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return all
}
