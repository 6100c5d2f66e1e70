package join_test

import (
	"net/http"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/store/storetest"
)

// testConnectionCheck checks that visitors who may see the preview may test the
// connection, within the limits.
func (p *fixture) testConnectionCheck(id, early string) {
	p.t.Helper()
	for _, room := range []string{id, early} {
		before := p.checkLimit.failed.Load()
		if status, a := p.send(room, "/check", m{}); status != 200 || a.MediaToken != "a moment" {
			p.t.Errorf("check of a room: got %d %+v, want 200 and a token", status, a)
		}
		if n := p.checkLimit.failed.Load() - before; n != 1 {
			p.t.Errorf("attempts of a check: got %d, want 1", n)
		}
	}
	p.checkLimit.over.Store(true)
	p.assertError(id, "/check", m{}, 429, "check_busy")
	p.checkLimit.over.Store(false)
	p.engine.checkErr = &fault.Error{Kind: fault.Unavailable, Code: "check_busy", Message: "too many",
		RetryAfter: time.Second}
	p.assertError(id, "/check", m{}, 503, "check_busy")
	p.engine.checkErr = nil
	p.newSeats.over.Store(true)
	p.assertError(id, "/seats", m{"name": "Zoe", "seat_key": strings.Repeat("z", 43)}, 429, "too_many_joins")
	p.newSeats.over.Store(false)
	p.engine.unavailable = true
	p.assertError(id, "/check", m{}, 503, "unavailable")
	p.engine.unavailable = false
	p.assertError(storetest.NewID(), "/check", m{}, 404, "room_not_found")
	p.assertError(id, "/check", "[]", 400, "invalid_request")
	p.assertError(id, "/check", `{"text":"`+strings.Repeat("x", 65<<10)+`"}`, 413, "body_too_large")
	res := p.checker.Do(p.t, http.MethodPost, "/api/join/rooms/"+id+"/check",
		http.Header{"Content-Type": {"text/plain"}}, []byte(`{}`))
	if res.StatusCode != http.StatusUnsupportedMediaType {
		p.t.Errorf("text/plain: got %d, want 415", res.StatusCode)
	}
	projects := project.NewService(p.db, time.Now, storetest.NewID, func(string) {})
	if err := projects.SetStatus(p.t.Context(), p.project.ID, project.Inactive); err != nil {
		p.t.Fatal(err)
	}
	p.assertError(id, "/check", m{}, 403, "project_inactive")
	if err := projects.SetStatus(p.t.Context(), p.project.ID, project.Active); err != nil {
		p.t.Fatal(err)
	}
}
