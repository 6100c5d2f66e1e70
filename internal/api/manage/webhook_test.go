package manage

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/internal/webhook"
)

// failDelivery records that the target of a delivery answered 410, and pauses it.
func (b *fixture) failDelivery(id string) {
	b.t.Helper()
	must(b.t, b.db.Write(b.t.Context(), func(ctx context.Context) error {
		d, err := b.db.Delivery(ctx, id)
		if err != nil {
			return err
		}
		d.State, d.Attempts, d.DoneAt = webhook.Gone, 1, time.Now()
		if err := b.db.RecordAttempt(ctx, d, webhook.Attempt{
			N:            1,
			At:           time.Now(),
			Duration:     time.Second,
			Status:       410,
			ResponseBody: "no more",
		}); err != nil {
			return err
		}
		target, err := b.db.RecordTargetFailure(ctx, d.ProjectID, d.URL, time.Now())
		if err != nil {
			return err
		}
		target.PausedAt, target.Notice = time.Now(), "it answered 410"
		return b.db.PauseTarget(ctx, target)
	}))
}

func testWebhooks(t *testing.T, b *fixture) {
	b.t = t
	id := b.createProject()["project_id"].(string)
	b.assertError("POST", "/projects/"+id+"/webhook-test", nil, 409, "no_webhook_target",
		"the project has no default_webhook_url: an owner or an operator can set one with parley project set")
	const url = "https://example.org/hook"
	b.mustCall("PATCH", "/projects/"+id, m{"default_webhook_url": url})
	event := b.mustCall("POST", "/projects/"+id+"/webhook-test", nil)["event_id"].(string)
	room := b.createRoom(id)
	b.mustCall("POST", "/rooms/"+room+"/end", nil)

	list := func(query string) []any {
		return b.mustCall("GET", "/webhooks?project_id="+id+query, nil)["webhooks"].([]any)
	}
	all := list("")
	if len(all) != 3 {
		t.Fatalf("list deliveries: got %v, want 3", all)
	}
	newest, oldest := all[0].(m), all[2].(m)
	if newest["type"] != "room.ended" || newest["sequence"] != 2.0 || newest["previous"] != 1.0 ||
		newest["state"] != "pending" || newest["room_id"] != room || newest["url"] != url || newest["body"] != nil {
		t.Errorf("newest delivery: got %v, want the pending room.ended of %s", newest, room)
	}
	if oldest["type"] != "webhook.test" || oldest["event_id"] != event || oldest["room_id"] != "" {
		t.Errorf("oldest delivery: got %v, want webhook.test with the event %s", oldest, event)
	}
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	hourAgo, soon := in(-time.Hour), in(time.Hour)
	for query, want := range map[string]int{"&room_id=" + room: 2, "&event_id=" + event: 1,
		"&room_id=" + strings.ToUpper(room): 2, "&event_id=" + strings.ToUpper(event): 1, "&state=pending": 3,
		"&state=gone": 0, "&url=" + url: 3, "&url=" + url + "/other": 0, "&since=" + hourAgo: 3, "&since=" + soon: 0,
		"&before=" + soon + "&url=" + url: 3, "&before=" + hourAgo: 0} {
		if got := list(query); len(got) != want {
			t.Errorf("deliveries with %s: got %v, want %d", query, got, want)
		}
	}
	page := b.mustCall("GET", "/webhooks?limit=2&project_id="+id, nil)
	if len(page["webhooks"].([]any)) != 2 || page["next_cursor"] != all[1].(m)["delivery_id"] {
		t.Errorf("first page: got %v, want two deliveries and a cursor", page)
	}
	if rest := list("&cursor=" + page["next_cursor"].(string)); len(rest) != 1 {
		t.Errorf("last page: got %v, want one delivery", rest)
	}
	b.assertError("GET", "/webhooks?state=lost", nil, 400, "invalid_request",
		`state must be pending, delivered, failed or gone, not "lost"`)
	b.assertError("GET", "/webhooks?limit=101", nil, 400, "invalid_request", "limit must be between 1 and 100, not 101")
	b.assertError("GET", "/webhooks?since="+soon+"&before="+hourAgo, nil, 400, "invalid_request",
		"before must be later than since")
	b.assertError("GET", "/webhooks?cursor=x", nil, 400, "invalid_request",
		"cursor must be the next_cursor of an earlier response")

	// The newest delivery has failed, and its target is paused.
	tried := newest["delivery_id"].(string)
	b.failDelivery(tried)
	if all := list(""); all[0].(m)["last_status"] != 410.0 || all[1].(m)["last_status"] != nil {
		t.Errorf("deliveries after an attempt: got %v, want last_status 410 of the newest alone", all)
	}
	shown := b.mustCall("GET", "/webhooks/"+tried, nil)
	attempts := shown["attempts"].([]any)
	if len(attempts) != 1 || attempts[0].(m)["status"] != 410.0 || attempts[0].(m)["answer"] != "no more" ||
		attempts[0].(m)["duration_ms"] != 1000.0 ||
		shown["state"] != "gone" || shown["last_status"] != 410.0 || shown["done_at"] == nil ||
		!strings.Contains(shown["body"].(string), `"type":"room.ended"`) {
		t.Errorf("get a delivery: got %v, want one attempt of 1000 ms with status 410", shown)
	}
	targets := b.mustCall("GET", "/webhook-targets?project_id="+id, nil)["targets"].([]any)
	if len(targets) != 1 || targets[0].(m)["paused"] != true || targets[0].(m)["notice"] != "it answered 410" ||
		targets[0].(m)["failures"] != 1.0 {
		t.Errorf("targets: got %v, want one that is paused after it answered 410", targets)
	}
	if left := b.mustCall("POST", "/projects/"+id+"/webhook-resume", m{"url": url})["targets"].([]any); len(left) != 0 {
		t.Errorf("resume: got %v, want no targets", left)
	}
	b.assertError("POST", "/projects/"+id+"/webhook-resume", m{"url": url}, 404, "target_not_paused",
		targetNotPaused)

	testPause(b, id, url)
	if again := b.mustCall("POST", "/webhook-replays", m{"project_id": id, "room_id": room}); again["enqueued"] != 1.0 {
		t.Errorf("replay a room: got %v, want 1 enqueued", again)
	}
	if got := list("&event_id=" + newest["event_id"].(string)); len(got) != 2 || got[0].(m)["replay"] != true ||
		got[1].(m)["replay"] != false {
		t.Errorf("deliveries of the replayed event: got %v, want the replay and the first", got)
	}
	hour := m{"project_id": id, "since": time.Now().Add(-time.Hour).Format(time.RFC3339),
		"before": time.Now().Add(time.Hour).Format(time.RFC3339)}
	if again := b.mustCall("POST", "/webhook-replays", hour); again["enqueued"] != 1.0 {
		t.Errorf("replay an hour: got %v, want 1 enqueued", again)
	}
	b.assertError("POST", "/webhook-replays", m{"project_id": id, "room_id": room, "state": "pending"}, 400,
		"invalid_request", `state must be delivered, failed or gone, not "pending"`)
	b.assertError("POST", "/webhook-replays", m{"project_id": id, "room_id": room, "state": "failed"}, 404,
		"nothing_to_replay", nothingToReplay)
	b.assertError("POST", "/webhook-replays", m{"project_id": id, "event_id": unknownID}, 404, "nothing_to_replay",
		nothingToReplay)
	b.assertError("POST", "/webhook-replays", m{"project_id": id}, 400, "invalid_request",
		"a replay needs event_id, room_id, or both since and before")
	b.assertError("POST", "/webhook-replays", m{"room_id": room}, 400, "invalid_request", "project_id is required")
	b.assertError("POST", "/webhook-replays", m{"project_id": id, "since": "today"}, 400, "invalid_request",
		`since must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not "today"`)
}

