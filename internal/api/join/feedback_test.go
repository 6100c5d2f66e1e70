package join_test

import (
	"net/http"
	"strings"
	"time"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// testFeedback checks that everybody who was in a room may rate it once, also after
// its end, and that the first rating becomes an event.
func (p *fixture) testFeedback(id, early string) {
	p.t.Helper()
	const path = "/feedback"
	good, bad := m{"rating": "good"}, m{"rating": "bad"}
	for _, c := range []struct {
		in      m
		message string
	}{
		{m{"seat_key": hostKey}, "rating is required"},
		{m{"seat_key": hostKey, "rating": "fine"}, "rating must be good or bad"},
		{m{"seat_key": hostKey, "rating": 1}, "rating must be a string"},
		{withSeatKey("short", good), "seat_key must have 22 to 128 characters"},
	} {
		if a := p.assertError(id, path, c.in, 400, "invalid_request"); a.Error.Message != c.message {
			p.t.Errorf("%v: got %q, want %q", c.in, a.Error.Message, c.message)
		}
	}
	p.assertError(id, path, withSeatKey(strings.Repeat("n", 43), good), 403, "not_in_room")
	p.assertError(early, path, withSeatKey(hostKey, good), 403, "not_in_room")
	p.assertError(id, path, `{"rating":"`+strings.Repeat("x", 65<<10)+`"}`, 413, "body_too_large")
	res := p.checker.Do(p.t, http.MethodPost, "/api/join/rooms/"+id+path,
		http.Header{"Content-Type": {"text/plain"}}, []byte(`{}`))
	if res.StatusCode != http.StatusUnsupportedMediaType {
		p.t.Errorf("text/plain: got %d, want 415", res.StatusCode)
	}
	p.assertError(storetest.NewID(), path, withSeatKey(hostKey, good), 404, "room_not_found")
	p.guesses.over.Store(true)
	p.assertError(storetest.NewID(), path, withSeatKey(hostKey, good), 429, "too_many_attempts")
	p.guesses.over.Store(false)

	id, link := p.create(room.Spec{})
	status, a := p.send(id, "/seats", m{"name": "Ada", "seat_key": hostKey, "link": link})
	if status != 200 {
		p.t.Fatalf("reserve a seat: got %d %+v, want 200", status, a)
	}
	p.ParticipantJoined(a.SessionID, a.Identity, "PA_1", time.Now())
	for _, in := range []m{bad, bad, good} {
		p.assertNoContent(id, path, withSeatKey(hostKey, in))
	}
	all, err := storetest.Events(p.t.Context(), p.db, id)
	if err != nil {
		p.t.Fatal(err)
	}
	var given []event.Feedback
	for _, e := range all {
		if e.Type == event.FeedbackGiven {
			given = append(given, *e.Data.Feedback)
		}
	}
	if len(given) != 1 || given[0].Rating != "bad" || given[0].Role != "host" || given[0].Identity == "" {
		p.t.Errorf("got events %+v, want one of the host with the first rating", given)
	}
}
