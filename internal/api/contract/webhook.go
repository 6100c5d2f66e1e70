package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Webhooks holds bodies that receivers got to the webhooks of a description.
// Receivers are told that fields may be added; here none may, so that one that
// nobody described is found.
type Webhooks struct {
	schemas map[string]*openapi3.Schema // by kind
	unmet   map[string]bool             // "kind field.of.the.body"
}

// NewWebhooks loads a description for itself.
func NewWebhooks(t testing.TB, description []byte) *Webhooks {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	w := &Webhooks{schemas: map[string]*openapi3.Schema{}, unmet: map[string]bool{}}
	for kind, item := range doc.Webhooks {
		schema := item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		w.schemas[kind] = schema
		w.close(kind, "", schema)
	}
	return w
}

// close lets an object have the fields that are described and no others, and
// notes them as not met.
func (w *Webhooks) close(kind, path string, schema *openapi3.Schema) {
	if schema.Type.Is(openapi3.TypeObject) {
		schema.AdditionalProperties = openapi3.BoolSchema{Has: openapi3.Ptr(false)}
	}
	for name, property := range schema.Properties {
		field := strings.TrimPrefix(path+"."+name, ".")
		w.unmet[kind+" "+field] = true
		w.close(kind, field, property.Value)
	}
}

// Kinds returns the kinds that are described.
func (w *Webhooks) Kinds() []string { return slices.Sorted(maps.Keys(w.schemas)) }

// Check holds a body to the description of its kind.
func (w *Webhooks) Check(t testing.TB, body []byte) {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	kind, _ := value["type"].(string)
	schema, known := w.schemas[kind]
	if !known {
		t.Errorf("no webhook is described for %s", body)
		return
	}
	if err := schema.VisitJSON(value, openapi3.EnableFormatValidation(), openapi3.MultiErrors()); err != nil {
		t.Errorf("not as %s is described: %v\n%s", kind, err, body)
	}
	w.meet(kind, "", value)
}

func (w *Webhooks) meet(kind, path string, value map[string]any) {
	for name, v := range value {
		field := strings.TrimPrefix(path+"."+name, ".")
		delete(w.unmet, kind+" "+field)
		if inner, ok := v.(map[string]any); ok {
			w.meet(kind, field, inner)
		}
	}
}

// Covered fails the test for each described field that no body had.
func (w *Webhooks) Covered(t testing.TB) {
	t.Helper()
	if len(w.unmet) > 0 {
		t.Errorf("described, but in no body here:\n%s", strings.Join(slices.Sorted(maps.Keys(w.unmet)), "\n"))
	}
}
