package retention_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/usage"
)

// keptRooms returns the rooms that ended after a time.
func keptRooms(t *testing.T, raw *sql.DB, after time.Time) (ids []string) {
	t.Helper()
	rows, err := raw.Query(`SELECT id FROM rooms WHERE ended_at >= $1 ORDER BY id`, after.UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// reportLate adds attendance of a room that is reported now, to the database and to raw.
func (f *fixture) reportLate(roomID string, raw *storetest.RawUsage) {
	f.t.Helper()
	r, err := f.db.Room(f.t.Context(), roomID)
	if err != nil {
		f.t.Fatal(err)
	}
	seat := room.Seat{
		ID:        storetest.NewID(),
		RoomID:    r.ID,
		KeyHash:   storetest.NewID(),
		Role:      room.Guest,
		State:     room.Free,
		CreatedAt: r.CreatedAt,
	}
	a := room.Attendance{
		ID:         storetest.NewID(),
		RoomID:     r.ID,
		Session:    1,
		SeatID:     seat.ID,
		Connection: "PA_late",
		JoinedAt:   r.CreatedAt,
		LeftAt:     r.CreatedAt.Add(time.Minute),
		Reason:     room.LeftByChoice,
	}
	f.write(func(ctx context.Context) error {
		if err := f.db.InsertSeat(ctx, seat); err != nil {
			return err
		}
		_, err := f.db.InsertAttendance(ctx, a, f.now)
		return err
	})
	raw.Add(a, r)
}

// checkUsage compares the usage with the raw rows: of all projects and of each, of the
// whole time and of each day.
func (f *fixture) checkUsage(raw *storetest.RawUsage, from time.Time, projects ...string) {
	f.t.Helper()
	for _, id := range append(projects, "") {
		scope := usage.Scope{OrganizationID: f.project.OrganizationID, ProjectID: id}
		got, err := f.usage.Totals(f.t.Context(), scope, from, f.now)
		if want := raw.Totals(id, from, f.now); err != nil || got != want {
			f.t.Fatalf("usage of the project %q: got %+v, %v, want %+v", id, got, err, want)
		}
		report, err := f.usage.Report(f.t.Context(), scope, from, time.Time{})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, d := range report.Days {
			if want := raw.Totals(id, d.Date, d.Date.Add(day)); d.Totals != want {
				f.t.Fatalf("usage of the project %q on %v: got %+v, want %+v", id, d.Date, d.Totals, want)
			}
		}
	}
}

// checkRooms checks that rooms exist, with all their events and without a gap in the numbers
// of these, and that the audit log is intact.
func (f *fixture) checkRooms(ids []string) {
	f.t.Helper()
	for _, id := range ids {
		r, err := f.db.Room(f.t.Context(), id)
		if err != nil {
			f.t.Fatal(err)
		}
		f.checkNumbers(id, int(r.EventSequence))
	}
	report, err := audit.NewService(f.db, time.Now).Verify(f.t.Context())
	if err != nil || report.Problem != nil {
		f.t.Fatalf("audit log: got %+v, %v, want no problem", report, err)
	}
}

// recordedRooms returns the sum of the rooms in the entries of the audit log for an action.
func (f *fixture) recordedRooms(action audit.Action) (rooms int) {
	f.t.Helper()
	for below := int64(0); ; {
		entries, err := f.db.AuditEntries(f.t.Context(), audit.Query{BelowN: below, Limit: 100})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, e := range entries {
			if below = e.N; e.Action != action {
				continue
			}
			var after struct{ Rooms int }
			if err := json.Unmarshal([]byte(e.After), &after); err != nil {
				f.t.Fatalf("entry %d of the audit log: got %q, %v, want a number of rooms", e.N, e.After, err)
			}
			rooms += after.Rooms
		}
		if len(entries) == 0 {
			return rooms
		}
	}
}

// TestMaintenance_SurvivesProcessCrash kills a process that rolls up the usage and sweeps at
// random moments. Each next process continues the work, and the last one finishes it.
func TestMaintenance_SurvivesProcessCrash(t *testing.T) {
	testkit.Slow(t)
	const rounds = 8
	periods := retention.Periods{Rooms: 20 * day, People: 10 * day, Deliveries: 10 * day, Calls: day}
	onEachEngine(t, periods, func(t *testing.T, f *fixture) {
		second := f.project
		second.ID = storetest.NewID()
		f.write(func(ctx context.Context) error { return f.db.InsertProject(ctx, second) })
		from := f.now.Add(-60 * day).Truncate(day)
		for i, p := range []project.Project{f.project, second} {
			storetest.Fill(t, f.db, p.ID, 400, from, f.now.Add(-2*time.Hour), uint64(i))
		}
		large := f.meeting(f.project.ID, f.now.Add(-50*day), guest{"Large Amina", "large-user-7"}, guest{"Bo", ""})
		f.rejoin(large, "large-user-7", "Large Amina", 500) // more events than one transaction deletes
		// Plan to pack events, keep earlier programs from starting, and wait until they would be seen.
		for days := 3; days > 0; days-- {
			f.write(func(ctx context.Context) error {
				_, err := f.db.PreparePacking(ctx, f.now.AddDate(0, 0, -days), f.now)
				return err
			})
		}
		raw := f.ReadRawUsage(t)
		existing := len(keptRooms(t, f.Raw(t), time.UnixMilli(0)))
		kept := keptRooms(t, f.Raw(t), f.now.Add(-periods.Rooms))
		cutRollups, cutSweeps := 0, 0
		for range rounds {
			if err := f.db.Close(); err != nil {
				t.Fatal(err)
			}
			lines := f.maintainInChild(1 + rand.IntN(30))
			f.open()
			if !slices.Contains(lines, finishedLine) {
				cutSweeps++
				if !f.isRolledUp() {
					cutRollups++
				}
			}
			f.checkUsage(raw, from, f.project.ID, second.ID)
			f.checkRooms(kept)
			f.reportLate(kept[rand.IntN(len(kept))], raw)
			f.checkUsage(raw, from, f.project.ID, second.ID)
		}
		t.Logf("%d rounds, killed during %d sweeps and %d rollups", rounds, cutSweeps, cutRollups)
		if cutSweeps == 0 || cutRollups == 0 {
			t.Errorf("killed during: got %d sweeps and %d rollups, want at least one of each", cutSweeps, cutRollups)
		}
		f.maintainInChild(0)
		if !f.isRolledUp() {
			t.Error("rollup after the last process: got unfinished, want finished")
		}
		f.checkUsage(raw, from, f.project.ID, second.ID)
		f.checkRooms(kept)
		if got, want := f.recordedRooms(audit.RoomsDeleted), existing-len(kept); got != want {
			t.Errorf("deleted rooms in the audit log: got %d, want %d", got, want)
		}
		if left := keptRooms(t, f.Raw(t), time.UnixMilli(0)); !slices.Equal(left, kept) {
			t.Errorf("rooms after the last process: got %d, want only the %d that are kept", len(left), len(kept))
		}
		for _, table := range []string{"attendance", "seats", "sessions", "events", "packed_events", "links",
			"webhook_deliveries"} {
			var orphans int
			err := f.Raw(t).QueryRow(`SELECT count(*) FROM ` + table + ` WHERE room_id NOT IN (SELECT id FROM rooms)`).
				Scan(&orphans)
			if err != nil || orphans != 0 {
				t.Errorf("rows of deleted rooms in the table %s: got %d, %v, want none", table, orphans, err)
			}
		}
		var unpacked int
		if err := f.Raw(t).QueryRow(`SELECT count(*) FROM events`).Scan(&unpacked); err != nil || unpacked != 0 {
			t.Errorf("events that are not packed: got %d, %v, want none", unpacked, err)
		}
		for _, name := range []string{"large-user-7", "Large Amina"} {
			if got := f.rows(name); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", name, got)
			}
		}
		var named int
		err := f.Raw(t).QueryRow(`SELECT count(*) FROM seats s JOIN rooms r ON r.id = s.room_id
			WHERE s.name <> '' AND r.ended_at < $1`, f.now.Add(-periods.People).UnixMilli()).Scan(&named)
		if err != nil || named != 0 {
			t.Errorf("seats with a name whose period is over: got %d, %v, want none", named, err)
		}
	})
}

// receiptAfterKills runs a child process again and again, which kills itself in one of its transactions, until one
// finishes. It returns that one's receipt.
func (f *fixture) receiptAfterKills(a crashArguments) crashReceipt {
	f.t.Helper()
	if err := f.db.Close(); err != nil {
		f.t.Fatal(err)
	}
	defer f.open()
	for kills := 0; ; kills++ {
		// Each process commits at least one transaction, and later ones more, because a large room needs several.
		a.KillIn = 2 + rand.IntN(1+kills)
		lines := f.runChild(a, 0)
		if !slices.Contains(lines, finishedLine) {
			continue
		}
		if kills == 0 {
			f.t.Error("killed processes: got none, want at least one")
		}
		var receipt crashReceipt
		if err := json.Unmarshal([]byte(lines[len(lines)-2]), &receipt); err != nil {
			f.t.Fatalf("got the lines %q, %v, want a receipt", lines, err)
		}
		return receipt
	}
}

// The receipt of an erasure whose process was killed several times, and the audit log, have the counts of all attempts.
func TestErase_SurvivesProcessCrash(t *testing.T) {
	testkit.Slow(t)
	const meetings = 40
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		for i := range meetings {
			f.meeting(f.project.ID, f.now.Add(-time.Duration(1+i)*day), guest{"Zebulon", "user-7"}, guest{"Control", "user-8"})
			if i == meetings/2 {
				storetest.Pack(t, f.db, f.now)
			}
		}
		large := f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", "user-7"})
		f.rejoin(large, "user-7", "Zebulon", 500)
		receipt := f.receiptAfterKills(crashArguments{Erase: retention.Person{ProjectID: f.project.ID, UserID: "user-7"}})
		want := retention.Erased{
			Rooms:       meetings + 1,
			Seats:       meetings + 1,
			Links:       meetings + 1,
			Events:      3*(meetings+1) + 500,
			Deliveries:  3 * (meetings + 1),
			HostActions: 3*meetings + 4,
			Compaction:  f.compaction(),
		}
		if receipt.Erased != want {
			t.Errorf("receipt: got %+v, want %+v", receipt.Erased, want)
		}
		if want.Compaction = ""; f.recordedErasures() != want {
			t.Errorf("audit log: got the sum %+v, want %+v", f.recordedErasures(), want)
		}
		for _, text := range []string{"Zebulon", "user-7", "erased "} {
			if got := f.rows(text); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", text, got)
			}
		}
	})
}

