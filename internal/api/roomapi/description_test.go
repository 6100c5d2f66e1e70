package roomapi

import (
	"os"
	"strings"
	"testing"
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
			t.Fatalf("version %s does not describe the companion routes", version)
		}
		return same
	}
	if part("v3") != part("v4") {
		t.Error("the schemas of the companion routes differ between versions 3 and 4")
	}
}
