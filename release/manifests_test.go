package main

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const (
	// defaultStopWithin is the default of PARLEY_STOP_WITHIN, and stopMargin is how much longer a stop may take.
	defaultStopWithin = 10 * time.Second
	stopMargin        = 15 * time.Second
)

// Kubernetes knows every field of the manifests, and the server every variable. The server has enough time to stop.
func TestManifests(t *testing.T) {
	t.Parallel()
	objects := map[string]func() any{
		"StatefulSet":         func() any { return new(apps.StatefulSet) },
		"Service":             func() any { return new(core.Service) },
		"Ingress":             func() any { return new(networking.Ingress) },
		"PodDisruptionBudget": func() any { return new(policy.PodDisruptionBudget) },
	}
	for file, want := range map[string][]string{
		"parley.yaml": {"StatefulSet", "Service", "Ingress"},
		"nodes.yaml":  {"StatefulSet", "Service", "PodDisruptionBudget"},
	} {
		text, err := os.ReadFile("../deploy/kubernetes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var head struct{ Kind string }
			if err := yaml.Unmarshal(document, &head); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			kinds = append(kinds, head.Kind)
			if objects[head.Kind] == nil {
				continue
			}
			object := objects[head.Kind]()
			if err := yaml.UnmarshalStrict(document, object); err != nil {
				t.Errorf("%s: %s: got %v, want every field known", file, head.Kind, err)
			}
			if set, ok := object.(*apps.StatefulSet); ok {
				checkPod(t, file, set.Spec.Template.Spec)
			}
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s: got the kinds %v, want %v", file, kinds, want)
		}
	}
}

// checkPod checks the variables and the time to stop of a pod with the server.
func checkPod(t *testing.T, file string, pod core.PodSpec) {
	t.Helper()
	server, stopWithin := pod.Containers[0], defaultStopWithin
	for _, variable := range server.Env {
		checkVariable(t, variable.Name)
		if variable.Name == "PARLEY_STOP_WITHIN" {
			var err error
			if stopWithin, err = time.ParseDuration(variable.Value); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	needed := stopWithin + stopMargin
	if server.Lifecycle != nil {
		needed += time.Duration(server.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	}
	if got := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; got < needed {
		t.Errorf("%s: got %s to stop, want at least %s", file, got, needed)
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
	if grace := service.StopGracePeriod; grace == nil || time.Duration(*grace) < defaultStopWithin+stopMargin {
		t.Errorf("got %v to stop, want at least %s", grace, defaultStopWithin+stopMargin)
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
