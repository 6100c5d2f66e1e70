package v4

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/api/companion"
	"parley/internal/api/companion/companiontest"
	"parley/internal/api/legacy"
	. "parley/internal/api/legacy/legacytest"
)

func house(t testing.TB, b *Bundle) *companiontest.House {
	return companiontest.NewHouse(t, b, companiontest.Version{
		Prefix: "/api/v4", OwnLink: true, Events: true,
		Serve: func(rooms companiontest.Rooms, limits legacy.Limits, options companion.Options) http.Handler {
			return NewHandler(rooms, b.Projects, b.Keys, hooks(b), time.Now, Options{Limits: limits, Companion: options})
		},
		StartAt:    func(at time.Time) string { return at.Format(minute) },
		WrongStart: "start_at must have the form YYYY-MM-DDTHH:MM, such as 2027-01-31T09:30, without seconds or offset, not ",
	}, Description(t))
}

func TestCompanions(t *testing.T) {
	t.Parallel()
	t.Run("meeting", func(t *testing.T) { t.Parallel(); house(t, New(t)).Run(t) })
	t.Run("reschedule", func(t *testing.T) { t.Parallel(); house(t, New(t)).Reschedule(t) })
	t.Run("order of checks", func(t *testing.T) { t.Parallel(); house(t, New(t)).Order(t) })
	t.Run("replays", func(t *testing.T) { t.Parallel(); house(t, New(t)).Replays(t) })
	t.Run("body signatures", func(t *testing.T) { t.Parallel(); house(t, New(t)).BodySignatures(t) })
}

// A join event is signed over its body alone, as older calls are, and can be
// used for no call.
func TestJoinEventIsNoCall(t *testing.T) {
	t.Parallel()
	h := house(t, New(t))
	h.JoinEvents(t, func(roomID string, body []byte) *http.Response {
		return h.Checker.Do(t, http.MethodPost, "/api/v4/webhook/get_room_events/"+roomID, Signed(h.Issued.ProjectSecret, body), body)
	})
}

// What is captured of a call for a room's events serves for that part of that
// room: neither for another room, nor for what came before.
func TestCapturedCallForEvents(t *testing.T) {
	t.Parallel()
	h := house(t, New(t))
	one, other := h.Quick(t), h.Quick(t)
	target := func(id, query string) string { return "/api/v4/rooms/" + id + "/events" + query }
	captured := companiontest.Timed(h.Issued, http.MethodGet, target(one, "?after=1"), "", nil)
	for _, elsewhere := range []string{target(other, "?after=1"), target(one, "?after=0"), target(one, ""), target(one, "?after=1&limit=2"), target(strings.ToUpper(one), "?after=1")} {
		Says(t, h.Checker.Do(t, http.MethodGet, elsewhere, captured, nil), 401, "invalid signature")
	}
	Says(t, h.Checker.Do(t, http.MethodGet, target(one, "?after=1"), captured, []byte("{}")), 401, "invalid signature")
	if answer := h.Checker.Do(t, http.MethodGet, target(one, "?after=1"), captured, nil); answer.StatusCode != http.StatusOK {
		t.Errorf("as it was captured: %d", answer.StatusCode)
	}
}
