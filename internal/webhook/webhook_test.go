package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/webhook"
)

// TestDelivery_OrderedAndSigned checks that events arrive at the targets of the
// room and of the project, in order, signed, and with sequence numbers that
// reveal gaps.
func TestDelivery_OrderedAndSigned(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		own, all := newReceiver(t, nil), newReceiver(t, nil)
		f.run(f.sender)
		f.updateSettings(func(s *project.Settings) { s.DefaultWebhookURL = all.URL })
		room := storetest.NewID()
		ids := f.enqueueEvents(room, own.URL, event.RoomOpened, event.AttendanceMarked, event.RoomStarted)
		ids = append(ids, f.enqueueEvents(room, own.URL, event.RoomEnded)...)
		for _, r := range []*receiver{own, all} {
			got := r.waitForMessages(t, 3)
			for i, want := range []message{
				{ID: ids[0], Type: event.RoomOpened, Sequence: 1, Previous: 0},
				{ID: ids[2], Type: event.RoomStarted, Sequence: 3, Previous: 1},
				{ID: ids[3], Type: event.RoomEnded, Sequence: 4, Previous: 3},
			} {
				m := got[i]
				if m.ID != want.ID || m.Type != want.Type || m.Sequence != want.Sequence ||
					m.Previous != want.Previous || m.ProjectID != f.project.ID {
					t.Errorf("message %d: got %s, want %+v", i, m.body, want)
				}
				if string(m.Data) != `{"room_id":"`+room+`","room_type":"audio"}` {
					t.Errorf("message %d: got data %s, want the room and its type", i, m.Data)
				}
				if at, err := time.Parse("2006-01-02T15:04:05.000Z", m.Timestamp); err != nil ||
					time.Since(at) > time.Minute {
					t.Errorf("message %d: got timestamp %q, %v, want one of the last minute", i, m.Timestamp, err)
				}
				f.verifySignature(m)
			}
		}
		testkit.Eventually(t, "no delivery is pending", func() bool {
			left, _, err := f.List(t.Context(), webhook.Filter{State: webhook.Pending, Limit: 1}, "")
			return err == nil && len(left) == 0
		})
	})
}

// TestDelivery_TargetsAndFilter checks that a URL that is the target of both
// room and project gets each event once, and that previous skips the event types
// that are not subscribed.
func TestDelivery_TargetsAndFilter(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, nil)
		f.run(f.sender)
		f.updateSettings(func(s *project.Settings) {
			s.DefaultWebhookURL, s.WebhookEvents = r.URL, []event.Type{event.RoomOpened, event.RoomEnded}
		})
		room := storetest.NewID()
		f.enqueueEvents(room, r.URL, event.RoomOpened, event.RoomStarted, event.ParticipantJoined)
		f.enqueueEvents(room, r.URL, event.ParticipantLeft)
		last := f.enqueueEvents(room, r.URL, event.RoomEnded)
		f.waitForState(last[0], webhook.Delivered)
		got := r.messages()
		if len(got) != 2 || got[1].Sequence != 5 || got[1].Previous != 1 {
			t.Errorf("got %+v, want the first event, and the fifth with previous 1", got)
		}
	})
}

// TestEventsAfter_Pages checks that the events of a room can be read page by page as
// the same bytes that a receiver of all types gets.
func TestEventsAfter_Pages(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := newReceiver(t, nil)
		f.run(f.sender)
		id := storetest.Room(f.project.ID)
		start := time.Now().Add(time.Hour)
		person := &event.Participant{
			Identity:   "4712",
			Name:       "Zoë <b>&\u2028",
			Role:       "guest",
			Session:    id.ID + ".1",
			Connection: "PA_1",
			JoinedAt:   time.Now(),
		}
		var events []event.Event
		for i, kind := range []event.Type{event.RoomOpened, event.AttendanceMarked, event.RoomStarted,
			event.ParticipantJoined, event.RoomEnded} {
			e := event.Event{
				ID:        storetest.NewID(),
				Type:      kind,
				ProjectID: f.project.ID,
				RoomID:    id.ID,
				Sequence:  int64(i + 1),
				At:        f.now(),
				Data:      event.Data{RoomID: id.ID, RoomType: "video", StartAt: &start},
			}
			if kind == event.ParticipantJoined {
				e.Data.Participant = person
			}
			events = append(events, e)
		}
		err := f.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			if err := f.db.InsertRoom(ctx, id); err != nil {
				return err
			}
			if err := f.db.AppendEvents(ctx, events); err != nil {
				return err
			}
			_, err := f.RoomChanged(ctx, r.URL, events)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Wake()
		sent := r.waitForMessages(t, 4)
		for _, c := range []struct {
			after int64
			limit int
			want  []message
			last  int64
			more  bool
		}{{0, 50, sent, 5, false}, {0, 4, sent, 5, false}, {0, 2, sent[:2], 3, true}, {1, 1, sent[1:2], 3, true}, {2, 3,
			sent[1:], 5, false}, {5, 3, nil, 5, false}, {9, 3, nil, 9, false}} {
			bodies, last, more, err := f.EventsAfter(t.Context(), id.ID, c.after, c.limit)
			if err != nil || last != c.last || more != c.more || len(bodies) != len(c.want) {
				t.Fatalf("%d events after %d: got %d events, last %d, more %t, %v, want %d, %d, %t",
					c.limit, c.after, len(bodies), last, more, err, len(c.want), c.last, c.more)
			}
			for i, body := range bodies {
				if string(body) != c.want[i].body {
					t.Errorf("event %d differs from the webhook (-want +got):\n%s", i, cmp.Diff(c.want[i].body, string(body)))
				}
			}
		}
	})
}

