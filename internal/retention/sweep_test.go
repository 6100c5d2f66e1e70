package retention_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/usage"
	"parley/internal/webhook"
)

var defaults = retention.Periods{Rooms: 365 * day, People: 90 * day, Deliveries: 30 * day, Calls: 7 * day}

func TestPeriods_ForProject(t *testing.T) {
	for name, c := range map[string]struct {
		server  retention.Periods
		project project.Retention
		want    retention.Periods
	}{
		"server's": {defaults, project.Retention{}, defaults},
		"shorter": {defaults, project.Retention{RoomsDays: 200, PeopleDays: 80, DeliveriesDays: 20, CallsDays: 2},
			retention.Periods{Rooms: 200 * day, People: 80 * day, Deliveries: 20 * day, Calls: 2 * day}},
		"longer has no effect": {defaults,
			project.Retention{RoomsDays: 3650, PeopleDays: 3650, DeliveriesDays: 3650, CallsDays: 3650}, defaults},
		"nothing outlives its room": {defaults, project.Retention{RoomsDays: 10},
			retention.Periods{Rooms: 10 * day, People: 10 * day, Deliveries: 10 * day, Calls: 7 * day}},
		"no delivery outlives names": {defaults, project.Retention{PeopleDays: 5},
			retention.Periods{Rooms: 365 * day, People: 5 * day, Deliveries: 5 * day, Calls: 7 * day}},
		"for ever": {retention.Periods{}, project.Retention{}, retention.Periods{}},
		"for ever, but not in this project": {retention.Periods{}, project.Retention{PeopleDays: 1},
			retention.Periods{People: day, Deliveries: day}},
	} {
		if got := c.server.ForProject(c.project); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSweep_DeletesOldRooms(t *testing.T) {
	onEachEnginePacked(t, defaults, func(t *testing.T, f *fixture) {
		amina := guest{"Amina", ""}
		old := f.meeting(f.project.ID, f.now.Add(-365*day-time.Minute), amina, guest{"Bo", ""})
		kept := f.meeting(f.project.ID, f.now.Add(-365*day+time.Minute), amina)
		totals := func() (all [2]usage.Totals) {
			for i, scope := range []usage.Scope{{OrganizationID: f.project.OrganizationID},
				{OrganizationID: f.project.OrganizationID, ProjectID: f.project.ID}} {
				sum, err := f.usage.Totals(t.Context(), scope, f.now.Add(-400*day), f.now)
				if err != nil {
					t.Fatal(err)
				}
				all[i] = sum
			}
			return all
		}
		if _, err := f.retention.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.db.Room(t.Context(), old.ID); err != nil {
			t.Fatalf("a room whose usage is not rolled up: got %v, want it kept", err)
		}
		before := totals()
		if want := int64(3 * time.Hour / time.Millisecond); before[0].VideoMillis != want || before[0].RoomsCreated != 2 {
			t.Fatalf("usage: got %+v, want %d ms in 2 rooms", before[0], want)
		}
		f.sweep()
		if _, err := f.db.Room(t.Context(), old.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("the old room: got %v, want NotFound", err)
		}
		rooms := room.NewService(f.db, nil, nil, time.Now, storetest.NewID, nil, room.Options{})
		if err := rooms.MergePastRoomCounts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := f.rows(old.ID); !cmp.Equal(got, map[string]int{"client_room_ids": 1}) {
			t.Errorf("rows with the ID of the old room: got %v, want only its client_room_id", got)
		}
		past, total, err := rooms.PastRooms(t.Context(), f.project, room.PastQuery{Limit: 10})
		if err != nil || total != 1 || len(past) != 1 {
			t.Errorf("past rooms: got %d of %d, %v, want only the newer one", len(past), total, err)
		}
		if _, err := f.db.Room(t.Context(), kept.ID); err != nil {
			t.Errorf("the room inside the period: got %v, want it kept", err)
		}
		if after := totals(); after != before {
			t.Errorf("usage after the deletion: got %+v, want %+v", after, before)
		}
		again := storetest.Room(f.project.ID)
		again.ClientRoomID = old.ClientRoomID
		err = f.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			return f.db.InsertRoom(ctx, again)
		})
		if fault.From(err).Code != "client_room_id_taken" {
			t.Errorf("the client_room_id of the deleted room: got %v, want client_room_id_taken", err)
		}
	})
}

