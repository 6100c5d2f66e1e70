package app

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/audit"
	"parley/internal/config"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/usage"
	"parley/internal/webhook"
)

const day = 24 * time.Hour

// dataAges are the ages of the data that addOldData adds, in days, the oldest first.
var dataAges = []int{22, 18, 14, 9, 4, 1}

// retentionData has the ages of the data of a project, in days, the oldest first.
type retentionData struct {
	Rooms, Events, Names, UserIDs, Deliveries, Calls, Audit []int
}

// A server deletes data of each class after the period of that class, and records it in the audit log as its own
// change.
func TestRetention_RunningServer(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, func(c *config.Config) { engine(t, c) })
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			rooms := s.addOldData()
			// Between two neighboring periods there is one age, so that the period of another class deletes other data.
			s = startServer(t, func(c *config.Config) {
				c.DataDir, c.DatabaseURL = s.cfg.DataDir, s.cfg.DatabaseURL
				c.RetentionRooms, c.RetentionAudit = config.Duration(20*day), config.Duration(16*day)
				c.RetentionPeople, c.RetentionDeliveries = config.Duration(12*day), config.Duration(6*day)
				c.RetentionCalls = config.Duration(3 * day)
			})
			// The last entries of the first sweep and of the first pass of the janitor.
			testkit.Eventually(t, "the audit log has the deletion of calls and of old entries by the server", func() bool {
				deleted := s.deletions()
				return deleted[audit.CallsDeleted] > 0 && deleted[audit.AuditPruned] > 0
			})
			kept := []int{18, 14, 9, 4, 1}
			want := retentionData{
				Rooms:      kept,
				Events:     kept,
				Names:      []int{9, 4, 1},
				UserIDs:    []int{9, 4, 1},
				Deliveries: []int{4, 1},
				Calls:      []int{1},
				Audit:      []int{14, 9, 4, 1},
			}
			if diff := cmp.Diff(want, s.dataOf(s.app.db, rooms)); diff != "" {
				t.Errorf("ages of the data that is left, in days (-want +got):\n%s", diff)
			}
			const events = 2 + 2*filltest.People // of a meeting, each with a delivery
			wantDeleted := map[audit.Action]int{
				audit.RoomsDeleted:      1,
				audit.PeopleErased:      3, // rooms
				audit.DeliveriesDeleted: 4 * events,
				audit.CallsDeleted:      5,
				audit.AuditPruned:       2,
			}
			if diff := cmp.Diff(wantDeleted, s.deletions()); diff != "" {
				t.Errorf("numbers in the audit log (-want +got):\n%s", diff)
			}
			if report, err := s.app.audit.Verify(t.Context()); err != nil || report.Problem != nil {
				t.Errorf("verify the audit log: got %+v, %v, want no problem", report, err)
			}
		})
	}
}

