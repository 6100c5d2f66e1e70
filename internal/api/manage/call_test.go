package manage

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/api/httpx"
	"parley/internal/requestlog"
)

// testCalls lists recorded calls, page by page and with filters.
func testCalls(t *testing.T, b *fixture) {
	b.t = t
	project := b.createProject()["project_id"].(string)
	b.findCalls(b.createProject()["project_id"].(string))
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i := range 5 {
		c := requestlog.Call{
			RequestID:  fmt.Sprint("req_", i),
			ProjectID:  project,
			API:        "v3",
			ReceivedAt: now.Add(time.Duration(i) * time.Second),
			Method:     "POST",
			Path:       "/api/v3/rooms/create_quick_audio_room",
			Status:     200,
			Micros:     1500,
			KeySlot:    "current",
			Address:    "192.0.2.1",
			UserAgent:  "test/1",
		}
		if i == 3 {
			c.API, c.Path, c.Route = "v4", "/api/v4/rooms/1/events", "/api/v4/rooms/{room_id}/events"
			c.Status, c.Cause, c.Hint, c.KeySlot = 401, requestlog.CauseStaleTimestamp, requestlog.HintMilliseconds, "overlap"
			c.ClockSkew, c.HasTimestamp = -400, true
		}
		b.calls.Record(c, nil)
	}
	other := b.createProject()["project_id"].(string)
	for i, api := range []string{"v3", "v4", "v5", APIName} {
		b.calls.Record(requestlog.Call{
			RequestID:  fmt.Sprint("req_other_", i),
			ProjectID:  other,
			API:        api,
			ReceivedAt: now,
			Method:     "POST",
			Path:       "/",
			Status:     400,
		}, nil)
	}
	must(t, b.calls.Flush(t.Context()))
	list := func(query string) []m {
		t.Helper()
		var calls []m
		for cursor := ""; ; {
			page := b.mustCall("GET", "/calls?project_id="+project+query+cursor, nil)
			for _, c := range page["calls"].([]any) {
				calls = append(calls, c.(m))
			}
			next, more := page["next_cursor"].(string)
			if !more {
				return calls
			}
			cursor = "&cursor=" + next
		}
	}
	if calls := list("&limit=2"); len(calls) != 5 || calls[0]["request_id"] != "req_4" ||
		calls[4]["request_id"] != "req_0" {
		t.Errorf("pages of two calls: got %v, want 5, the newest first", calls)
	}
	for query, want := range map[string]int{"": 4, "&version=backend": 3, "&version=manage": 1} {
		page := b.mustCall("GET", "/calls?status=rejected&project_id="+other+query, nil)
		if got := len(page["calls"].([]any)); got != want {
			t.Errorf("rejected calls of a project%s: got %d, want %d", query, got, want)
		}
	}
	rejected := list("&status=4xx")
	want := m{"request_id": "req_3", "project_id": project, "at": httpx.FormatTime(now.Add(3 * time.Second)),
		"method": "POST",
		"path":   "/api/v4/rooms/1/events", "route": "/api/v4/rooms/{room_id}/events", "version": "v4", "status": 401.0,
		"cause": "stale_timestamp", "hint": requestlog.HintMilliseconds, "key_slot": "overlap", "token_id": "",
		"clock_skew_seconds": -400.0, "client_address": "192.0.2.1", "user_agent": "test/1", "duration_ms": 1.5}
	if len(rejected) != 1 || fmt.Sprint(rejected[0]) != fmt.Sprint(want) {
		t.Errorf("rejected calls: got %v, want %v", rejected, want)
	}
	for query, n := range map[string]int{"&version=v3": 4, "&version=v4": 1, "&status=200": 4,
		"&status=rejected": 1, "&cause=stale_timestamp": 1,
		"&request_id=req_2": 1, "&version=manage": 0, "&version=backend": 5,
		"&key_slot=overlap": 1, "&route=/api/v3/rooms/create_quick_audio_room": 4, "&status=500": 0,
		"&since=" + now.Add(3*time.Second).Format(time.RFC3339Nano):  2,
		"&before=" + now.Add(3*time.Second).Format(time.RFC3339Nano): 3,
		"&before=9999-12-31T23:59:59Z&since=0001-01-01T00:00:00Z":    5} {
		if calls := list(query); len(calls) != n {
			t.Errorf("%s: got %d calls, want %d", query, len(calls), n)
		}
	}
	for query, want := range map[string]string{
		"version=v6":      `version must be one of v3, v4, v5, manage, backend, not "v6"`,
		"version=backend": "project_id or request_id is required with version backend",
		"version=v3":      "project_id or request_id is required with version v3",
		"status=99":       `status must be a number from 100 to 599, a class such as 4xx, or rejected, not "99"`,
		"status=6xx":      `status must be a number from 100 to 599, a class such as 4xx, or rejected, not "6xx"`,
		"since=yesterday": `since must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "yesterday"`,
		"since=2027-01-31T09:30:00Z&before=2027-01-31T09:30:00Z": "before must be later than since",
		"cursor=1":   "cursor must be the next_cursor of an earlier response",
		"cursor=0.5": "cursor must be the next_cursor of an earlier response",
	} {
		b.assertError("GET", "/calls?"+query, nil, 400, "invalid_request", want)
	}
	b.assertError("GET", "/calls?project_id="+unknownID, nil, 404, "project_not_found", noProject)

	for i := range 3 {
		b.calls.CountRejected("v3", requestlog.CauseUnknownProject, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
	}
	b.calls.ExplainPending()
	must(t, b.calls.Flush(t.Context()))
	page := b.mustCall("GET", "/rejected-calls?limit=2&since=2026-01-01T00:00:00Z", nil)
	rest := b.mustCall("GET", "/rejected-calls?cursor="+page["next_cursor"].(string), nil)
	counts := append(page["rejected_calls"].([]any), rest["rejected_calls"].([]any)...)
	if len(counts) != 3 || rest["next_cursor"] != nil {
		t.Errorf("rejected calls: got %v, want 3 on two pages", counts)
	}
	for _, c := range counts {
		if c := c.(m); c["version"] != "v3" || c["cause"] != "unknown_project" || c["calls"] != 1.0 ||
			!strings.HasPrefix(c["address"].(string), "192.0.2.") {
			t.Errorf("got %v, want one call of version 3 with an unknown project", c)
		}
	}
	tomorrow := now.AddDate(0, 0, 1).Format(time.RFC3339)
	for query, want := range map[string]int{"address=192.0.2.1": 1, "address=192.0.2.9": 0, "address=2001:db8::/64": 0,
		"cause=unknown_project": 3, "cause=unknown_key": 0, "version=v3": 3, "version=v5": 0, "before=" + tomorrow: 3,
		"before=2026-01-01T00:00:00Z": 0, "since=" + tomorrow: 0} {
		page := b.mustCall("GET", "/rejected-calls?"+query, nil)
		if found := page["rejected_calls"].([]any); len(found) != want || page["next_cursor"] != nil {
			t.Errorf("rejected calls with %s: got %v, want %d", query, page, want)
		}
	}
	for query, want := range map[string]string{
		"address=":              "address must be an IPv4 address, an IPv6 address or an IPv6 /64",
		"address=2001:db8::/48": "address must be an IPv4 address, an IPv6 address or an IPv6 /64",
		"address=192.0.2.0/24":  "address must be an IPv4 address, an IPv6 address or an IPv6 /64",
		"version=v6":            `version must be one of v3, v4, v5, manage, not "v6"`,
		"since=2027-01-31T09:30:00Z&before=2027-01-31T09:30:00Z": "before must be later than since",
	} {
		b.assertError("GET", "/rejected-calls?"+query, nil, 400, "invalid_request", want)
	}
	b.assertError("GET", "/rejected-calls?cursor=x", nil, 400, "invalid_request",
		"cursor must be the next_cursor of an earlier response")
	b.contract.WithHandler(withMiddleware(NewHandler(b.services(b.tokens, fakePlans{}, nil))), func() {
		for _, path := range []string{"/calls", "/rejected-calls"} {
			b.assertError("GET", path, nil, 404, "calls_not_recorded",
				"calls are not recorded, because the server runs with --no-diagnostics-enabled: "+
					"the operator of the server can start it without this flag")
		}
	})
}

// findCalls finds calls by their request ID alone.
func (b *fixture) findCalls(project string) {
	b.t.Helper()
	var ids []string
	h := httpx.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		info := httpx.FromContext(r.Context())
		ids = append(ids, info.ID)
		c := requestlog.Call{RequestID: info.ID, API: "v4", ReceivedAt: info.StartedAt, Status: 200}
		if len(ids) == 1 {
			c.ProjectID = project
		} else {
			c.API = APIName
		}
		b.calls.Record(c, nil)
	}), httpx.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	for range 2 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
	must(b.t, b.calls.Flush(b.t.Context()))
	for query, want := range map[string]string{
		"request_id=" + ids[0]:                                 project,
		"request_id=" + ids[0] + "&version=v4":                 project,
		"request_id=" + ids[0] + "&version=v3":                 "none",
		"request_id=" + ids[0] + "&project_id=" + project:      project,
		"request_id=" + ids[0] + "&version=backend":            project,
		"request_id=" + ids[1]:                                 "",
		"request_id=" + ids[1] + "&version=backend":            "none",
		"request_id=" + ids[1] + "&project_id=" + project:      "none",
		"request_id=" + ids[0] + "&since=2200-01-01T00:00:00Z": "none",
		"request_id=req_0000000000000000":                      "none",
	} {
		got := "none"
		page := b.mustCall("GET", "/calls?"+query, nil)
		if calls := page["calls"].([]any); len(calls) == 1 {
			got = calls[0].(m)["project_id"].(string)
		}
		if got != want || page["next_cursor"] != nil {
			b.t.Errorf("calls with %s: got %q and next_cursor %v, want %q and none", query, got, page["next_cursor"], want)
		}
	}
	for _, cursor := range []string{"1", "9000000000000.", "9000000000000000000.1"} {
		b.assertError("GET", "/calls?request_id="+ids[0]+"&cursor="+cursor, nil, 400, "invalid_request",
			"cursor must be the next_cursor of an earlier response")
	}
	b.assertError("GET", "/calls?version=v4&request_id=req_0000000000000000", nil, 400, "invalid_request",
		"project_id or request_id is required with version v4")
}

