package manage

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/overview"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

func testOverview(t *testing.T, b *fixture) {
	testkit.WithinOne(t, time.Hour, 30*time.Second)
	b.t = t
	owner := b.token
	defer func() { b.token = owner }()
	must(t, b.db.Write(storetest.Patient(t.Context()), b.rooms.Deregister)) // the nodes of other tests
	p := b.createProject()["project_id"].(string)
	before := b.mustCall("GET", "/overview", nil)
	b.mustCall("GET", "/overview?project_id="+p, nil)
	live := b.createRoom(p)
	b.join(live, "Amina")
	b.assertHourWithin(p, 6, 1, 1)
	b.join(live, "Chen")
	b.assertHourWithin(p, 6, 1, 2)
	b.calls.Record(requestlog.Call{API: "v3", ProjectID: p, Status: 201, ReceivedAt: time.Now()}, nil)
	failing := b.createProject()["project_id"].(string)
	for range 3 {
		b.calls.Record(requestlog.Call{API: "v4", ProjectID: failing, Status: 401, ReceivedAt: time.Now()}, nil)
	}
	b.calls.CountRejected("v3", "unknown_project", netip.Addr{})
	must(t, b.calls.Flush(t.Context()))
	b.mustCall("POST", "/projects/"+p+"/keys/rotate", m{"overlap": 3600})
	b.findings = []overview.Finding{{ID: "redis_unavailable", Level: overview.Error, Text: "No Redis.",
		Action: "Start it."}}

	o := b.mustCall("GET", "/overview", nil)
	if o["live_rooms"] != before["live_rooms"].(float64)+1 || o["participants"] != before["participants"].(float64)+2 {
		t.Errorf("got %v rooms and %v participants, want one and two more than %v and %v", o["live_rooms"],
			o["participants"], before["live_rooms"], before["participants"])
	}
	if findings := o["findings"].([]any); len(findings) < 2 || findings[0].(m)["id"] != "redis_unavailable" {
		t.Errorf("findings: got %v, want redis_unavailable first, and the overlap", findings)
	}
	if o["nodes"] == nil || o["project_id"] != nil {
		t.Errorf("got %v, want nodes and no project", o)
	}
	mine := b.mustCall("GET", "/overview?project_id="+p, nil)
	want := m{"live_rooms": 1.0, "participants": 2.0, "project_id": p,
		"connection_types": m{"udp": 2.0, "tcp": 0.0, "turn": 0.0, "unknown": 0.0}}
	for name, value := range want {
		if diff := cmp.Diff(value, mine[name]); diff != "" {
			t.Errorf("%s of the project (-want +got):\n%s", name, diff)
		}
	}
	if calls := mine["calls"].(m); calls["accepted"] != 1.0 || calls["rejected"] != 0.0 || calls["recorded"] != true {
		t.Errorf("calls of the project: got %v, want one accepted", calls)
	}
	if calls := o["calls"].(m); calls["rejected"].(float64) < 1 {
		t.Errorf("calls of all projects: got %v, want a rejected one", calls)
	}
	if most := o["calls"].(m)["most_rejected"]; !slices.ContainsFunc(most.([]any), func(one any) bool {
		return cmp.Equal(one, m{"project_id": failing, "accepted": 0.0, "rejected": 3.0})
	}) {
		t.Errorf("projects with the most rejected calls: got %v, want %s with 3", most, failing)
	}
	if most, sent := mine["calls"].(m)["most_rejected"]; sent {
		t.Errorf("projects with the most rejected calls, of one project: got %v, want none", most)
	}
	findings := mine["findings"].([]any)
	if len(findings) != 1 || findings[0].(m)["id"] != "overlap_ending" || findings[0].(m)["project_id"] != p ||
		!slices.Contains(findings[0].(m)["commands"].([]any), any("parley key revoke-overlap "+p)) {
		t.Errorf("findings of the project: got %v, want the overlap with its commands", findings)
	}
	hours := mine["hours"].([]any)
	last := hours[len(hours)-1].(m)
	if len(hours) != 24 || last["rooms"] != 1.0 || last["peak_participants"] != 2.0 ||
		last["hour"] != time.Now().UTC().Truncate(time.Hour).Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("hours: got %d, the last %v, want 24 and one room with two people", len(hours), last)
	}
	_, token, err := b.tokens.Create(t.Context(), operator.NewToken{Name: "i", Role: operator.Integrator,
		ProjectIDs: operator.ProjectIDs{p}})
	must(t, err)
	b.token = token.Reveal()
	if own := b.mustCall("GET", "/overview", nil); own["project_id"] != p || own["nodes"] != nil {
		t.Errorf("overview of an integrator: got %v, want that of the project without nodes", own)
	}
	b.assertError("GET", "/overview?project_id="+unknownID, nil, 404, "project_not_found", noProject)
	b.token = owner
	b.assertError("GET", "/overview?project_id="+unknownID, nil, 404, "project_not_found", noProject)
	b.assertError("GET", "/overview?project_id=a&project_id=b", nil, 400, "invalid_request",
		"project_id must be sent at most once")
}

