package webhook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
)

// TestReplay_Filters replays deliveries by event, room and time, with the same bytes and
// marked as a replay.
func TestReplay_Filters(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		r := newReceiver(t, nil)
		f.run(f.sender)
		room, other := storetest.NewID(), storetest.NewID()
		f.enqueueEvents(room, r.URL, event.RoomOpened, event.RoomStarted, event.RoomEnded)
		f.enqueueEvents(other, r.URL, event.RoomOpened)
		sent := r.waitForMessages(t, 4)
		testkit.Eventually(t, "no delivery is pending", func() bool {
			left, _, err := f.List(ctx, webhook.Filter{State: webhook.Pending, Limit: 1})
			return err == nil && len(left) == 0
		})
		var ofRoom []message
		for _, m := range sent {
			if strings.Contains(string(m.Data), room) {
				ofRoom = append(ofRoom, m)
			}
			if m.header.Get("webhook-replay") != "" {
				t.Errorf("got %v for a first delivery, want no webhook-replay", m.header)
			}
		}
		replay := func(q webhook.Replay, want []message) {
			t.Helper()
			before := len(r.messages())
			q.ProjectID = f.project.ID
			n, err := f.Replay(ctx, q)
			if err != nil || n != len(want) {
				t.Fatalf("replay %+v: got %d deliveries, %v, want %d", q, n, err, len(want))
			}
			for i, m := range r.waitForMessages(t, before+n)[before:] {
				if m.body != want[i].body || m.header.Get("webhook-replay") != "true" {
					t.Errorf("replay %+v, message %d: got %s %v, want %s marked as a replay", q, i, m.body, m.header, want[i].body)
				}
				f.verifySignature(m)
			}
		}
		replay(webhook.Replay{EventID: sent[0].ID}, sent[:1])
		replay(webhook.Replay{RoomID: room}, ofRoom)
		replay(webhook.Replay{RoomID: room, URL: r.URL}, ofRoom)
		for _, q := range []webhook.Replay{{}, {ProjectID: f.project.ID, Since: f.now()},
			{ProjectID: storetest.NewID(), EventID: sent[0].ID},
			{ProjectID: f.project.ID, RoomID: room, URL: r.URL + "/other"}, {ProjectID: f.project.ID, Since: f.now(), Before: f.now().Add(time.Hour)}} {
			if n, err := f.Replay(ctx, q); err == nil || n != 0 {
				t.Errorf("replay %+v: got %d deliveries, %v, want an error", q, n, err)
			}
		}
		if n, err := f.Replay(ctx, webhook.Replay{ProjectID: f.project.ID, Since: f.now().Add(-time.Hour),
			Before: f.now()}); err != nil || n != 4 {
			t.Errorf("replay the last hour: got %d deliveries, %v, want 4", n, err)
		}
	})
}

// TestReplay_State replays only what failed in a period, and leaves out what was delivered and the replays.
func TestReplay_State(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		room := storetest.NewID()
		const url = "https://receiver.example/hook"
		f.enqueueEvents(room, url, event.RoomOpened, event.RoomStarted, event.RoomEnded)
		pending, _, err := f.List(ctx, webhook.Filter{RoomID: room, Limit: 10})
		if err != nil || len(pending) != 3 {
			t.Fatalf("got %d deliveries, %v, want 3", len(pending), err)
		}
		for i, state := range []webhook.State{webhook.Failed, webhook.Delivered, webhook.Gone} {
			d := pending[i]
			d.State, d.Attempts, d.DoneAt = state, 1, f.now()
			if err := f.db.Write(ctx, func(ctx context.Context) error {
				return f.db.RecordAttempt(ctx, d, webhook.Attempt{N: 1, At: f.now(), Status: 500})
			}); err != nil {
				t.Fatal(err)
			}
		}
		period := webhook.Replay{ProjectID: f.project.ID, Since: f.now().Add(-time.Hour), Before: f.now().Add(time.Hour)}
		for range 2 { // the replays of the first round are no failed deliveries
			q := period
			q.State = webhook.Failed
			if n, err := f.Replay(ctx, q); n != 1 || err != nil {
				t.Fatalf("replay what failed: got %d deliveries, %v, want 1", n, err)
			}
			newest, _, err := f.List(ctx, webhook.Filter{RoomID: room, Limit: 1})
			if err != nil || !newest[0].Replay || newest[0].EventID != pending[0].EventID {
				t.Errorf("got the newest delivery %+v, %v, want a replay of %s", newest, err, pending[0].EventID)
			}
		}
		q := webhook.Replay{ProjectID: f.project.ID, RoomID: room, State: webhook.Gone}
		if n, err := f.Replay(ctx, q); n != 1 || err != nil {
			t.Errorf("replay the room's deliveries that are gone: got %d, %v, want 1", n, err)
		}
		for _, state := range []webhook.State{webhook.Pending, "other"} {
			q.State = state
			want := fmt.Sprintf("state must be delivered, failed or gone, not %q", state)
			if n, err := f.Replay(ctx, q); n != 0 || err == nil || err.Error() != want {
				t.Errorf("replay the state %q: got %d, %v, want %s", state, n, err, want)
			}
		}
		if n, err := f.Replay(ctx, period); n != 3 || err != nil {
			t.Errorf("replay everything: got %d deliveries, %v, want 3", n, err)
		}
	})
}

// The refusal of a replay names the period of the project.
func TestReplay_NothingMatches(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		for kept, want := range map[time.Duration]string{
			0:                   "no delivery matches",
			24 * time.Hour:      "no delivery of the last day matches",
			14 * 24 * time.Hour: "no delivery of the last 14 days matches",
		} {
			hooks := webhook.NewService(f.db, f.now, storetest.NewID,
				webhook.WithRetention(func(p project.Project) time.Duration {
					if p.ID != f.project.ID {
						t.Errorf("the period of the project %s is asked for, want %s", p.ID, f.project.ID)
					}
					return kept
				}))
			_, err := hooks.Replay(t.Context(), webhook.Replay{ProjectID: f.project.ID, EventID: storetest.NewID()})
			if got := fault.From(err); got.Code != "nothing_to_replay" || got.Message != want {
				t.Errorf("deliveries are kept for %s: got %v, want %q", kept, err, want)
			}
		}
	})
}
