package manage

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"parley/internal/operator"
	"parley/internal/testkit"
)

// sentEvent is a server-sent event, or a comment.
type sentEvent struct {
	name string
	data m
}

// allowance is a limit that as many calls pass.
type allowance int

func (a *allowance) Allow(string) (bool, time.Duration) {
	*a--
	return *a >= 0, time.Second
}

// openStream follows paths with the token. The returned functions read the next event and let
// an interval pass.
func (b *fixture) openStream(t *testing.T, paths ...string) (next func() sentEvent, pass func(), stop func()) {
	t.Helper()
	ticks, stopping := make(chan time.Time), make(chan struct{})
	services := b.services(b.tokens, fakePlans{}, nil)
	services.Stopping, services.After = stopping, func(time.Duration) <-chan time.Time { return ticks }
	services.Rate = new(allowance(1 + len(paths))) // the call and its first results
	server := httptest.NewServer(withMiddleware(NewHandler(services)))
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		server.URL+"/api/manage/stream?"+url.Values{"path": paths}.Encode(), nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream: got %d %v, want 200 and events", resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	next = func() sentEvent {
		t.Helper()
		var e sentEvent
		for lines.Scan() {
			line := lines.Text()
			switch name, value, _ := strings.Cut(line, ": "); {
			case line == "":
				return e
			case name == "":
				e.name = ":" + value
			case name == "event":
				e.name = value
			case name == "data":
				must(t, json.Unmarshal([]byte(value), &e.data))
			}
		}
		return sentEvent{name: "end"}
	}
	pass = func() {
		t.Helper()
		select {
		case ticks <- time.Now():
		case <-time.After(testkit.Timeout):
			t.Fatalf("stream: got no wait for the next interval in %s, want one", testkit.Timeout)
		}
	}
	return next, pass, func() { close(stopping) }
}

func testStream(t *testing.T, b *fixture) {
	b.t = t
	owner := b.token
	defer func() { b.token = owner }()
	p := b.createProject()["project_id"].(string)
	path := "/projects/" + p

	stopping := make(chan struct{})
	close(stopping)
	services := b.services(b.tokens, fakePlans{}, nil)
	services.Stopping = stopping
	services.After = func(time.Duration) <-chan time.Time { return nil }
	b.contract.WithHandler(withMiddleware(NewHandler(services)), func() {
		resp := b.contract.Do(t, "GET", "/api/manage/stream?path=/organizations", http.Header{
			"Authorization": {"Bearer " + b.token}}, nil)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a stream: got %d, want 200", resp.StatusCode)
		}
	})

	next, pass, stop := b.openStream(t, path, "/projects/"+unknownID, path)
	first, second := next(), next()
	if first.name != "result" || first.data["path"] != path || first.data["status"] != 200.0 ||
		first.data["body"].(m)["name"] != "Lessons" {
		t.Errorf("first event: got %v, want the project", first)
	}
	if second.data["status"] != 404.0 || second.data["body"].(m)["error"].(m)["code"] != "project_not_found" {
		t.Errorf("second event: got %v, want that the project does not exist", second)
	}
	pass()
	b.mustCall("PATCH", path, m{"name": "Classes"})
	pass()
	if changed := next(); changed.data["path"] != path || changed.data["body"].(m)["name"] != "Classes" {
		t.Errorf("after a change: got %v, want the new name", changed)
	}
	for range 4 {
		pass()
	}
	if comment := next(); !strings.HasPrefix(comment.name, ":") {
		t.Errorf("after 14 seconds: got %v, want a comment", comment)
	}
	stop()
	if ended := next(); ended.name != "ended" || ended.data["code"] != "stopping" {
		t.Errorf("when the service stops: got %v, want the event ended", ended)
	}

	_, clear, err := b.tokens.Create(t.Context(), operator.NewToken{Name: "i", Role: operator.Integrator,
		ProjectIDs: operator.ProjectIDs{p}})
	must(t, err)
	b.token = clear.Reveal()
	limited := b.services(b.tokens, fakePlans{}, nil)
	limited.Rate = exhausted{}
	b.contract.WithHandler(withMiddleware(NewHandler(limited)), func() {
		b.assertError("GET", "/stream?path=/rooms", nil, 429, "rate_limited",
			"more than 10 calls a second: try again in a moment")
	})
	limited.Rate = new(allowance(2)) // the call and one of two results
	b.contract.WithHandler(withMiddleware(NewHandler(limited)), func() {
		b.assertError("GET", "/stream?path=/rooms&path=/projects", nil, 429, "rate_limited",
			"more than 10 calls a second: try again in a moment")
	})
	b.token = owner
	for query, want := range map[string]string{
		"":                                   "path is required in the query, 1 to 8 different ones, not 0",
		"path=rooms":                         `path must be a path of this API such as /rooms?state=active, not "rooms"`,
		"path=%zz":                           "path in the query is not percent-encoded correctly",
		"path=/stream":                       "path must not be /stream, which cannot be followed",
		"path=/stream?":                      "path must not be /stream, which cannot be followed",
		"path=/" + strings.Repeat("a", 2048): "path must have at most 2048 bytes",
		"path=/1&path=/2&path=/3&path=/4&path=/5&path=/6&path=/7&path=/8&path=/9": "path is required in the query, " +
			"1 to 8 different ones, not 9",
	} {
		b.assertError("GET", "/stream?"+query, nil, 400, "invalid_request", want)
	}
}

