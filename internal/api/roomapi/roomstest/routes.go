package roomstest

import (
	"io"
	"net/http"
	"testing"

	"parley/internal/api/apitest"
)

// CheckDescription checks that a version serves its openapi.yaml, read from the directory of the test, at a path.
func CheckDescription(t *testing.T, c *apitest.Checker, path string) {
	want := string(Description(t))
	answer := c.Do(t, http.MethodGet, path, nil, nil)
	served, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || string(served) != want {
		t.Errorf("description: got status %d, error %v, %d bytes, want 200 and the %d bytes of openapi.yaml",
			answer.StatusCode, err, len(served), len(want))
	}
	AssertError(t, c.Do(t, http.MethodPost, path, nil, nil), http.StatusMethodNotAllowed,
		"this path takes GET, HEAD, not POST")
}

// CheckCompanionRoutes runs each test of the companion routes with its own fixture.
func CheckCompanionRoutes(t *testing.T, newFixture func(t testing.TB, b *Fixture) *MeetingFixture) {
	for name, check := range map[string]func(*MeetingFixture, *testing.T){
		"meeting":         (*MeetingFixture).CheckMeeting,
		"reschedule":      (*MeetingFixture).CheckReschedule,
		"order of checks": (*MeetingFixture).CheckErrorOrder,
		"replays":         (*MeetingFixture).CheckReplays,
		"body signatures": (*MeetingFixture).CheckBodySignatures,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(newFixture(t, NewFixture(t)), t)
		})
	}
}
