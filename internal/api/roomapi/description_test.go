package roomapi

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The types here are generated from version 4's description: version 3 must
// say the same of them, word for word.
func TestDescription_SameInBothVersions(t *testing.T) {
	t.Parallel()
	part := func(version string) string {
		raw, err := os.ReadFile("../" + version + "/openapi.yaml")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, began := strings.Cut(string(raw), "\n    StartScheduleRoomRequest:\n")
		same, _, ended := strings.Cut(rest, "\n    RescheduleRoomRequest:\n")
		if !began || !ended {
			t.Fatalf("version %s: got no schemas of the companion routes, want them", version)
		}
		return same
	}
	if diff := cmp.Diff(part("v4"), part("v3")); diff != "" {
		t.Errorf("schemas of the companion routes in version 3, want those of version 4 (-want +got):\n%s", diff)
	}
}

// A call whose response is a 5xx may have taken effect, because the server learns nothing of a commit after its
// connection to the database is lost. No document says otherwise.
func TestDescription_ErrorsOfTheServer(t *testing.T) {
	t.Parallel()
	// Internal and Unavailable, each also of the companion routes. Version 5 only reads.
	for file, want := range map[string]int{"../v3/openapi.yaml": 4, "../v4/openapi.yaml": 4, "../v5/openapi.yaml": 0,
		"../../../docs/api/errors.md": 2} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.ToLower(string(raw)), "nothing was changed"); n > 0 {
			t.Errorf("%s: got %d times that nothing was changed, want none", file, n)
		}
		if n := strings.Count(string(raw), "may have taken effect"); n != want {
			t.Errorf("%s: got %d times that a call may have taken effect, want %d", file, n, want)
		}
	}
}
