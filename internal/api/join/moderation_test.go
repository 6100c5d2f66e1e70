package join_test

import (
	"strings"
	"testing"
	"time"

	"parley/internal/room"
)

// TestModeration_HostsAndCoHosts goes through every action of hosts and co-hosts
// on the others, and checks its effect on them.
func TestModeration_HostsAndCoHosts(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	id, link := p.create(room.Spec{})
	enter := func(name, key string, in m) response {
		t.Helper()
		in["name"], in["seat_key"] = name, key
		status, a := p.send(id, "/seats", in)
		if status != 200 {
			t.Fatalf("seat of %s: got %d %+v, want 200", name, status, a)
		}
		p.ParticipantJoined(a.SessionID, a.Identity, "PA_"+name, time.Now())
		return a
	}
	coKey := strings.Repeat("c", 43)
	host, guest, co := enter("Ada", hostKey, m{"link": link}), enter("Ben", guestKey, m{}), enter("Chen", coKey, m{})
	target := func(a response, more m) m {
		in := m{"identity": a.Identity}
		for name, value := range more {
			in[name] = value
		}
		return in
	}

	p.assertNoContent(id, "/role", withSeatKey(hostKey, target(co, m{"role": "cohost"})))
	for path, in := range map[string]m{"/mute": target(host, nil), "/unmute": target(host, nil),
		"/remove": target(host, nil), "/readmit": target(host, nil), "/role": target(host, m{"role": "guest"})} {
		p.assertError(id, path, withSeatKey(coKey, in), 403, "not_host")
	}
	p.assertError(id, "/role", withSeatKey(hostKey, m{"identity": guest.Identity, "role": "host"}), 400,
		"invalid_request")

	p.assertNoContent(id, "/mute", withSeatKey(coKey, nil))
	p.assertNoContent(id, "/mute", withSeatKey(coKey, target(guest, nil)))
	p.assertNoContent(id, "/unmute", withSeatKey(coKey, target(guest, nil)))
	p.assertNoContent(id, "/locks", withSeatKey(coKey, m{"locks": m{"microphone": true, "chat": true}}))
	p.assertError(id, "/unmute", withSeatKey(coKey, target(guest, nil)), 409, "microphone_locked")
	if status, a := p.send(id, "/preview", m{"seat_key": guestKey}); status != 200 ||
		a.You.MaySend["microphone"] != false || a.You.MaySend["camera"] != true {
		t.Errorf("preview with a locked microphone: got %d %+v, want 200 and only the camera", status, a.You)
	}
	p.engine.unavailable = true
	p.assertError(id, "/mute", withSeatKey(coKey, target(guest, nil)), 503, "unavailable")
	p.engine.unavailable = false

	p.assertNoContent(id, "/remove", withSeatKey(coKey, target(guest, nil)))
	p.assertError(id, "/preview", m{"seat_key": guestKey}, 403, "removed")
	p.assertError(id, "/seats", m{"name": "Ben", "seat_key": guestKey}, 403, "removed")
	p.assertError(id, "/move", withSeatKey(guestKey, m{"to": 0}), 403, "not_in_room")
	status, list := p.send(id, "/people", withSeatKey(hostKey, nil))
	if status != 200 || len(list.People) != 2 || len(list.Removed) != 1 || list.Removed[0]["name"] != "Ben" {
		t.Errorf("people after a removal: got %d %+v, want 200, two people, and Ben removed", status, list)
	}
	p.assertNoContent(id, "/readmit", withSeatKey(hostKey, target(guest, nil)))
	p.assertNoContent(id, "/role", withSeatKey(hostKey, target(co, m{"role": "guest"})))
	p.assertError(id, "/mute", withSeatKey(coKey, nil), 403, "not_host")
	if a := enter("Ben", guestKey, m{}); a.Identity != guest.Identity {
		t.Errorf("after readmission: got %+v, want the identity %s", a, guest.Identity)
	}
}
