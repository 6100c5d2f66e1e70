package join_test

import (
	"fmt"
	"strings"
)

// testWaitingRoom checks that hosts can admit and deny people in the waiting
// room.
func (p *fixture) testWaitingRoom(id string) {
	p.t.Helper()
	keys := []string{strings.Repeat("1", 43), strings.Repeat("2", 43), strings.Repeat("3", 43)}
	p.assertNoContent(id, "/locks", withSeatKey(hostKey, m{"locks": m{"waiting_room": true}}))
	for i, name := range []string{"Dora", "Emil", "Fay"} {
		if status, a := p.send(id, "/preview", m{"seat_key": keys[i]}); status != 200 || !a.You.Waits {
			p.t.Errorf("%s: preview with a waiting room: got %d %+v, want 200 and that they wait", name, status, a.You)
		}
		if status, a := p.send(id, "/seats", m{"name": name, "seat_key": keys[i]}); status != 202 || a.AskAgainIn != 2 {
			p.t.Errorf("seat of %s: got %d %+v, want 202 and to ask again in 2", name, status, a)
		}
	}
	status, list := p.send(id, "/people", withSeatKey(hostKey, nil))
	if status != 200 || len(list.Waiting) != 3 || list.Waiting[0]["name"] != "Dora" {
		p.t.Fatalf("people: got %d, waiting %+v, want 200 and three, Dora first", status, list.Waiting)
	}
	// A wrong link that is one too many holds no seat.
	_, counted := p.send(id, "/preview", m{})
	p.guesses.over.Store(true)
	p.assertError(id, "/seats", m{"name": "Guess", "seat_key": strings.Repeat("5", 43), "link": "wrong"}, 429,
		"too_many_attempts")
	p.guesses.over.Store(false)
	p.guesses.failed.Add(-1) // the only guess of this test
	if _, now := p.send(id, "/preview", m{}); now.Taken != counted.Taken {
		p.t.Errorf("taken seats after a refused guess: got %d, want %d", now.Taken, counted.Taken)
	}
	gus := strings.Repeat("4", 43)
	if status, a := p.send(id, "/seats", m{"name": "Gus", "seat_key": gus}); status != 202 || a.HostPresent {
		p.t.Errorf("Gus: got %d %+v, want 202 and that no host is present", status, a)
	}
	p.assertNoContent(id, "/waiting/stop", withSeatKey(gus, nil))
	if _, now := p.send(id, "/people", withSeatKey(hostKey, nil)); len(now.Waiting) != 3 {
		p.t.Errorf("people after one stopped waiting: got %+v, want three", now.Waiting)
	}
	p.assertNoContent(id, "/waiting/turn-away", withSeatKey(hostKey, m{"identity": list.Waiting[0]["identity"]}))
	p.assertError(id, "/preview", m{"seat_key": keys[0]}, 403, "turned_away")
	p.assertError(id, "/seats", m{"name": "Dora", "seat_key": keys[0]}, 403, "turned_away")
	p.assertError(id, "/waiting/admit", withSeatKey(hostKey, m{"identity": list.Waiting[0]["identity"]}), 404,
		"seat_not_found")
	p.assertNoContent(id, "/waiting/admit", withSeatKey(hostKey, m{"identity": list.Waiting[1]["identity"]}))
	p.assertNoContent(id, "/waiting/admit", withSeatKey(hostKey, nil))
	for i, name := range []string{"Emil", "Fay"} {
		if status, a := p.send(id, "/seats", m{"name": name, "seat_key": keys[i+1]}); status != 200 ||
			a.Identity != list.Waiting[i+1]["identity"] {
			p.t.Errorf("seat of %s: got %d %+v, want 200 and the identity %v", name, status, a,
				list.Waiting[i+1]["identity"])
		}
	}
	for n := range 50 {
		p.send(id, "/seats", m{"name": "Crowd", "seat_key": strings.Repeat("x", 40) + fmt.Sprint(n)})
	}
	p.assertError(id, "/seats", m{"name": "Gus", "seat_key": strings.Repeat("y", 43)}, 409, "waiting_room_full")
	p.assertNoContent(id, "/locks", withSeatKey(hostKey, m{"locks": m{"waiting_room": false}}))
	if status, a := p.send(id, "/invitations", withSeatKey(hostKey, m{"role": "guest"})); status != 200 ||
		!strings.HasPrefix(a.Link, "https://meet.example.org/r/"+id+"#t=") {
		p.t.Errorf("invitation: got %d, link %q, want 200 and a link to the room", status, a.Link)
	}
}