// assertHourWithin reads the overview of a project, each time a second later, and fails if the last hour does not show
// these rooms and people within so many seconds. Hours that show less than what is live are not kept for a minute.
func (b *fixture) assertHourWithin(project string, seconds int, rooms, peak float64) {
	b.t.Helper()
	var last m
	for range seconds {
		hours := b.mustCall("GET", "/overview?project_id="+project, nil)["hours"].([]any)
		last = hours[len(hours)-1].(m)
		if last["rooms"] == rooms && last["peak_participants"] == peak {
			return
		}
	}
	b.t.Errorf("the last hour after %d seconds: got %v, want %v rooms and at most %v people", seconds, last, rooms, peak)
}

func testNodes(t *testing.T, b *fixture) {
	b.t = t
	now := time.Now().Truncate(time.Millisecond)
	b.heartbeatAt("n1", now)
	nodes := b.mustCall("GET", "/nodes", nil)["nodes"].([]any)
	var found m
	for _, n := range nodes {
		if n.(m)["node"] == "n1" {
			found = n.(m)
		}
	}
	want := m{"node": "n1", "version": "v1.2.3", "state": "live", "this_node": false,
		"started_at": httpx.FormatTime(now.Add(-time.Hour)), "last_seen_at": httpx.FormatTime(now), "sessions": 0.0,
		"people": 0.0, "relayed_people": 0.0, "redis": "ok"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("node n1 (-want +got):\n%s", diff)
	}

	const noOtherNode = "no other node can take the meetings of this node: stop it, and its pages reconnect when it runs again"
	b.assertError("POST", "/nodes/n1/drain", m{}, 409, "no_other_node", noOtherNode)
	b.heartbeat("n2")
	b.assertError("POST", "/nodes/n1/drain", m{"within": 86401}, 400, "invalid_request",
		"within must be between 0 and 86400, not 86401")
	b.assertError("POST", "/nodes/n3/drain", m{}, 404, "node_not_found",
		"there is no such node: parley node list shows all")
	drained := b.mustCall("POST", "/nodes/n1/drain", m{"within": 120})
	by, err := time.Parse(time.RFC3339, drained["drain_by"].(string))
	if left := time.Until(by); err != nil || drained["state"] != "draining" || left < time.Minute || left > 2*time.Minute {
		t.Errorf("drain n1: got %v, want it draining for two minutes", drained)
	}
	b.assertError("POST", "/nodes/n2/drain", m{}, 409, "no_other_node", noOtherNode)
	if n := b.mustCall("POST", "/nodes/n1/cancel-drain", nil); n["state"] != "live" || n["drain_by"] != nil {
		t.Errorf("cancel the drain of n1: got %v, want it live", n)
	}

	setDrain := func(d room.Drain) {
		must(t, b.db.Write(t.Context(), func(ctx context.Context) error {
			_, _, err := b.db.SetDrain(ctx, "n1", d)
			return err
		}))
	}
	setDrain(room.Drain{StartedAt: now}) // as the node itself, when it was asked to stop
	defer setDrain(room.Drain{})
	for _, n := range b.mustCall("GET", "/nodes", nil)["nodes"].([]any) {
		if n := n.(m); n["node"] == "n1" && (n["state"] != "draining" || n["drain_by"] != nil) {
			t.Errorf("n1, which stops: got %v, want it draining without an end", n)
		}
	}
	const stopping = "the node is stopping: wait until it has stopped, then start it again if you need it"
	b.assertError("POST", "/nodes/n1/cancel-drain", nil, 409, "node_stopping", stopping)
	b.assertError("POST", "/nodes/n1/drain", m{}, 409, "node_stopping", stopping)
}

