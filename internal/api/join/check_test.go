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

// sendCheck sends a request of a check that an operator has created.
func (p *fixture) sendCheck(path string, in any) (int, response) {
	p.t.Helper()
	return p.post("/api/join/checks"+path, in)
}

func (p *fixture) assertCheckError(path string, in any, status int, code string) {
	p.t.Helper()
	if got, a := p.sendCheck(path, in); got != status || a.Error.Code != code || a.Error.Message == "" {
		p.t.Errorf("/checks%s %v: got %d %+v, want %d %s", path, in, got, a.Error, status, code)
	}
}

// testCheckOfOperator checks that the code of an operator starts one check, whose key gets tokens until the
// report. It returns a key.
func (p *fixture) testCheckOfOperator() (key string) {
	p.t.Helper()
	_, code, err := p.checks.Create(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	status, started := p.sendCheck("", m{"code": code.Reveal()})
	if status != 200 || len(started.Key) < 20 {
		p.t.Fatalf("start a check: got %d %+v, want 200 and a key", status, started)
	}
	before := p.guesses.failed.Load()
	p.assertCheckError("", m{"code": code.Reveal()}, 404, "check_not_found")
	if n := p.guesses.failed.Load() - before; n != 1 {
		p.t.Errorf("guesses after a used code: got %d, want 1", n)
	}
	if status, a := p.sendCheck("/token", m{"key": started.Key}); status != 200 || a.MediaToken != "a moment" {
		p.t.Errorf("token of a check: got %d %+v, want 200 and a token", status, a)
	}
	report := func(paths any) m { return m{"key": started.Key, "paths": paths} }
	p.assertCheckError("/report", report([]string{}), 400, "invalid_request")
	p.assertCheckError("/report", report(m{"udp": true}), 400, "invalid_request")
	p.assertCheckError("/report", report(m{"udp": m{"address": strings.Repeat("a", 301)}}), 400, "invalid_request")
	udp := m{"offered": true, "works": true, "address": "192.0.2.1:7882"}
	if status, a := p.sendCheck("/report", report(m{"udp": udp})); status != 204 {
		p.t.Errorf("report: got %d %+v, want 204", status, a.Error)
	}
	p.assertCheckError("/token", m{"key": started.Key}, 404, "check_not_found")
	p.assertCheckError("/report", report(m{"udp": m{}}), 404, "check_not_found")

	p.checkLimit.over.Store(true)
	p.assertCheckError("", m{"code": code.Reveal()}, 429, "check_busy")
	p.assertCheckError("/token", m{"key": started.Key}, 429, "check_busy")
	p.checkLimit.over.Store(false)
	for _, path := range []string{"", "/token", "/report"} {
		p.calls.over.Store(true)
		p.assertCheckError(path, m{}, 429, "too_many_attempts")
		p.calls.over.Store(false)
		p.assertCheckError(path, "[]", 400, "invalid_request")
		p.assertCheckError(path, `{"text":"`+strings.Repeat("x", 65<<10)+`"}`, 413, "body_too_large")
		res := p.checker.Do(p.t, http.MethodPost, "/api/join/checks"+path, http.Header{"Content-Type": {"text/plain"}},
			[]byte(`{}`))
		if res.StatusCode != http.StatusUnsupportedMediaType {
			p.t.Errorf("/checks%s, text/plain: got %d, want 415", path, res.StatusCode)
		}
	}
	return started.Key
}
