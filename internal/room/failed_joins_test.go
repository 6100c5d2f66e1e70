package room_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// A refused browser is recorded once a minute, up to the limit of the room.
func TestRoomFull_LoggedOncePerMinute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 1})
	f.enter(t, id, room.JoinRequest{SeatKey: browserSeatKey(0), LinkToken: link, Name: "Ada"}, "PA_0")
	knock := func(n int) {
		t.Helper()
		_, err := f.ReserveSeat(context.Background(), id,
			room.JoinRequest{SeatKey: browserSeatKey(n), Name: fmt.Sprint("Guest ", n)})
		assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
	}
	failures := func() (all []event.FailedJoin) {
		t.Helper()
		events, err := storetest.Events(context.Background(), f.db, id)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range events {
			if e.Sequence != int64(i+1) {
				t.Errorf("event %d: got %+v, want sequence %d", i+1, e, i+1)
			}
			if e.Type == event.ParticipantJoinFailed {
				all = append(all, *e.Data.FailedJoin)
			}
		}
		return all
	}
	for range 3 {
		knock(1)
		knock(2)
	}
	if got := failures(); !slices.Equal(got,
		[]event.FailedJoin{{Name: "Guest 1", Code: "room_full"}, {Name: "Guest 2", Code: "room_full"}}) {
		t.Errorf("got %+v, want one failure of each guest", got)
	}
	f.clock.advance(time.Minute)
	knock(1)
	if got := failures(); len(got) != 3 {
		t.Errorf("a minute later: got %+v, want three failures", got)
	}
	for n := range 70 {
		knock(n + 10)
	}
	if got := failures(); len(got) != 2+60 {
		t.Errorf("recorded failures: got %d, want %d", len(got), 2+60)
	}
}

// fakeWebhooks stores events or returns an error, as the test sets it.
type fakeWebhooks struct {
	created, changed func(webhookURL string, events []event.Event) (bool, error)
	wakes            int
}

func (l *fakeWebhooks) RoomCreated(_ context.Context, _ project.Settings, url string, events []event.Event) (bool,
	error) {
	return l.created(url, events)
}

func (l *fakeWebhooks) RoomChanged(_ context.Context, url string, events []event.Event) (bool, error) {
	return l.changed(url, events)
}

func (l *fakeWebhooks) Wake() { l.wakes++ }

// Deliveries are stored in the transaction of their cause. If they cannot be stored,
// the transaction is rolled back.
func TestWebhooks_EnqueuedInSameTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var got []event.Type
	var fails error
	take := func(url string, events []event.Event) (bool, error) {
		if url != "https://example.org/hook" {
			t.Errorf("webhook URL: got %q, want https://example.org/hook", url)
		}
		for _, e := range events {
			if e.ID == "" || e.Sequence == 0 {
				t.Errorf("event: got %+v, want an ID and a sequence number", e)
			}
			got = append(got, e.Type)
		}
		return len(events) > 0, fails
	}
	l := &fakeWebhooks{created: take, changed: take}
	f.options.Webhooks = l
	f.restart()
	q := room.Spec{MaxParticipants: 2, WebhookURL: "https://example.org/hook"}
	id, _ := f.create(t, q)
	if _, err := f.End(context.Background(), id, room.EndedAPI); err != nil {
		t.Fatal(err)
	}
	if want := []event.Type{event.RoomOpened, event.RoomEnded}; !slices.Equal(got, want) || l.wakes != 2 {
		t.Errorf("events of the webhook: got %v and %d wakes, want %v and 2 wakes", got, l.wakes, want)
	}
	other, _ := f.create(t, q)
	fails = fault.New(fault.Unavailable, "unavailable", "away")
	if _, err := f.End(context.Background(), other, room.EndedAPI); !fault.Is(err, fault.Unavailable) {
		t.Errorf("end while deliveries cannot be stored: got error %v, want Unavailable", err)
	}
	if r := f.room(t, other); r.Over() || r.EventSequence != 1 {
		t.Errorf("room after the failed end: got state %s, %d events, want a room that is not over, 1 event", r.State,
			r.EventSequence)
	}
	if _, err := f.CreateQuick(context.Background(), f.project,
		room.Spec{
			Type:            room.Video,
			CreatorName:     "Ada",
			Title:           "Title",
			MaxParticipants: 2,
			ClientRoomID:    "mine",
			WebhookURL:      "https://example.org/hook",
		}, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("create while deliveries cannot be stored: got error %v, want Unavailable", err)
	}
	fails = nil
	f.create(t, room.Spec{MaxParticipants: 2, ClientRoomID: "mine", WebhookURL: "https://example.org/hook"})
}

func browserSeatKey(n int) string { return fmt.Sprintf("seat-key-of-browser-%08d", n) }
