package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestDescriptions_TagsAreDefined checks that each operation and webhook of the descriptions of the API has a tag,
// by which the reference groups them, and that each tag has a description.
func TestDescriptions_TagsAreDefined(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../internal/api/*/openapi.yaml")
	if err != nil || len(names) != 5 {
		t.Fatalf("got the descriptions %v, error %v, want five", names, err)
	}
	type operation struct {
		OperationID string `yaml:"operationId"`
		Tags        []string
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Tags            []struct{ Name, Description string }
			Paths, Webhooks map[string]struct{ Get, Put, Post, Delete, Patch operation }
		}
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		var defined []string
		for _, tag := range d.Tags {
			defined = append(defined, tag.Name)
			if tag.Description == "" {
				t.Errorf("%s: the tag %s has no description", name, tag.Name)
			}
		}
		operations := 0
		for _, group := range []map[string]struct{ Get, Put, Post, Delete, Patch operation }{d.Paths, d.Webhooks} {
			for path, methods := range group {
				for _, o := range []operation{methods.Get, methods.Put, methods.Post, methods.Delete, methods.Patch} {
					if o.OperationID == "" {
						continue
					}
					operations++
					if len(o.Tags) != 1 || !slices.Contains(defined, o.Tags[0]) {
						t.Errorf("%s: %s of %s has the tags %v, want one of %v", name, o.OperationID, path, o.Tags, defined)
					}
				}
			}
		}
		if operations < 5 {
			t.Errorf("%s: got %d operations, want at least 5", name, operations)
		}
	}
}
