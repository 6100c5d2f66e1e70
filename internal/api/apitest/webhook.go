package apitest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// WebhookChecker holds bodies that receivers got to the webhooks of a description.
// Receivers are told that fields may be added; here none may, so that one that
// nobody described is found.
type WebhookChecker struct {
	schemas   map[string]*openapi3.Schema // by kind
	uncovered map[string]bool             // "kind field.of.the.body"
}

// NewWebhookChecker loads a description for itself.
func NewWebhookChecker(t testing.TB, description []byte) *WebhookChecker {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	w := &WebhookChecker{schemas: map[string]*openapi3.Schema{}, uncovered: map[string]bool{}}
	for kind, item := range doc.Webhooks {
		schema := item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		w.schemas[kind] = schema
		w.forbidUnknownFields(kind, "", schema)
	}
	return w
}

// forbidUnknownFields lets an object have the fields that are described and no others, and
// notes them as not met.
func (w *WebhookChecker) forbidUnknownFields(kind, path string, schema *openapi3.Schema) {
	if schema.Type.Is(openapi3.TypeObject) {
		schema.AdditionalProperties = openapi3.BoolSchema{Has: openapi3.Ptr(false)}
	}
	for name, property := range schema.Properties {
		field := strings.TrimPrefix(path+"."+name, ".")
		w.uncovered[kind+" "+field] = true
		w.forbidUnknownFields(kind, field, property.Value)
	}
}

// EventTypes returns the kinds that are described.
func (w *WebhookChecker) EventTypes() []string { return slices.Sorted(maps.Keys(w.schemas)) }

// Check holds a body to the description of its kind.
func (w *WebhookChecker) Check(t testing.TB, body []byte) {
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
	w.markCovered(kind, "", value)
}

func (w *WebhookChecker) markCovered(kind, path string, value map[string]any) {
	for name, v := range value {
		field := strings.TrimPrefix(path+"."+name, ".")
		delete(w.uncovered, kind+" "+field)
		if inner, ok := v.(map[string]any); ok {
			w.markCovered(kind, field, inner)
		}
	}
}

// AssertCovered fails the test for each described field that no body had.
func (w *WebhookChecker) AssertCovered(t testing.TB) {
	t.Helper()
	if len(w.uncovered) > 0 {
		t.Errorf("described, but in no body here:\n%s", strings.Join(slices.Sorted(maps.Keys(w.uncovered)), "\n"))
	}
}