// A token that is revoked ends its streams at the next repetition.
func TestStream_RevokedToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.token
	created := b.mustCall("POST", "/tokens", m{"name": "i", "role": "integrator",
		"project_ids": []any{b.createProject()["project_id"]}})
	b.token = created["token"].(string)
	next, pass, _ := b.openStream(t, "/rooms", "/tokens", "/nothing", "/projects/x/suspend")
	statuses := map[any]any{}
	for range 4 {
		e := next()
		statuses[e.data["path"]] = e.data["status"]
	}
	for path, want := range map[string]float64{"/rooms": 200, "/tokens": 403, "/nothing": 404,
		"/projects/x/suspend": 405} {
		if statuses[path] != want {
			t.Errorf("%s: got %v, want %v", path, statuses[path], want)
		}
	}
	b.token = owner
	b.mustCall("POST", "/tokens/"+created["token_id"].(string)+"/revoke", nil)
	pass()
	if ended := next(); ended.name != "ended" || ended.data["code"] != "token_revoked" {
		t.Errorf("after the token was revoked: got %v, want the event ended", ended)
	}
	if end := next(); end.name != "end" {
		t.Errorf("after the event ended: got %v, want the end of the response", end)
	}
}

// A caller has a maximum of streams, and a node has one.
func TestStreams_Limits(t *testing.T) {
	var s streams
	var leave []func()
	enterAs := func(role operator.Role, caller string) error {
		l, err := s.enter(operator.Caller{ID: caller, Role: role})
		if err == nil {
			leave = append(leave, l)
		}
		return err
	}
	enter := func(caller string) error { return enterAs(operator.Auditor, caller) }
	for range maxStreamsOfIntegrator {
		if err := enterAs(operator.Integrator, "customer"); err != nil {
			t.Fatal(err)
		}
	}
	if err := enterAs(operator.Integrator, "customer"); err == nil ||
		!strings.Contains(err.Error(), "you have 3 streams") {
		t.Errorf("one stream too many of an integrator: got error %v, want: you have 3 streams", err)
	}
	for range maxStreamsOfCaller {
		if err := enter("a"); err != nil {
			t.Fatal(err)
		}
	}
	if err := enter("a"); err == nil || !strings.Contains(err.Error(), "you have 16 streams open already") {
		t.Errorf("one stream too many of a caller: got error %v, want: you have 16 streams", err)
	}
	for i := range maxStreams - maxStreamsOfCaller - maxStreamsOfIntegrator {
		if i == maxStreams-reservedStreams-maxStreamsOfCaller-maxStreamsOfIntegrator {
			if err := enterAs(operator.Integrator, "another"); err == nil {
				t.Error("an integrator with only the reserved streams left: got no error, want one")
			}
		}
		if err := enter(string(rune('b' + i/maxStreamsOfCaller))); err != nil {
			t.Fatal(err)
		}
	}
	if err := enter("z"); err == nil || !strings.Contains(err.Error(), "this node serves 256 streams already") {
		t.Errorf("one stream too many of the node: got error %v, want: this node serves 256 streams", err)
	}
	for _, l := range leave {
		l()
	}
	if s.all != 0 || len(s.byCaller) != 0 {
		t.Errorf("after all have left: got %d streams of %d callers, want none", s.all, len(s.byCaller))
	}
}
