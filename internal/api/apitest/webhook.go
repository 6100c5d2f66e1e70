package apitest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// WebhookChecker checks the bodies of deliveries against the webhooks of a
// description. Receivers must accept unknown fields, but the checker rejects
// them, so that it finds a field that the description lacks.
type WebhookChecker struct {
	schemas   map[string]*openapi3.Schema // by event type
	uncovered map[string]bool             // "type field.of.the.body"
}

// NewWebhookChecker returns a WebhookChecker for a description.
func NewWebhookChecker(t testing.TB, description []byte) *WebhookChecker {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	w := &WebhookChecker{schemas: map[string]*openapi3.Schema{}, uncovered: map[string]bool{}}
	for eventType, item := range doc.Webhooks {
		schema := item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		w.schemas[eventType] = schema
		w.forbidUnknownFields(eventType, "", schema)
	}
	return w
}

// forbidUnknownFields makes the schema reject undescribed fields, and marks the
// described ones as not covered.
func (w *WebhookChecker) forbidUnknownFields(eventType, path string, schema *openapi3.Schema) {
	if schema.Type.Is(openapi3.TypeObject) {
		schema.AdditionalProperties = openapi3.BoolSchema{Has: openapi3.Ptr(false)}
	}
	for name, property := range schema.Properties {
		field := strings.TrimPrefix(path+"."+name, ".")
		w.uncovered[eventType+" "+field] = true
		w.forbidUnknownFields(eventType, field, property.Value)
	}
}

// EventTypes returns the event types of the description, sorted.
func (w *WebhookChecker) EventTypes() []string { return slices.Sorted(maps.Keys(w.schemas)) }

// Check checks a body against the schema of its event type.
func (w *WebhookChecker) Check(t testing.TB, body []byte) {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	eventType, _ := value["type"].(string)
	schema, known := w.schemas[eventType]
	if !known {
		t.Errorf("got %s, want a type that the description has", body)
		return
	}
	if err := schema.VisitJSON(value, openapi3.EnableFormatValidation(), openapi3.MultiErrors()); err != nil {
		t.Errorf("%s: got a body that does not match its schema, want one that does: %v\n%s", eventType, err, body)
	}
	w.markCovered(eventType, "", value)
}

func (w *WebhookChecker) markCovered(eventType, path string, value map[string]any) {
	for name, v := range value {
		field := strings.TrimPrefix(path+"."+name, ".")
		delete(w.uncovered, eventType+" "+field)
		if inner, ok := v.(map[string]any); ok {
			w.markCovered(eventType, field, inner)
		}
	}
}

// AssertCovered fails the test for each described field that no body had.
func (w *WebhookChecker) AssertCovered(t testing.TB) {
	t.Helper()
	if len(w.uncovered) > 0 {
		t.Errorf("got no body with these described fields, want one for each:\n%s",
			strings.Join(slices.Sorted(maps.Keys(w.uncovered)), "\n"))
	}
}