// testTimeline reads the events of a room, and who was in it, page by page.
func testTimeline(t *testing.T, b *fixture) {
	b.t = t
	room := b.createRoom(b.createProject()["project_id"].(string))
	seats := map[string]string{}
	for _, name := range []string{"Amina", "Ben", "Chen"} {
		seats[name] = b.join(room, name)
	}
	b.setPoor(room, "Ben", 20*time.Second)
	b.mustCall("POST", "/rooms/"+room+"/remove-person", m{"seat_id": seats["Ben"]})
	b.join(room, "Dora")
	var actions, connections []any
	var kinds, names []string
	for cursor := ""; ; {
		page := b.mustCall("GET", "/rooms/"+room+"/timeline?limit=2"+cursor, nil)
		for _, e := range page["events"].([]any) {
			e := e.(m)
			kinds, names = append(kinds, e["kind"].(string)), append(names, e["name"].(string))
			if e["action"] != nil {
				actions = append(actions, e["action"])
			}
			connections = append(connections, e["connection"])
		}
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	wantKinds := []string{"room.opened", "room.started", "participant.joined", "participant.joined", "participant.joined",
		"host.removed", "participant.left", "participant.joined"}
	wantNames := []string{"", "", "Amina", "Ben", "Chen", "Ben", "Ben", "Dora"}
	if !slices.Equal(kinds, wantKinds) || !slices.Equal(names, wantNames) {
		t.Errorf("timeline: got %v of %q, want %v of %q", kinds, names, wantKinds, wantNames)
	}
	wantActions := []any{m{"number": 1.0, "by": m{"seat_id": "", "name": "", "role": "management"},
		"target": m{"seat_id": seats["Ben"], "name": "Ben", "role": "guest"}}}
	if diff := cmp.Diff(wantActions, actions); diff != "" {
		t.Errorf("actions differ (-want +got):\n%s", diff)
	}
	unchecked := m{"connection_type": "udp", "connection_quality": "", "poor_seconds": 0.0}
	poor := m{"connection_type": "udp", "connection_quality": "poor", "poor_seconds": 20.0}
	wantConnections := []any{nil, nil, unchecked, poor, unchecked, nil, poor, unchecked}
	if diff := cmp.Diff(wantConnections, connections); diff != "" {
		t.Errorf("connections of the events differ (-want +got):\n%s", diff)
	}
	first := b.mustCall("GET", "/rooms/"+room+"/people?limit=2", nil)
	people := first["people"].([]any)
	rest := b.mustCall("GET", "/rooms/"+room+"/people?cursor="+first["next_cursor"].(string), nil)
	people = append(people, rest["people"].([]any)...)
	if len(people) != 4 || people[2].(m)["name"] != "Chen" || people[2].(m)["left_at"] != nil {
		t.Errorf("people: got %v, want four, the third Chen, who is connected", people)
	}
	early := b.mustCall("GET", "/rooms/"+room+"/people?at=2026-01-01T00:00:00Z", nil)
	if len(early["people"].([]any)) != 0 {
		t.Errorf("people before the meeting: got %v, want none", early)
	}
	for path, want := range map[string]string{
		"/timeline?cursor=0":   "cursor must be the next_cursor of an earlier response",
		"/timeline?cursor=0.0": "cursor must be the next_cursor of an earlier response",
		"/people?cursor=x":     "cursor must be the next_cursor of an earlier response",
		"/people?at=now":       `at must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "now"`,
	} {
		b.assertError("GET", "/rooms/"+room+path, nil, 400, "invalid_request", want)
	}
}

// testRetry retries deliveries that are pending, and says why it does not retry others.
func testRetry(t *testing.T, b *fixture) {
	b.t = t
	c := b.customer()
	if out := b.mustCall("POST", "/webhook-retries", m{"delivery_id": c.delivery}); out["retried"] != 1.0 {
		t.Errorf("retry a delivery: got %v, want one", out)
	}
	b.assertError("POST", "/webhook-retries", m{"since": "2026-01-01T00:00:00Z"}, 400, "invalid_request",
		"a retry needs delivery_id, project_id, url, or both since and before")
	b.assertError("POST", "/webhook-retries", m{"since": "2026-01-01T00:00:00Z", "before": "2026-01-02T00:00:00Z"}, 404,
		"nothing_to_retry", nothingToRetry)
	b.assertError("POST", "/webhook-retries", m{"delivery_id": unknownID}, 404, "delivery_not_found",
		noDelivery)
	b.assertError("POST", "/webhook-retries", m{"project_id": unknownID}, 404, "nothing_to_retry",
		nothingToRetry)
	b.assertError("POST", "/webhook-retries", m{"delivery_id": c.delivery, "before": "2026-01-01T00:00:00Z"}, 404,
		"nothing_to_retry", nothingToRetry)
	b.failDelivery(c.delivery)
	b.assertError("POST", "/webhook-retries", m{"url": secretURL, "project_id": c.project}, 409, "target_paused",
		targetPaused)
}

// The callers with an old project secret are those that used it, and not those of the secret before it.
func TestListKeys_OldSecretCallers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.createProject()["project_id"].(string)
	callWith := func(slot, userAgent string) {
		t.Helper()
		b.calls.Record(requestlog.Call{
			ProjectID:  p,
			API:        "v4",
			Status:     200,
			ReceivedAt: time.Now(),
			KeySlot:    slot,
			Address:    "192.0.2.1",
			UserAgent:  userAgent,
		}, nil)
		must(t, b.calls.Flush(t.Context()))
		time.Sleep(2 * time.Millisecond) // the database stores milliseconds
	}
	rotate := func() {
		t.Helper()
		b.mustCall("POST", "/projects/"+p+"/rotate-secret", m{"force": true})
		time.Sleep(2 * time.Millisecond)
	}
	time.Sleep(2 * time.Millisecond)
	callWith(requestlog.SlotSecret, "first/1")
	rotate()
	callWith(requestlog.SlotOverlapSecret, "first/2")
	callWith(requestlog.SlotSecret, "second/1")
	rotate()
	callWith(requestlog.SlotOverlapSecret, "second/2")
	callWith(requestlog.SlotSecret, "third/1")
	keys := b.mustCall("GET", "/projects/"+p+"/keys", nil)
	for field, want := range map[string][]string{
		"secret_callers":     {"third/1"},
		"old_secret_callers": {"second/2", "second/1"},
	} {
		var got []string
		for _, c := range keys[field].([]any) {
			got = append(got, c.(m)["user_agent"].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", field, got, want)
		}
	}
}