// A project and then its organization are deleted by processes that are killed at random moments. The usage stays until
// the organization is gone, another project of it stays as it is, and the receipts have the counts of all attempts.
func TestDeletion_SurvivesProcessCrash(t *testing.T) {
	testkit.Slow(t)
	const rounds = 6
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		second := f.project
		second.ID = storetest.NewID()
		f.write(func(ctx context.Context) error { return f.db.InsertProject(ctx, second) })
		from := f.now.Add(-60 * day).Truncate(day)
		storetest.Fill(t, f.db, f.project.ID, 300, from, f.now.Add(-3*day), 1)
		storetest.Fill(t, f.db, second.ID, 100, from, f.now.Add(-3*day), 2)
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		raw := f.ReadRawUsage(t)
		count := func(q string, args ...any) (n int) {
			t.Helper()
			if err := f.Raw(t).QueryRow(q, args...).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		ofProject := func(id string) (rows retention.Deleted) {
			inRooms := func(table string) int {
				return count(`SELECT count(*) FROM `+table+` WHERE room_id IN (SELECT id FROM rooms WHERE project_id = $1)`, id)
			}
			return retention.Deleted{
				Rooms:       count(`SELECT count(*) FROM rooms WHERE project_id = $1`, id),
				Seats:       inRooms("seats"),
				Connections: inRooms("attendance"),
				Links:       inRooms("links"),
				Events:      inRooms("events"),
				Deliveries:  count(`SELECT count(*) FROM webhook_deliveries WHERE project_id = $1`, id),
			}
		}
		existing, kept := ofProject(f.project.ID), ofProject(second.ID)
		deleteProject := func(id string, cutAtLeast int) {
			t.Helper()
			p, err := f.db.Project(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			p.SuspendedAt = f.now
			f.write(func(ctx context.Context) error { return f.db.UpdateProject(ctx, p) })
			if err := f.retention.DeleteProject(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			cut := 0
			for range rounds {
				if err := f.db.Close(); err != nil {
					t.Fatal(err)
				}
				lines := f.maintainInChild(1 + rand.IntN(8))
				f.open()
				if !slices.Contains(lines, finishedLine) {
					cut++
				}
				f.checkUsage(raw, from, f.project.ID, second.ID)
			}
			if cut < cutAtLeast {
				t.Errorf("killed processes: got %d, want at least %d", cut, cutAtLeast)
			}
			f.maintainInChild(0)
			if _, err := f.db.Project(t.Context(), id); !fault.Is(err, fault.NotFound) {
				t.Errorf("project after its deletion: got %v, want that there is none", err)
			}
			f.checkUsage(raw, from, f.project.ID, second.ID)
		}
		deleteProject(f.project.ID, 2)
		if got := f.deletionReceipts(f.project.ID); !slices.Equal(got, []retention.Deleted{existing}) {
			t.Errorf("receipts of the project: got %+v, want one, %+v", got, existing)
		}
		if got := ofProject(second.ID); got != kept {
			t.Errorf("the other project: got %+v, want %+v", got, kept)
		}
		for _, table := range []string{"attendance", "seats", "sessions", "events", "packed_events", "links",
			"webhook_deliveries"} {
			if n := count(`SELECT count(*) FROM ` + table + ` WHERE room_id NOT IN (SELECT id FROM rooms)`); n != 0 {
				t.Errorf("rows of deleted rooms in the table %s: got %d, want none", table, n)
			}
		}

		deleteProject(second.ID, 0)
		hours := count(`SELECT count(*) FROM usage_hours WHERE organization_id = $1`, f.project.OrganizationID)
		receipt := f.receiptAfterKills(crashArguments{DeleteOrganization: f.project.OrganizationID})
		if receipt.UsageHours != hours {
			t.Errorf("receipt of the organization: got %d hours, want %d", receipt.UsageHours, hours)
		}
		for _, id := range []string{f.project.OrganizationID, f.project.ID, second.ID} {
			got := f.rows(id)
			delete(got, "audit")
			if len(got) != 0 {
				t.Errorf("rows with the ID %s: got %v, want none", id, got)
			}
		}
		report, err := audit.NewService(f.db, time.Now).Verify(t.Context())
		if err != nil || report.Problem != nil {
			t.Errorf("audit log: got %+v, %v, want no problem", report, err)
		}
	})
}

// deletionReceipts returns the receipts of a deleted project in the audit log.
func (f *fixture) deletionReceipts(projectID string) (receipts []retention.Deleted) {
	f.t.Helper()
	entries, err := f.db.AuditEntries(f.t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Action == audit.ProjectDeleted && e.Subject == projectID {
			var receipt retention.Deleted
			if err := json.Unmarshal([]byte(e.After), &receipt); err != nil {
				f.t.Fatal(err)
			}
			receipts = append(receipts, receipt)
		}
	}
	return receipts
}

// isRolledUp reports whether the usage is rolled up, with all late reports.
func (f *fixture) isRolledUp() bool {
	f.t.Helper()
	progress, err := f.db.UsageProgress(f.t.Context(), f.project.OrganizationID)
	if err != nil {
		f.t.Fatal(err)
	}
	return len(progress.Late) == 0 && progress.Until.After(f.now.Add(-3*time.Hour))
}