// An open connection may still get a late report, so nothing that ended after it began
// is deleted.
func TestSweep_KeepsRoomsDuringOpenConnection(t *testing.T) {
	onEachEngine(t, retention.Periods{Rooms: 2 * day}, func(t *testing.T, f *fixture) {
		old := f.meeting(f.project.ID, f.now.Add(-10*day), guest{"Amina", ""})
		open := f.meeting(f.project.ID, f.now.Add(-9*day), guest{"Bo", ""})
		raw := f.Raw(t)
		exec := func(q string) {
			t.Helper()
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		exec(`UPDATE attendance SET left_at = NULL, joined_at = joined_at - 172800000 WHERE room_id = '` + open.ID + `'`)
		f.sweep()
		if _, err := f.db.Room(t.Context(), old.ID); err != nil {
			t.Errorf("a room that ended while a connection was open: got %v, want it kept", err)
		}
		exec(`UPDATE attendance SET left_at = joined_at + 1 WHERE room_id = '` + open.ID + `'`)
		f.sweep()
		if _, err := f.db.Room(t.Context(), old.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("after the connection ended: got %v, want NotFound", err)
		}
	})
}

func TestSweep_ErasesPeople(t *testing.T) {
	onEachEnginePacked(t, defaults, func(t *testing.T, f *fixture) {
		old := f.meeting(f.project.ID, f.now.Add(-91*day), guest{"Old Amina", "old-user-7"}, guest{"Old Bo", ""})
		f.meeting(f.project.ID, f.now.Add(-89*day), guest{"New Amina", "new-user-7"})
		f.sweep()
		for _, text := range []string{"Old Amina", "old-user-7", "Old Bo"} {
			if got := f.rows(text); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", text, got)
			}
		}
		for _, text := range []string{"New Amina", "new-user-7"} {
			if got := f.rows(text); got["seats"] != 1 || got["rooms"] != 1 || got["links"] != 1 || got["events"] != 3 {
				t.Errorf("rows with %q: got %v, want those of the newer meeting", text, got)
			}
		}
		events, _, _, err := f.webhooks.EventsAfter(t.Context(), old.ID, 0, 100)
		if err != nil || len(events) != 9 {
			t.Fatalf("events of the old room: got %d, %v, want 9", len(events), err)
		}
		if r, err := f.db.Room(t.Context(), old.ID); err != nil || r.Title == "" {
			t.Errorf("the old room: got %+v, %v, want it with its title", r, err)
		}
	})
}

// A person can be followed through the events of a room after the erasure: the identity
// becomes the seat.
func TestSweep_KeepsPairsOfEvents(t *testing.T) {
	onEachEnginePacked(t, defaults, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-91*day), guest{"Amina", "user-7"}, guest{"Bo", ""})
		f.sweep()
		events, err := storetest.Events(t.Context(), f.db, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		seats, err := f.db.SeatsOfRoom(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]int{}
		for _, seat := range seats {
			known[seat.ID] = 0
		}
		for _, e := range events {
			if p := e.Data.Participant; p != nil {
				if _, ok := known[p.Identity]; !ok || p.Name != "" {
					t.Errorf("event %d: got %+v, want the ID of a seat without a name", e.Sequence, p)
				}
				known[p.Identity]++
			}
		}
		for id, n := range known {
			if n != 2 {
				t.Errorf("seat %s: got %d events, want joined and left", id, n)
			}
		}
	})
}

