package join_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"parley/internal/project"
	"parley/internal/store/storetest"
)

// testErrors checks the errors of every route while the room is open.
func (p *fixture) testErrors(id, early string) {
	p.t.Helper()
	big := `{"text":"` + strings.Repeat("x", 65<<10) + `"}`
	all := map[string]m{"/preview": {}, "/check": {}, "/seats": {"name": "Chen"}}
	maps.Copy(all, roomRoutes)
	all["/waiting/stop"] = m{}
	for path, in := range all {
		p.assertError(id, path, withSeatKey("short", in), 400, "invalid_request")
		p.assertError(id, path, big, 413, "body_too_large")
		res := p.checker.Do(p.t, http.MethodPost, "/api/join/rooms/"+id+path,
			http.Header{"Content-Type": {"text/plain"}}, []byte(`{}`))
		if res.StatusCode != http.StatusUnsupportedMediaType {
			p.t.Errorf("%s: text/plain: got %d, want 415", path, res.StatusCode)
		}
		p.assertError(storetest.NewID(), path, withSeatKey(otherKey, in), 404, "room_not_found")
		p.guesses.over.Store(true)
		p.assertError(storetest.NewID(), path, withSeatKey(otherKey, in), 429, "too_many_attempts")
		p.guesses.over.Store(false)
		p.calls.over.Store(true)
		p.assertError(id, path, withSeatKey(hostKey, in), 429, "too_many_attempts")
		p.calls.over.Store(false)
		if _, inRoom := roomRoutes[path]; inRoom {
			p.assertError(id, path, in, 400, "invalid_request")
			p.assertError(id, path, withSeatKey(otherKey, in), 403, "not_in_room")
			p.assertError(early, path, withSeatKey(hostKey, in), 409, "room_not_open")
		}
		if !slices.Contains(guestRoutes, path) {
			p.assertError(id, path, withSeatKey(guestKey, in), 403, "not_host")
		}
	}
	for _, c := range []struct {
		path string
		in   m
	}{
		{"/breakouts", m{"names": []string{}}},
		{"/breakouts", m{"names": []string{""}}},
		{"/breakouts", m{"names": []string{strings.Repeat("x", 61)}}},
		{"/breakouts", m{"names": make([]string, 17)}},
		{"/breakouts", m{"names": []string{"One"}, "assign": m{"somebody": 1}}},
		{"/breakouts", m{"names": "One"}},
		{"/mute", m{"identity": 1}},
		{"/unmute", m{}},
		{"/remove", m{}},
		{"/readmit", m{}},
		{"/locks", m{}},
		{"/locks", m{"locks": m{"camera": "yes"}}},
		{"/role", m{"role": "cohost"}},
		{"/role", m{"identity": "somebody", "role": "host"}},
		{"/remove", m{"identity": p.host}},
		{"/role", m{"identity": p.host, "role": "guest"}},
		{"/move", m{}},
		{"/move", m{"to": "1"}},
		{"/broadcast", m{}},
		{"/broadcast", m{"text": strings.Repeat("x", 501)}},
		{"/waiting/admit", m{"identity": 7}},
		{"/waiting/turn-away", m{}},
		{"/invitations", m{}},
		{"/invitations", m{"role": "host"}},
		{"/locks", m{"locks": m{"waiting_room": 1}}},
		{"/react", m{}},
		{"/react", m{"reaction": "fireworks"}},
		{"/hand/lower", m{"identity": 7}},
	} {
		p.assertError(id, c.path, withSeatKey(hostKey, c.in), 400, "invalid_request")
	}
	p.engine.unavailable = true
	p.assertError(id, "/broadcast", withSeatKey(hostKey, roomRoutes["/broadcast"]), 503, "unavailable")
	p.assertError(id, "/react", withSeatKey(hostKey, roomRoutes["/react"]), 503, "unavailable")
	p.engine.unavailable = false
	for _, path := range []string{"/mute", "/unmute", "/remove", "/readmit", "/role", "/waiting/admit",
		"/waiting/turn-away"} {
		p.assertError(id, path, withSeatKey(hostKey, m{"identity": "nobody", "role": "cohost"}), 404, "seat_not_found")
	}

	// Errors of a project that requires invitations.
	p.configure(project.Settings{InvitationsRequired: true})
	p.assertError(id, "/preview", m{"seat_key": otherKey}, 403, "invitation_required")
	p.assertError(id, "/check", m{"seat_key": otherKey}, 403, "invitation_required")
	p.assertError(id, "/seats", m{"name": "Chen", "seat_key": otherKey}, 403, "invitation_required")
	for path, in := range map[string]m{"/preview": {}, "/check": {}, "/seats": {"name": "Chen"}} {
		wrong := withSeatKey(otherKey, in)
		wrong["link"] = "no-such-link"
		before := p.guesses.failed.Load()
		p.assertError(id, path, wrong, 403, "invitation_required")
		if n := p.guesses.failed.Load() - before; n != 1 {
			p.t.Errorf("guesses of a wrong link at %s: got %d, want 1", path, n)
		}
	}
	if status, a := p.send(id, "/check", m{"seat_key": guestKey}); status != 200 || a.MediaToken == "" {
		p.t.Errorf("check by a participant who returns: got %d %+v, want 200 and a token", status, a)
	}
	if status, a := p.send(id, "/seats", m{"name": "Ben", "seat_key": guestKey}); status != 200 {
		p.t.Errorf("a participant who returns: got %d %+v, want 200", status, a)
	}
	p.configure(project.Settings{})
}