// TestEventsAfter_DeletedEvents checks that a reader learns which events are not kept any more,
// and that events which are never delivered are no gap.
func TestEventsAfter_DeletedEvents(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		r := storetest.Room(f.project.ID)
		r.EventSequence = 5
		var events []event.Event
		for i, kind := range []event.Type{event.AttendanceMarked, event.RoomOpened, event.AttendanceMarked,
			event.RoomStarted, event.RoomEnded} {
			events = append(events, event.Event{
				ID:        storetest.NewID(),
				Type:      kind,
				ProjectID: f.project.ID,
				RoomID:    r.ID,
				Sequence:  int64(i + 1),
				At:        f.now(),
				Data:      event.Data{RoomID: r.ID, RoomType: "video"},
			})
		}
		write := func(work func(ctx context.Context) error) {
			t.Helper()
			if err := f.db.Write(storetest.Patient(t.Context()), work); err != nil {
				t.Fatal(err)
			}
		}
		write(func(ctx context.Context) error {
			return errors.Join(f.db.InsertRoom(ctx, r), f.db.AppendEvents(ctx, events))
		})
		for deleted, c := range []map[int64]string{
			{0: "2 after 0, 4 after 2, 5 after 4", 2: "4 after 2, 5 after 4", 5: ""},
			{0: "gone", 1: "2 after 1, 4 after 2, 5 after 4", 2: "4 after 2, 5 after 4"},
			{1: "gone", 2: "4 after 2, 5 after 4"},
			{1: "gone", 2: "gone", 3: "4 after 3, 5 after 4", 4: "5 after 4"},
			{2: "gone", 4: "5 after 4", 5: ""},
			{0: "gone", 4: "gone", 5: "", 9: ""},
		} {
			if deleted > 0 {
				write(func(ctx context.Context) error { _, _, err := f.db.DeleteRoom(ctx, r.ID, 1); return err })
			}
			gone := fmt.Sprintf("the events 1 to %d of this room are no longer kept, because the room is being deleted", deleted)
			for after, want := range c {
				bodies, _, _, err := f.EventsAfter(t.Context(), r.ID, after, 10)
				var got []string
				for _, body := range bodies {
					var m message
					if err := json.Unmarshal(body, &m); err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%d after %d", m.Sequence, m.Previous))
				}
				_, _, timelineErr := f.Timeline(t.Context(), r.ID, after, 10)
				if want == "gone" {
					for _, err := range []error{err, timelineErr} {
						if !fault.Is(err, fault.NotFound) || err.Error() != gone {
							t.Errorf("%d deleted, after %d: got %v, want NotFound: %s", deleted, after, err, gone)
						}
					}
				} else if strings.Join(got, ", ") != want || err != nil || timelineErr != nil {
					t.Errorf("%d deleted, after %d: got %v, %v, %v, want %s", deleted, after, got, err, timelineErr, want)
				}
			}
		}
	})
}

// TestProjectEvents_OwnSequence checks that events of a project have their own sequence
// numbers and go to its target.
func TestProjectEvents_OwnSequence(t *testing.T) {
	forEachEngine(t, func(t *testing.T, f *fixture) {
		ctx := context.Background()
		r := newReceiver(t, nil)
		f.run(f.sender)
		if _, err := f.Test(ctx, f.project.ID); err == nil {
			t.Error("test webhook without a target: got no error, want one")
		}
		f.updateSettings(func(s *project.Settings) { s.DefaultWebhookURL = r.URL })
		id, err := f.Test(ctx, f.project.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.waitForState(id, webhook.Delivered)
		if _, err := f.keys.RotateSecret(ctx, f.project.ID, key.Rotation{Overlap: time.Hour}); err != nil {
			t.Fatal(err)
		}
		got := r.waitForMessages(t, 2)
		if got[0].Type != event.WebhookTest || got[0].Sequence != 1 || string(got[0].Data) != "{}" {
			t.Errorf("got %+v, want an empty webhook.test with sequence 1", got[0])
		}
		if got[1].Type != event.KeyRotated || got[1].Sequence != 2 || got[1].Previous != 1 {
			t.Errorf("got %+v, want key.rotated with sequence 2 and previous 1", got[1])
		}
		f.keys.Invalidate(f.project.ID)
		id, _ = f.Test(ctx, f.project.ID)
		f.waitForState(id, webhook.Delivered)
		f.verifySignature(r.messages()[2]) // with both secrets

		// One event announces the end of the overlap half an hour before.
		f.advance(31 * time.Minute)
		for range 2 {
			if err := f.keys.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		got = r.waitForMessages(t, 4)
		if got[3].Type != event.KeyOverlapEnding || got[3].Sequence != 4 {
			t.Errorf("got %+v, want key.overlap_ending with sequence 4", got[3])
		}
		if all, err := storetest.ProjectEvents(ctx, f.db, f.project.ID); err != nil || len(all) != 4 {
			t.Errorf("events of the project: got %+v, %v, want 4", all, err)
		}
	})
}
