package v3

import (
	"net/http"
	"testing"
	"time"

	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
)

func newMeetingFixture(t testing.TB, b *Fixture) *MeetingFixture {
	ended := Options{Deprecation: Deprecation{Sunset: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}}
	return NewMeetingFixture(t, b, Version{
		Prefix: "/api/v3",
		Serve: func(service MeetingRooms, limits roomapi.Limits, options roomapi.Options) http.Handler {
			options.Limits = limits
			return NewHandler(service, b.Keys, time.Now, Options{Options: options})
		},
		StartAt:             func(at time.Time) string { return at.Format(time.RFC3339) },
		InvalidStartMessage: "start_at must be an ISO 8601 date and time such as 2027-01-31T09:30:00Z or 2027-01-31T10:30:00+01:00, not ",
		EndedHandler:        NewHandler(b.Rooms, b.Keys, time.Now, ended),
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

func TestRandomCalls_HaveDescribedResponses(t *testing.T) {
	t.Parallel()
	newMeetingFixture(t, NewFixture(t)).CheckRandomCalls(t, 1000)
}
