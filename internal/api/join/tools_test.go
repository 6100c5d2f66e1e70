package join_test

import (
	"strings"
	"testing"
	"time"

	"parley/internal/room"
)

// What hosts do with the others, and what becomes of those.
func TestTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	id, link := p.create(room.Request{})
	enter := func(name, key string, in m) answer {
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
	on := func(a answer, more m) m {
		in := m{"identity": a.Identity}
		for name, value := range more {
			in[name] = value
		}
		return in
	}

	p.done(id, "/role", with(hostKey, on(co, m{"role": "cohost"})))
	for path, in := range map[string]m{"/mute": on(host, nil), "/unmute": on(host, nil), "/remove": on(host, nil), "/readmit": on(host, nil), "/role": on(host, m{"role": "guest"})} {
		p.refused(id, path, with(coKey, in), 403, "not_host")
	}
	p.refused(id, "/role", with(hostKey, m{"identity": guest.Identity, "role": "host"}), 400, "invalid_request")

	p.done(id, "/mute", with(coKey, nil))
	p.done(id, "/mute", with(coKey, on(guest, nil)))
	p.done(id, "/unmute", with(coKey, on(guest, nil)))
	p.done(id, "/locks", with(coKey, m{"locks": m{"microphone": true, "chat": true}}))
	p.refused(id, "/unmute", with(coKey, on(guest, nil)), 409, "microphone_locked")
	if status, a := p.send(id, "/preview", m{"seat_key": guestKey}); status != 200 || a.You.MaySend["microphone"] != false || a.You.MaySend["camera"] != true {
		t.Errorf("%d %+v", status, a.You)
	}
	p.engine.away = true
	p.refused(id, "/mute", with(coKey, on(guest, nil)), 503, "unavailable")
	p.engine.away = false

	p.done(id, "/remove", with(coKey, on(guest, nil)))
	p.refused(id, "/preview", m{"seat_key": guestKey}, 403, "removed")
	p.refused(id, "/seats", m{"name": "Ben", "seat_key": guestKey}, 403, "removed")
	p.refused(id, "/move", with(guestKey, m{"to": 0}), 403, "not_in_room")
	status, who := p.send(id, "/people", with(hostKey, nil))
	if status != 200 || len(who.People) != 2 || len(who.Removed) != 1 || who.Removed[0]["name"] != "Ben" {
		t.Errorf("%d %+v", status, who)
	}
	p.done(id, "/readmit", with(hostKey, on(guest, nil)))
	p.done(id, "/role", with(hostKey, on(co, m{"role": "guest"})))
	p.refused(id, "/mute", with(coKey, nil), 403, "not_host")
	if a := enter("Ben", guestKey, m{}); a.Identity != guest.Identity {
		t.Errorf("%+v", a)
	}
}
