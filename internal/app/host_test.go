package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/api/contract"
	"parley/internal/room"
)

// hostOperations are what hosts do with a room, in an order in which each goes
// well: a body that is right but for the seat key, and what is answered.
var hostOperations = []struct {
	name, fields string
	status       int
}{
	{"breakouts", `,"names":["Left","Right"]`, 200},
	{"broadcast", `,"text":"Five more minutes"`, 204},
	{"move", `,"to":1`, 204},
	{"breakouts/close", ``, 204},
	{"end", ``, 204},
}

// postJSON sends a body to a room, and returns the status.
func postJSON(t *testing.T, c *contract.Checker, roomID, operation, kind, body string) int {
	t.Helper()
	return c.Do(t, http.MethodPost, "/api/join/rooms/"+roomID+"/"+operation, http.Header{"Content-Type": {kind}}, []byte(body)).StatusCode
}

// testHosts meets every documented answer of what hosts do, but for a database
// that is gone.
func testHosts(t *testing.T, s *server, c *contract.Checker) {
	const plain = "application/json"
	key := func(k, fields string) string { return `{"seat_key":"` + k + `"` + fields + `}` }
	id, link := s.createRoom(3, 300)
	_, token, _ := strings.Cut(link, "#t=")
	for k, more := range map[string]string{hostKey: `,"name":"Amina","link":"` + token + `"`, guestKey: `,"name":"Ben"`} {
		if status := postJSON(t, c, id, "seats", plain, key(k, more)); status != 200 {
			t.Fatalf("a seat: %d", status)
		}
	}
	p, err := s.app.projects.Get(t.Context(), s.ProjectID)
	if err != nil {
		t.Fatal(err)
	}
	scheduled, err := s.app.rooms.Schedule(t.Context(), p, room.Request{Type: room.Video, Title: "Later", MaxParticipants: 2, StartAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range hostOperations {
		for _, refused := range []struct {
			room, kind, body string
			status           int
		}{
			{id, plain, `{"seat_key":5` + o.fields + `}`, 400},
			{id, plain, key(strings.Repeat("n", 43), o.fields), 403},
			{"nowhere", plain, key(hostKey, o.fields), 404},
			{scheduled.ID, plain, key(hostKey, o.fields), 409},
			{id, plain, key(strings.Repeat("x", 65<<10), o.fields), 413},
			{id, "text/plain", key(hostKey, o.fields), 415},
		} {
			if status := postJSON(t, c, refused.room, o.name, refused.kind, refused.body); status != refused.status {
				t.Errorf("%s: %d, want %d", o.name, status, refused.status)
			}
		}
		if o.name != "move" { // everybody may move themselves
			if status := postJSON(t, c, id, o.name, plain, key(guestKey, o.fields)); status != 403 {
				t.Errorf("%s by a guest: %d", o.name, status)
			}
		}
		if status := postJSON(t, c, id, o.name, plain, key(hostKey, o.fields)); status != o.status {
			t.Errorf("%s by the host: %d, want %d", o.name, status, o.status)
		}
	}
	for _, o := range hostOperations {
		if status := postJSON(t, c, id, o.name, plain, key(hostKey, o.fields)); status != 410 {
			t.Errorf("%s in a room that is over: %d", o.name, status)
		}
	}
}