// addOldData adds a meeting, a call and an audit entry of each age in dataAges to the project of a server that was
// stopped, and returns the rooms of the meetings by age. It first deletes the audit log of the server: entries are
// deleted in the order of the log, so a new first entry would keep all later ones.
func (s *server) addOldData() map[int]string {
	s.t.Helper()
	ctx := storetest.Patient(s.t.Context())
	db, err := store.Open(ctx, s.cfg.DatabaseURL.Reveal(), s.cfg.DataDir)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	now := time.Now()
	if err := audit.NewService(db, time.Now).Prune(ctx, now.Add(day)); err != nil {
		s.t.Fatal(err)
	}
	for n, age := range dataAges {
		at := now.Add(-time.Duration(age) * day)
		past := filltest.Past{
			ProjectID:  s.ProjectID,
			Meetings:   1,
			Start:      at,
			End:        at,
			Seed:       uint64(n),
			WebhookURL: "https://receiver.example.org/",
		}
		err := errors.Join(filltest.Meetings(ctx, db, past), filltest.Calls(ctx, db, s.ProjectID, 1, at, at),
			filltest.AuditEntries(ctx, db, s.ProjectID, 1, at, at))
		if err != nil {
			s.t.Fatal(err)
		}
	}
	err = db.Write(ctx, func(ctx context.Context) error { return db.Exec(ctx, `UPDATE seats SET user_id = id`) })
	// A room is deleted only after its usage was rolled up, which the server may do after its first sweep.
	err = errors.Join(err, usage.NewService(db, usage.NoProvider{}, time.Now).RollUp(ctx))
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := db.List(ctx, room.ListQuery{ProjectID: s.ProjectID, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	rooms := map[int]string{}
	for _, r := range list {
		rooms[ageOf(r.CreatedAt)] = r.ID
	}
	want := retentionData{dataAges, dataAges, dataAges, dataAges, dataAges, dataAges, dataAges}
	if diff := cmp.Diff(want, s.dataOf(db, rooms)); diff != "" {
		s.t.Fatalf("ages of the data before, in days (-want +got):\n%s", diff)
	}
	return rooms
}

// ageOf returns the age of a time in whole days.
func ageOf(at time.Time) int { return int(time.Since(at).Round(day) / day) }

// dataOf returns the ages of what a database has in the project and in some rooms.
func (s *server) dataOf(db *store.DB, rooms map[int]string) (data retentionData) {
	s.t.Helper()
	ctx := s.t.Context()
	list, err := db.List(ctx, room.ListQuery{ProjectID: s.ProjectID, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	deliveries, _, err := webhook.NewService(db, time.Now, newID).List(ctx,
		webhook.Filter{ProjectID: s.ProjectID, Limit: 100}, "")
	if err != nil {
		s.t.Fatal(err)
	}
	calls, err := requestlog.NewRecorder(db, time.Now).List(ctx, requestlog.Query{ProjectID: s.ProjectID, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	entries, err := db.AuditEntriesAfter(ctx, 0, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	found := map[*[]int]map[int]bool{}
	add := func(ages *[]int, age int) {
		if found[ages] == nil {
			found[ages] = map[int]bool{}
		}
		found[ages][age] = true
	}
	for _, r := range list {
		add(&data.Rooms, ageOf(r.CreatedAt))
	}
	for age, id := range rooms {
		events, err := storetest.Events(ctx, db, id)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			add(&data.Events, age)
			if p := e.Data.Participant; p != nil && p.Name != "" {
				add(&data.Names, age)
			}
		}
		seats, err := db.SeatsOfRoom(ctx, id)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, seat := range seats {
			if seat.Name != "" {
				add(&data.Names, age)
			}
			if seat.UserID != "" {
				add(&data.UserIDs, age)
			}
		}
	}
	for _, d := range deliveries {
		add(&data.Deliveries, ageOf(d.CreatedAt))
	}
	for _, c := range calls.Calls {
		add(&data.Calls, ageOf(c.ReceivedAt))
	}
	for _, e := range entries {
		if e.Kind != audit.KindService {
			add(&data.Audit, ageOf(e.At))
		}
	}
	for ages, present := range found {
		for _, age := range dataAges {
			if present[age] {
				*ages = append(*ages, age)
			}
		}
	}
	return data
}

// deletions returns how much the server has deleted, according to its own entries in the audit log.
func (s *server) deletions() map[audit.Action]int {
	s.t.Helper()
	entries, err := s.app.db.AuditEntriesAfter(s.t.Context(), 0, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	deleted := map[audit.Action]int{}
	for _, e := range entries {
		if e.Kind != audit.KindService || e.Node != s.app.rooms.NodeID() {
			continue
		}
		var numbers struct{ Rooms, Deliveries, Calls, First, Last int }
		values := e.After
		if e.Action == audit.AuditPruned {
			values = e.Before
		}
		if err := json.Unmarshal([]byte(values), &numbers); err != nil {
			s.t.Fatalf("entry %d of the audit log: got the values %q, %v, want numbers", e.N, values, err)
		}
		deleted[e.Action] += numbers.Rooms + numbers.Deliveries + numbers.Calls
		if e.Action == audit.AuditPruned {
			deleted[e.Action] += numbers.Last - numbers.First + 1
		}
	}
	return deleted
}
