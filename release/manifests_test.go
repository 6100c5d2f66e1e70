package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// Kubernetes knows every field of the manifests, and the server every variable.
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
		object := newObject()
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Errorf("%s: got %v, want every field known", head.Kind, err)
		}
		if set, ok := object.(*apps.StatefulSet); ok {
			for _, variable := range set.Spec.Template.Spec.Containers[0].Env {
				checkVariable(t, variable.Name)
			}
		}
	}
	if seen != len(kinds) {
		t.Errorf("got %d manifests, want %d", seen, len(kinds))
	}
}

// Compose knows every field of its file, and the server every variable.
func TestCompose(t *testing.T) {
	t.Parallel()
	const file = "../deploy/compose.yaml"
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		ConfigFiles: []types.ConfigFile{{Filename: file}},
		Environment: types.Mapping{},
	}, func(o *loader.Options) { o.SetProjectName("parley", true) })
	if err != nil {
		t.Fatal(err)
	}
	service, ok := project.Services["parley"]
	if !ok || len(project.Services) != 1 {
		t.Fatalf("got the services %v, want parley alone", project.ServiceNames())
	}
	for name := range service.Environment {
		checkVariable(t, name)
	}
	if !service.ReadOnly || len(service.CapDrop) != 1 || service.CapDrop[0] != "ALL" {
		t.Errorf("got a file system that is read-only: %t, and the dropped capabilities %v, want true and ALL",
			service.ReadOnly, service.CapDrop)
	}
	// Without an IPv6 network, all visitors over IPv6 have the address of Docker's proxy.
	for name := range service.Networks {
		if enabled := project.Networks[name].EnableIPv6; enabled == nil || !*enabled {
			t.Errorf("got the network %s without IPv6, want it with IPv6", name)
		}
	}
	if len(service.Networks) == 0 {
		t.Error("got no network of the service, want the default one")
	}
}

// checkVariable fails unless the documentation has a setting with an environment variable.
func checkVariable(t *testing.T, name string) {
	t.Helper()
	settings, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(settings, []byte("`"+name+"`")) {
		t.Errorf("got the variable %s, want one of docs/configuration.md", name)
	}
}