// heartbeat records that a node runs.
func (b *fixture) heartbeat(node string) { b.heartbeatAt(node, time.Now()) }

func (b *fixture) heartbeatAt(node string, at time.Time) {
	b.t.Helper()
	must(b.t, b.db.Write(storetest.Patient(b.t.Context()), func(ctx context.Context) error {
		return b.db.RecordHeartbeat(ctx, room.Node{
			ID:        node,
			Version:   "v1.2.3",
			StartedAt: at.Add(-time.Hour),
			LastAlive: at,
			Redis:     room.RedisOK,
		})
	}))
}

func testServerSettings(t *testing.T, b *fixture) {
	b.t = t
	got := b.mustCall("GET", "/settings", nil)["settings"]
	want := []any{m{"name": "listen", "flag": "--listen", "environment": "PARLEY_LISTEN", "value": "127.0.0.1:8080",
		"source": "default", "secret": false, "help": "Address to listen on."}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// fakeCheck finds the client that sends the header fake: of another project, with a wrong
// signature, beyond the limit, or else right.
func fakeCheck(r *http.Request, projectID string, body []byte) (requestlog.SignatureCheck, error) {
	info := httpx.FromContext(r.Context())
	info.Caller = httpx.Caller{ProjectID: projectID, KeySlot: "current", ClockSkew: 3, HasTimestamp: true}
	check := requestlog.SignatureCheck{Text: requestlog.BodySignedCall{Message: body}.Text(), Matches: true}
	switch r.Header.Get("Fake") {
	case "foreign":
		info.Caller.ProjectID = unknownID
	case "wrong":
		info.Caller.KeySlot, info.Cause, check.Matches = "", requestlog.CauseBadSignature, false
		info.Explain = func(context.Context) (cause, hint string) { return "", requestlog.HintHex }
	case "retired":
		info.Caller.KeySlot, info.Cause, check.Matches = "", requestlog.CauseUnknownKey, false
		info.Explain = func(context.Context) (cause, hint string) { return requestlog.CauseRetiredKey, "" }
	case "over":
		return check, &fault.Error{Kind: fault.Exhausted, Code: "too_many_attempts", Message: "too many"}
	}
	return check, nil
}

func testSignatureChecks(t *testing.T, b *fixture) {
	b.t = t
	path := b.projectPath("/signature-checks")
	request := func(fake string) m {
		return m{"version": "v3", "method": "POST", "path": "/api/v3/rooms", "body": "{}",
			"headers": []m{{"name": "fake", "value": fake}}}
	}
	for fake, want := range map[string]m{
		"":        {"matches": true, "accepted": true, "key_slot": "current", "cause": "", "hint": ""},
		"foreign": {"matches": false, "accepted": false, "key_slot": "", "cause": "unknown_key", "hint": ""},
		"wrong": {"matches": false, "accepted": false, "key_slot": "", "cause": "bad_signature",
			"hint": requestlog.HintHex},
		"retired": {"matches": false, "accepted": false, "key_slot": "retired", "cause": "retired_key", "hint": ""},
	} {
		got := b.mustCall("POST", path, request(fake))
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%q: got %s %v, want %v", fake, name, got[name], value)
			}
		}
		wantText := []any{m{"label": "body", "from": "the raw body, byte for byte", "value": "{}"}}
		if diff := cmp.Diff(wantText, got["signed_text"]); diff != "" {
			t.Errorf("%q: signed text (-want +got):\n%s", fake, diff)
		}
	}
	b.assertError("POST", path, request("over"), 429, "too_many_attempts", "too many")
	for _, c := range []struct {
		change m
		want   string
	}{
		{m{"version": "v9"}, `version must be v3, v4, v5 or companion, not "v9"`},
		{m{"path": "/a?b"}, `path must be a path without its query, such as /api/v5/keys, not "/a?b"`},
		{m{"path": "a"}, `path must be a path without its query, such as /api/v5/keys, not "a"`},
		{m{"method": "GET /"}, `method must be a method such as POST, not "GET /"`},
		{m{"headers": make([]m, 51)}, "headers must have at most 50 entries"},
	} {
		body := request("")
		for name, value := range c.change {
			body[name] = value
		}
		b.assertError("POST", path, body, 400, "invalid_request", c.want)
	}
}