// A sweep deletes any number of rooms, also when it is interrupted.
func TestSweep_ContinuesAfterInterruption(t *testing.T) {
	onEachEngine(t, retention.Periods{Rooms: 2 * day}, func(t *testing.T, f *fixture) {
		const meetings = 120
		storetest.Fill(t, f.db, f.project.ID, meetings, f.now.Add(-20*day), f.now.Add(-10*day), 1)
		kept := f.meeting(f.project.ID, f.now.Add(-day), guest{"Amina", ""})
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.retention.Sweep(interrupted); err == nil {
			t.Error("canceled sweep: got no error, want one")
		}
		f.sweep()
		left, err := f.db.List(t.Context(), room.ListQuery{ProjectID: f.project.ID, Limit: 100})
		if err != nil || len(left) != 1 || left[0].ID != kept.ID {
			t.Errorf("got %d rooms, %v, want only the newest", len(left), err)
		}
	})
}

// A room with more events than one transaction takes is erased, and later deleted, in
// several. The audit log has an entry for this room, for the first transaction, and for the
// sum of the others.
func TestSweep_LargeRoomAndManyRooms(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		const rejoins, meetings = 1500, 70
		large := f.meeting(f.project.ID, f.now.Add(-100*day), guest{"Zebulon", "user-7"})
		f.rejoin(large, "user-7", "Zebulon", rejoins)
		storetest.Fill(t, f.db, f.project.ID, meetings, f.now.Add(-120*day), f.now.Add(-110*day), 1)
		sweep := func() {
			t.Helper()
			if err := f.usage.RollUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			service := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
			if _, err := f.retention.Sweep(service); err != nil {
				t.Fatal(err)
			}
		}
		checkAudit := func(action audit.Action, endedBefore time.Time) {
			t.Helper()
			entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			entriesOf, rooms := 0, 0
			for _, e := range entries {
				if e.Action != action {
					continue
				}
				var after struct {
					EndedBefore string `json:"ended_before"`
					Rooms       int    `json:"rooms"`
				}
				if err := json.Unmarshal([]byte(e.After), &after); err != nil || after.EndedBefore != audit.Timestamp(endedBefore) {
					t.Errorf("%s: got %s, %v, want rooms that ended before %s", action, e.After, err, endedBefore)
				}
				entriesOf, rooms = entriesOf+1, rooms+after.Rooms
			}
			if entriesOf < 1 || entriesOf > 3 || rooms != meetings+1 {
				t.Errorf("%s: got %d rooms in %d entries, want %d in at most 3", action, rooms, entriesOf, meetings+1)
			}
		}
		sweep()
		for _, text := range []string{"Zebulon", "user-7"} {
			if got := f.rows(text); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", text, got)
			}
		}
		checkAudit(audit.PeopleErased, f.now.Add(-90*day))
		f.now = f.now.Add(300 * day)
		sweep()
		checkAudit(audit.RoomsDeleted, f.now.Add(-365*day))
		// The counts of past rooms are not merged here.
		if got := f.rows(large.ID); !cmp.Equal(got, map[string]int{"client_room_ids": 1, "past_room_counts": 2}) {
			t.Errorf("rows with the ID of the large room: got %v, want only its client_room_id and counts", got)
		}
	})
}

// countedRows is a store that records how many rows each transaction erases and deletes, and
// calls interrupt in one of the deletions.
type countedRows struct {
	*store.DB
	erased, deleted *[]int
	interruptAt     int // number of the deletion, from 1
	interrupt       func()
}

func (s countedRows) EraseSeats(ctx context.Context, ids []string) error {
	*s.erased = append(*s.erased, len(ids))
	return s.DB.EraseSeats(ctx, ids)
}

func (s countedRows) DeleteRoom(ctx context.Context, id string, limit int) (retention.Deleted, int, error) {
	deleted, rows, err := s.DB.DeleteRoom(ctx, id, limit)
	if *s.deleted = append(*s.deleted, rows); len(*s.deleted) == s.interruptAt {
		s.interrupt()
	}
	return deleted, rows, err
}

