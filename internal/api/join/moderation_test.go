package join_test

import (
	"strings"
	"testing"
	"time"

	"parley/internal/room"
)

// What hosts do with the others, and what becomes of those.
func TestModeration_HostsAndCoHosts(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	id, link := p.create(room.CreateRequest{})
	enter := func(name, key string, in m) response {
		t.Helper()
		in["name"], in["seat_key"] = name, key
		status, a := p.send(id, "/seats", in)
		if status != 200 {
			t.Fatalf("%s: %d %+v", name, status, a)
		}
		p.ParticipantJoined(a.SessionID, a.Identity, "PA_"+name, time.Now())
		return a
	}
	coKey := strings.Repeat("c", 43)
	host, guest, co := enter("Ada", hostKey, m{"link": link}), enter("Ben", guestKey, m{}), enter("Chen", coKey, m{})
	on := func(a response, more m) m {
		in := m{"identity": a.Identity}
		for name, value := range more {
			in[name] = value
		}
		return in
	}

	p.assertNoContent(id, "/role", withSeatKey(hostKey, on(co, m{"role": "cohost"})))
	for path, in := range map[string]m{"/mute": on(host, nil), "/unmute": on(host, nil), "/remove": on(host, nil), "/readmit": on(host, nil), "/role": on(host, m{"role": "guest"})} {
		p.assertError(id, path, withSeatKey(coKey, in), 403, "not_host")
	}
	p.assertError(id, "/role", withSeatKey(hostKey, m{"identity": guest.Identity, "role": "host"}), 400, "invalid_request")

	p.assertNoContent(id, "/mute", withSeatKey(coKey, nil))
	p.assertNoContent(id, "/mute", withSeatKey(coKey, on(guest, nil)))
	p.assertNoContent(id, "/unmute", withSeatKey(coKey, on(guest, nil)))
	p.assertNoContent(id, "/locks", withSeatKey(coKey, m{"locks": m{"microphone": true, "chat": true}}))
	p.assertError(id, "/unmute", withSeatKey(coKey, on(guest, nil)), 409, "microphone_locked")
	if status, a := p.send(id, "/preview", m{"seat_key": guestKey}); status != 200 || a.You.MaySend["microphone"] != false || a.You.MaySend["camera"] != true {
		t.Errorf("%d %+v", status, a.You)
	}
	p.engine.unavailable = true
	p.assertError(id, "/mute", withSeatKey(coKey, on(guest, nil)), 503, "unavailable")
	p.engine.unavailable = false

	p.assertNoContent(id, "/remove", withSeatKey(coKey, on(guest, nil)))
	p.assertError(id, "/preview", m{"seat_key": guestKey}, 403, "removed")
	p.assertError(id, "/seats", m{"name": "Ben", "seat_key": guestKey}, 403, "removed")
	p.assertError(id, "/move", withSeatKey(guestKey, m{"to": 0}), 403, "not_in_room")
	status, who := p.send(id, "/people", withSeatKey(hostKey, nil))
	if status != 200 || len(who.People) != 2 || len(who.Removed) != 1 || who.Removed[0]["name"] != "Ben" {
		t.Errorf("%d %+v", status, who)
	}
	p.assertNoContent(id, "/readmit", withSeatKey(hostKey, on(guest, nil)))
	p.assertNoContent(id, "/role", withSeatKey(hostKey, on(co, m{"role": "guest"})))
	p.assertError(id, "/mute", withSeatKey(coKey, nil), 403, "not_host")
	if a := enter("Ben", guestKey, m{}); a.Identity != guest.Identity {
		t.Errorf("%+v", a)
	}
}
