package v4

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
)

func newMeetingFixture(t testing.TB, b *Fixture) *MeetingFixture {
	return NewMeetingFixture(t, b, Version{
		Prefix:      "/api/v4",
		ReturnsLink: true,
		HasEvents:   true,
		Serve: func(service MeetingRooms, limits roomapi.Limits, options roomapi.Options) http.Handler {
			options.Limits = limits
			return NewHandler(service, b.Projects, b.Keys, newWebhooks(b), time.Now, options)
		},
		StartAt:             func(at time.Time) string { return at.Format(minuteLayout) },
		InvalidStartMessage: "start_at must have the form YYYY-MM-DDTHH:MM, such as 2027-01-31T09:30, without seconds or offset, not ",
	}, Description(t))
}

func TestRequests_NullAsDescribed(t *testing.T) {
	t.Parallel()
	newMeetingFixture(t, NewFixture(t)).CheckNulls(t)
}

func TestCompanionRoutes(t *testing.T) {
	t.Parallel()
	CheckCompanionRoutes(t, newMeetingFixture)
}

// A join event is signed over its body alone, as older calls are, and can be
// used for no call.
func TestJoinEvent_NotAcceptedAsCall(t *testing.T) {
	t.Parallel()
	f := newMeetingFixture(t, NewFixture(t))
	f.CheckJoinEvents(t, func(roomID string, body []byte) *http.Response {
		return f.Checker.Do(t, http.MethodPost, "/api/v4/webhook/get_room_events/"+roomID,
			SignedHeaders(f.Issued.ProjectSecret, body), body)
	})
}

// What is captured of a call for a room's events serves for that part of that
// room: neither for another room, nor for what came before.
func TestRoomEvents_CapturedCallOnlyForSameTarget(t *testing.T) {
	t.Parallel()
	f := newMeetingFixture(t, NewFixture(t))
	one, other := f.CreateQuick(t), f.CreateQuick(t)
	target := func(id, query string) string { return "/api/v4/rooms/" + id + "/events" + query }
	captured := V5SignedHeaders(f.Issued, http.MethodGet, target(one, "?after=1"), "", nil)
	for _, elsewhere := range []string{target(other, "?after=1"), target(one, "?after=0"), target(one, ""),
		target(one, "?after=1&limit=2"), target(strings.ToUpper(one), "?after=1")} {
		AssertError(t, f.Checker.Do(t, http.MethodGet, elsewhere, captured, nil), 401, "invalid signature")
	}
	AssertError(t, f.Checker.Do(t, http.MethodGet, target(one, "?after=1"), captured, []byte("{}")), 401,
		"invalid signature")
	if answer := f.Checker.Do(t, http.MethodGet, target(one, "?after=1"), captured,
		nil); answer.StatusCode != http.StatusOK {
		t.Errorf("captured call with its own target: got status %d, want 200", answer.StatusCode)
	}
}

func TestRandomCalls_HaveDescribedResponses(t *testing.T) {
	t.Parallel()
	newMeetingFixture(t, NewFixture(t)).CheckRandomCalls(t, 1000)
}
