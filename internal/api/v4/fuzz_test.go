package v4

import (
	"testing"

	. "parley/internal/api/legacy/legacytest"
	"parley/internal/project"
)

// FuzzOperations sends rightly signed bodies of any content to each route:
// none may be a 500, and each refusal must say something.
func FuzzOperations(f *testing.F) {
	b, handler := setup(f, Options{})
	routes := operations(f, b)
	for i, op := range routes {
		f.Add(byte(i), Encode(f, op.fields()))
		for _, tc := range op.refusals {
			f.Add(byte(i), tc.Build(f, b, op.fields()))
		}
	}
	f.Fuzz(func(t *testing.T, route byte, body []byte) {
		op := routes[int(route)%len(routes)]
		Fuzzed(t, handler, b, op.method, op.target, b.Issued.ProjectSecret, body)
		Must(t, b.Projects.SetStatus(t.Context(), b.Project.ID, project.Active)) // the body may have switched it off
	})
}