// A room with many connections and few events is erased and deleted in several transactions.
// If that is interrupted, the next sweep continues, and until then readers of the events learn
// that some are not kept any more.
func TestSweep_ManyConnectionsInterrupted(t *testing.T) {
	testkit.Slow(t)
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		const connections, most = 3000, 500
		r := f.meeting(f.project.ID, f.now.Add(-400*day), guest{"Amina", ""})
		f.attend(r, connections-1)
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var erased, deleted []int
		ctx, interrupt := context.WithCancel(t.Context())
		counted := retention.NewService(countedRows{f.db, &erased, &deleted, 3, interrupt}, defaults, f, nil,
			func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		if _, err := counted.Sweep(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted sweep: got %v, want %v", err, context.Canceled)
		}
		if _, err := f.db.Room(t.Context(), r.ID); err != nil {
			t.Errorf("the room after the interruption: got %v, want it kept", err)
		}
		if got := f.rows("Guest"); len(got) != 0 {
			t.Errorf("rows with a name: got %v, want none", got)
		}
		_, _, _, err := f.webhooks.EventsAfter(t.Context(), r.ID, 0, 100)
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "no longer kept") {
			t.Errorf("events after the interruption: got %v, want NotFound", err)
		}
		left := f.rows(r.ID)["attendance"]
		if left == 0 || left > connections {
			t.Errorf("attendance after the interruption: got %d rows, want some", left)
		}
		if _, err := counted.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.db.Room(t.Context(), r.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("the room after the next sweep: got %v, want NotFound", err)
		}
		for what, rows := range map[string][]int{"erased": erased, "deleted": deleted} {
			if len(rows) < connections/most || slices.Max(rows) > most {
				t.Errorf("%s rows of the transactions: got %v, want at most %d in each", what, rows, most)
			}
		}
	})
}

// The audit log has all rooms of a sweep that was interrupted, as soon as the next one ends.
func TestSweep_InterruptedIsRecorded(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		const meetings = 60
		storetest.Fill(t, f.db, f.project.ID, meetings, f.now.Add(-420*day), f.now.Add(-400*day), 1)
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var erased, deleted []int
		service := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
		ctx, interrupt := context.WithCancel(service)
		counted := retention.NewService(countedRows{f.db, &erased, &deleted, meetings / 2, interrupt}, defaults, f, nil,
			func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		if _, err := counted.Sweep(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted sweep: got %v, want %v", err, context.Canceled)
		}
		left := len(keptRooms(t, f.Raw(t), time.UnixMilli(0)))
		if got := f.recordedRooms(audit.RoomsDeleted); got >= meetings-left {
			t.Fatalf("after the interruption: got %d rooms in the audit log and %d of %d left, want some that are in neither",
				got, left, meetings)
		}
		if _, err := counted.Sweep(service); err != nil {
			t.Fatal(err)
		}
		if got := f.recordedRooms(audit.RoomsDeleted); got != meetings {
			t.Errorf("after the next sweep: got %d deleted rooms in the audit log, want %d", got, meetings)
		}
	})
}

// All unused streams and the failure records of their URLs are deleted, also if deliveries are kept for ever.
func TestSweep_PrunesAllStreams(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		const replays = 1200
		r := f.meeting(f.project.ID, f.now.Add(-31*day), guest{"Amina", ""})
		f.write(func(ctx context.Context) error {
			for range replays {
				err := f.db.InsertStream(ctx, webhook.Stream{
					ID:        storetest.NewID(),
					ProjectID: f.project.ID,
					RoomID:    r.ID,
					URL:       r.WebhookURL,
					Replay:    storetest.NewID(),
					Bucket:    "b",
				}, f.now.Add(-31*day))
				if err != nil {
					return err
				}
			}
			return nil
		})
		f.write(func(ctx context.Context) error {
			_, err := f.db.RecordTargetFailure(ctx, f.project.ID, r.WebhookURL, f.now.Add(-31*day))
			return err
		})
		f.sweep()
		if got := f.rows(r.WebhookURL)["webhook_targets"]; got != 1 {
			t.Errorf("while deliveries wait: got %d failure records, want 1", got)
		}
		if _, err := f.Raw(t).Exec(`UPDATE webhook_streams SET due_at = NULL`); err != nil {
			t.Fatal(err)
		}
		f.sweep()
		if got := f.rows(r.WebhookURL); got["webhook_streams"] != 0 || got["webhook_targets"] != 0 {
			t.Errorf("got %d streams and %d failure records, want none", got["webhook_streams"], got["webhook_targets"])
		}
	})
}
