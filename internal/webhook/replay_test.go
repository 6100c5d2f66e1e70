package webhook_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/store"
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
			left, _, err := f.List(ctx, webhook.Filter{State: webhook.Pending, Limit: 1}, "")
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

// insertDelivered inserts deliveries of a room that were delivered, in the order of the IDs.
func (f *fixture) insertDelivered(room, url string, ids []string) {
	f.t.Helper()
	stream := webhook.Stream{
		ID:        storetest.NewID(),
		ProjectID: f.project.ID,
		RoomID:    room,
		URL:       url,
		Bucket:    "done",
	}
	err := f.db.Write(storetest.Patient(context.Background()), func(ctx context.Context) error {
		if err := f.db.InsertStream(ctx, stream, f.now()); err != nil {
			return err
		}
		for i, id := range ids {
			if err := f.db.InsertDelivery(ctx, webhook.Delivery{
				ID:        id,
				StreamID:  stream.ID,
				Position:  int64(i + 1),
				EventID:   storetest.NewID(),
				ProjectID: f.project.ID,
				RoomID:    room,
				URL:       url,
				Type:      event.RoomOpened,
				Sequence:  int64(i + 1),
				Previous:  int64(i),
				Body:      fmt.Sprintf(`{"sequence":%d}`, i+1),
				State:     webhook.Delivered,
				Attempts:  1,
				CreatedAt: f.now(),
				DoneAt:    f.now(),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestReplay_TargetOfFew replays the few deliveries to a target between many to another one, which a page of the store
// does not contain.
func TestReplay_TargetOfFew(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		from := f.now()
		many, few := "https://many.example.org/hook", "https://few.example.org/hook"
		ids := make([]string, 903)
		for i := range ids {
			ids[i] = storetest.NewID()
		}
		f.insertDelivered(storetest.NewID(), few, ids[:1])
		f.insertDelivered(storetest.NewID(), many, ids[1:451])
		f.insertDelivered(storetest.NewID(), few, ids[451:452])
		f.insertDelivered(storetest.NewID(), many, ids[452:902])
		f.insertDelivered(storetest.NewID(), few, ids[902:])
		q := webhook.Replay{ProjectID: f.project.ID, Since: from, Before: f.now().Add(time.Second), URL: few}
		for range 2 { // the second one does not replay the copies of the first one
			if n, err := f.Replay(t.Context(), q); err != nil || n != 3 {
				t.Errorf("replay to the target of few: got %d, %v, want 3", n, err)
			}
		}
	})
}

// TestReplay_Order replays a room in the order of its events, although two nodes whose clocks differ
// made the IDs of the deliveries.
func TestReplay_Order(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, nil)
		f.run(f.sender)
		room, before := storetest.NewID(), storetest.NewID()
		f.insertDelivered(room, r.URL, []string{storetest.NewID(), before, storetest.NewID()})
		if n, err := f.Replay(t.Context(), webhook.Replay{ProjectID: f.project.ID, RoomID: room}); n != 3 || err != nil {
			t.Fatalf("Replay: got %d, %v, want 3", n, err)
		}
		for i, m := range r.waitForMessages(t, 3) {
			if m.Sequence != int64(i+1) {
				t.Errorf("message %d: got sequence %d, want %d", i, m.Sequence, i+1)
			}
		}
	})
}

// failingPages is a store whose second page of deliveries cannot be read.
type failingPages struct {
	*store.DB
	pages   int
	failure *fault.Error
}

func (s *failingPages) Deliveries(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error) {
	if s.pages++; s.pages == 2 {
		return nil, s.failure
	}
	return s.DB.Deliveries(ctx, f)
}

// TestReplay_Interrupted checks that the error of an interrupted replay says how to replay the rest,
// and that this sends each delivery that was left out.
func TestReplay_Interrupted(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		room, url := storetest.NewID(), "https://receiver.example/hook"
		var ids []string
		for range 201 {
			ids = append(ids, storetest.NewID())
		}
		slices.Sort(ids)
		f.insertDelivered(room, url, ids[:200])
		f.advance(-30 * time.Second) // the clock of the node that made the last one is behind
		f.insertDelivered(storetest.NewID(), url, ids[200:])
		f.advance(30 * time.Second)
		failure := fault.New(fault.Unavailable, "unavailable", "the database does not answer")
		failure.Operator = "the disk is full"
		interrupted := webhook.NewService(&failingPages{DB: f.db, failure: failure}, f.now, storetest.NewID)
		q := webhook.Replay{ProjectID: f.project.ID, Since: f.now().Add(-time.Hour), Before: f.now().Add(time.Hour)}
		n, err := interrupted.Replay(ctx, q)
		const advice = "; 200 deliveries were replayed: to replay the rest, repeat the replay with since "
		if n != 200 || !fault.Is(err, fault.Unavailable) {
			t.Fatalf("got %d deliveries, %v, want 200 and that the database does not answer", n, err)
		}
		reason, since, _ := strings.Cut(fault.From(err).Message, advice)
		operatorReason, operatorSince, _ := strings.Cut(fault.From(err).ForOperator(), advice)
		if reason != failure.Message || operatorReason != failure.Operator || operatorSince != since {
			t.Errorf("got %q, and for operators %q, want both reasons with %q", fault.From(err).Message, err, advice)
		}
		if q.Since, err = time.Parse(time.RFC3339Nano, since); err != nil {
			t.Fatal(err)
		}
		if n, err = f.Replay(ctx, q); n == 0 || err != nil {
			t.Errorf("the rest: got %d deliveries, %v, want at least one", n, err)
		}
		last, _, err := f.List(ctx, webhook.Filter{State: webhook.Pending, Limit: 1}, "")
		if err != nil || len(last) != 1 || last[0].RoomID == room {
			t.Errorf("the last replay: got %+v, %v, want that of the last delivery", last, err)
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
		pending, _, err := f.List(ctx, webhook.Filter{RoomID: room, Limit: 10}, "")
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
			newest, _, err := f.List(ctx, webhook.Filter{RoomID: room, Limit: 1}, "")
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
