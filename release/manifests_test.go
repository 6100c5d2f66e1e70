package main

import (
	"bytes"
	"os"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// Kubernetes knows every field of the manifests.
func TestManifests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../deploy/kubernetes/parley.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() any{
		"StatefulSet": func() any { return new(apps.StatefulSet) },
		"Service":     func() any { return new(core.Service) },
		"Ingress":     func() any { return new(networking.Ingress) },
	}
	seen := 0
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatal(err)
		}
		newObject, known := kinds[head.Kind]
		if !known {
			t.Errorf("got the kind %q, want one of this test", head.Kind)
			continue
		}
		seen++
		if err := yaml.UnmarshalStrict(document, newObject()); err != nil {
			t.Errorf("%s: got %v, want every field known", head.Kind, err)
		}
	}
	if seen != len(kinds) {
		t.Errorf("got %d manifests, want %d", seen, len(kinds))
	}
}