// testPause pauses a target that works, lists targets page by page, and resumes it.
func testPause(b *fixture, projectID, url string) {
	b.t.Helper()
	path := "/projects/" + projectID
	b.mustCall("PATCH", path, m{"default_webhook_url": url + "/default"})
	b.mustCall("POST", path+"/webhook-pause", m{"url": url + "/default"})
	held := b.mustCall("POST", path+"/webhook-pause", m{"url": url})["targets"].([]any)
	if len(held) != 2 || held[0].(m)["paused"] != true || held[0].(m)["failures"] != 0.0 ||
		held[0].(m)["probe_at"] != nil || held[0].(m)["notice"] != "paused by hand: its deliveries wait until it is resumed" {
		b.t.Errorf("pause: got %v, want two targets that are paused by hand, without failures", held)
	}
	b.assertError("POST", path+"/webhook-pause", m{"url": url}, 409, "target_paused",
		"this target is already paused by hand: an owner, an operator or an integrator of the project can resume it with "+
			"parley webhook resume, which sends all its deliveries")
	b.assertError("POST", path+"/webhook-pause", m{"url": "https://elsewhere.example.org/"}, 404, "target_not_found",
		"no webhook of this project was sent to this url recently: parley webhook list shows the URLs that are used, "+
			"to everybody who may see the project")
	first := b.mustCall("GET", "/webhook-targets?limit=1&project_id="+projectID, nil)
	cursor := "&cursor=" + first["next_cursor"].(string)
	b.mustCall("POST", path+"/webhook-resume", m{"url": first["targets"].([]any)[0].(m)["url"]})
	rest := b.mustCall("GET", "/webhook-targets?limit=1&project_id="+projectID+cursor, nil)
	if targets := rest["targets"].([]any); len(targets) != 1 || targets[0].(m)["url"] != url+"/default" ||
		rest["next_cursor"] != nil {
		b.t.Errorf("second page: got %v, want the other target alone", rest)
	}
	b.assertError("GET", "/webhook-targets?cursor=x", nil, 400, "invalid_request",
		"cursor must be the next_cursor of an earlier response")
	b.mustCall("POST", path+"/webhook-resume", m{"url": url + "/default"})
	b.mustCall("PATCH", path, m{"default_webhook_url": ""})

	b.mustCall("POST", path+"/keys/rotate", nil)
	keys := b.mustCall("GET", path+"/keys?limit=1", nil)
	more := b.mustCall("GET", path+"/keys?cursor="+keys["next_cursor"].(string), nil)
	if a, c := keys["keys"].([]any), more["keys"].([]any); len(a) != 1 || len(c) != 1 || a[0].(m)["status"] != "active" ||
		c[0].(m)["status"] != "retiring" || more["next_cursor"] != nil {
		b.t.Errorf("keys: got %v, then %v, want the current key and then the old one", keys, more)
	}
	b.assertError("GET", path+"/keys?cursor=x", nil, 400, "invalid_request",
		"cursor must be the next_cursor of an earlier response")
}
