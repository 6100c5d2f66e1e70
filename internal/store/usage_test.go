package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// countingLedger counts the intervals that are read, and the reads of moves.
type countingLedger struct {
	*store.DB
	hours, days, moveReads *int
}

func (l countingLedger) UsageMoves(ctx context.Context, s usage.Scope, from, to time.Time) ([]usage.Move, error) {
	*l.moveReads++
	return l.DB.UsageMoves(ctx, s, from, to)
}

func (l countingLedger) UsageHours(ctx context.Context, s usage.Scope, from, to time.Time) ([]usage.Interval, error) {
	all, err := l.DB.UsageHours(ctx, s, from, to)
	*l.hours += len(all)
	return all, err
}

func (l countingLedger) UsageDays(ctx context.Context, s usage.Scope, from, to time.Time) ([]usage.Interval, error) {
	all, err := l.DB.UsageDays(ctx, s, from, to)
	*l.days += len(all)
	return all, err
}

// The usage of a month reads a row for each day and for each hour of the current day. A day
// with a late report is read from its hours until it is folded again, and so are all days
// after a rollup by an earlier release. The moves of many late hours are read once for each day.
func TestUsage_ReadsDays(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		p := storetest.Project(t, db)
		start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		now := start.AddDate(0, 0, 30).Add(23*time.Hour + 30*time.Minute)
		const late = 5*24 + 12 // the hour of the late report
		var last room.Attendance
		for hour := range 30*24 + 23 {
			a := joinRoom(t, db, p.ID, start.Add(time.Duration(hour)*time.Hour))
			if hour == late {
				last = a
				continue
			}
			endAttendance(t, db, a, time.Minute)
		}
		var hours, days, moveReads int
		ledger := countingLedger{db, &hours, &days, &moveReads}
		service := usage.NewService(ledger, usage.NoProvider{}, func() time.Time { return now })
		check := func(when string, wantDays, wantHours int, wantTime time.Duration) {
			t.Helper()
			hours, days, moveReads = 0, 0, 0
			got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: p.OrganizationID}, start, now)
			want := usage.Totals{VideoMillis: wantTime.Milliseconds(), RoomsCreated: 743, Sessions: 743, Peak: 2}
			if err != nil || got != want {
				t.Errorf("usage %s: got %+v, %v, want %+v", when, got, err, want)
			}
			if days != wantDays || hours != wantHours {
				t.Errorf("rows %s: got %d days and %d hours, want %d and %d", when, days, hours, wantDays, wantHours)
			}
		}
		rollUp := func() {
			t.Helper()
			if err := service.RollUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		rollUp()
		present := now.Sub(last.JoinedAt) + 742*time.Minute
		check("after the rollup", 30, 23, present)
		last.LeftAt, last.Reason = last.JoinedAt.Add(90*time.Minute), room.LeftServer
		mustWrite(t, db, func(ctx context.Context) error { return db.EndAttendance(ctx, last, now) })
		check("after a late report", 30, 24+23, 90*time.Minute+742*time.Minute)
		rollUp()
		check("after the next rollup", 30, 23, 90*time.Minute+742*time.Minute)

		rebuilt := usage.Rebuilt{OrganizationID: p.OrganizationID, From: start, To: start.AddDate(0, 0, 9)}
		err := db.MarkUsageLate(t.Context(), rebuilt, now, func(context.Context) (late []time.Time, err error) {
			for hour := 1; hour < 10*24; hour += 2 {
				late = append(late, start.Add(time.Duration(hour)*time.Hour))
			}
			return late, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		check("with 120 late hours", 30, 10*24+23, 90*time.Minute+742*time.Minute)
		if most := 10 + 1; moveReads > most {
			t.Errorf("with 120 late hours: got %d reads of moves, want at most %d", moveReads, most)
		}
		rollUp()
		check("after they are rolled up again", 30, 23, 90*time.Minute+742*time.Minute)

		// An earlier release does not know the days. Here it rolls up an hour again.
		for _, q := range []string{
			fmt.Sprintf(`UPDATE usage_hours SET video_millis = video_millis + 60000 WHERE hour = %d`, last.JoinedAt.UnixMilli()),
			`UPDATE usage_progress SET version = version + 1`,
		} {
			if _, err := d.Raw(t).Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		check("after a rollup by an earlier release", 0, 743, 91*time.Minute+742*time.Minute)
		service = usage.NewService(ledger, usage.NoProvider{}, func() time.Time { return now })
		rollUp()
		check("after a restart", 30, 23, 91*time.Minute+742*time.Minute)
	})
}

// TestUsage_OfTestProjects has the moves of a test project and of another one in every hour. The
// usage of the organization is that of the other project, before and after it is rolled up, after a
// correction, and when it is computed again.
func TestUsage_OfTestProjects(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		other := storetest.Project(t, db)
		projects := project.NewService(db, time.Now, storetest.NewID, func(string) {})
		test, err := projects.Create(t.Context(),
			project.Draft{OrganizationID: other.OrganizationID, Name: "Tests", Test: true})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		now := start.Add(50*time.Hour + 30*time.Minute)
		var first, last room.Attendance
		for hour := range 49 {
			at := start.Add(time.Duration(hour) * time.Hour)
			endAttendance(t, db, joinRoom(t, db, other.ID, at), time.Minute)
			endAttendance(t, db, joinRoom(t, db, test.ID, at), 2*time.Minute)
			if last = joinRoom(t, db, test.ID, at); hour < 48 {
				endAttendance(t, db, last, 3*time.Minute)
			}
			if hour == 0 {
				first = last
			}
		}
		service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return now })
		check := func(when string, testTime time.Duration) {
			t.Helper()
			for projectID, want := range map[string]usage.Totals{
				"":       {VideoMillis: (49 * time.Minute).Milliseconds(), RoomsCreated: 49, Sessions: 49, Peak: 1},
				other.ID: {VideoMillis: (49 * time.Minute).Milliseconds(), RoomsCreated: 49, Sessions: 49, Peak: 1},
				test.ID:  {VideoMillis: testTime.Milliseconds(), RoomsCreated: 98, Sessions: 98, Peak: 2},
			} {
				got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: other.OrganizationID, ProjectID: projectID},
					start, now)
				if err != nil || got != want {
					t.Errorf("usage of %q %s: got %+v, %v, want %+v", projectID, when, got, err, want)
				}
			}
		}
		check("before the rollup", (48*5+2+150)*time.Minute)
		if err := service.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("after the rollup", (48*5+2+150)*time.Minute)
		last.LeftAt, last.Reason = last.JoinedAt.Add(10*time.Minute), room.LeftServer
		mustWrite(t, db, func(ctx context.Context) error { return db.EndAttendance(ctx, last, now) })
		check("after a late report", (48*5+2+10)*time.Minute)
		if err := service.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("after its rollup", (48*5+2+10)*time.Minute)
		rebuilt, err := service.Rebuild(t.Context(), other.OrganizationID, start, now)
		if err != nil || len(rebuilt.Changes) != 0 {
			t.Errorf("computed again: got %+v, %v, want no change", rebuilt, err)
		}
		check("computed again", (48*5+2+10)*time.Minute)
		mustWrite(t, db, func(ctx context.Context) error {
			_, _, err := db.DeleteRoom(ctx, first.RoomID, 100)
			return err
		})
		rebuilt, err = service.Rebuild(t.Context(), other.OrganizationID, start, now)
		if err != nil || len(rebuilt.Changes) != 0 || !rebuilt.KeptUntil.Equal(start.Add(49*time.Hour)) {
			t.Errorf("computed again after the deletion of a room: got %+v, %v, want that its figures stay", rebuilt, err)
		}
		check("after the deletion of a room", (48*5+2+10)*time.Minute)
	})
}

// watchedLedger cannot save rollups of one organization, and counts the hours that one transaction corrects.
type watchedLedger struct {
	*store.DB
	broken  string
	largest *int
}

func (l watchedLedger) SaveUsageRollup(ctx context.Context, r usage.Rollup) error {
	if r.OrganizationID == l.broken {
		return errors.New("this organization is broken")
	}
	*l.largest = max(*l.largest, len(r.Corrections))
	return l.DB.SaveUsageRollup(ctx, r)
}

// Many hours with late reports are rolled up again in several short transactions, whatever happens to other
// organizations.
func TestRollUp_ManyLateHours(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		broken, p := storetest.Project(t, db), storetest.Project(t, db) // in the order in which they are rolled up
		start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		const hours = 60
		now := start.Add((hours + 1) * time.Hour)
		var present []room.Attendance
		for hour := range hours {
			at := start.Add(time.Duration(hour) * time.Hour)
			endAttendance(t, db, joinRoom(t, db, broken.ID, at), time.Minute)
			present = append(present, joinRoom(t, db, p.ID, at))
		}
		largest := 0
		service := usage.NewService(watchedLedger{db, broken.OrganizationID, &largest}, usage.NoProvider{},
			func() time.Time { return now })
		rollUp := func() {
			t.Helper()
			if err := service.RollUp(t.Context()); err == nil || !strings.Contains(err.Error(), "is broken") {
				t.Errorf("roll up: got error %v, want that of the broken organization", err)
			}
		}
		rollUp()
		mustWrite(t, db, func(ctx context.Context) error {
			for _, a := range present { // as the leaves were reported after the rollup
				a.LeftAt, a.Reason = a.JoinedAt.Add(time.Minute), room.LeftServer
				if err := db.EndAttendance(ctx, a, now); err != nil {
					return err
				}
			}
			return nil
		})
		late, err := db.OrganizationsWithLateUsage(t.Context(), 10)
		if err != nil || !slices.Equal(late, []string{p.OrganizationID}) {
			t.Fatalf("organizations with late reports: got %v, %v, want %s", late, err, p.OrganizationID)
		}
		moved := countBaseMoves(t, d)
		rollUp()
		if largest == 0 || largest > hours/2 {
			t.Errorf("one transaction corrects %d of %d hours, want some and at most half of them", largest, hours)
		}
		if n := moved(); n > hours*hours/4 {
			t.Errorf("the corrections of %d hours change the base of later hours %d times, want once for each transaction",
				hours, n)
		}
		got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: p.OrganizationID}, start, now)
		want := usage.Totals{VideoMillis: (hours * time.Minute).Milliseconds(), RoomsCreated: hours, Sessions: hours, Peak: 1}
		if err != nil || got != want {
			t.Errorf("usage: got %+v, %v, want %+v", got, err, want)
		}
		if late, err := db.OrganizationsWithLateUsage(t.Context(), 10); err != nil || len(late) > 0 {
			t.Errorf("organizations with late reports: got %v, %v, want none", late, err)
		}
	})
}

// countBaseMoves returns a function that returns how often the base of an hour has changed since. It counts on SQLite
// only; the statements are the same on PostgreSQL.
func countBaseMoves(t *testing.T, d storetest.Database) func() (n int) {
	t.Helper()
	if d.URL != "" {
		return func() int { return 0 }
	}
	raw := d.Raw(t)
	for _, statement := range []string{
		`CREATE TABLE base_moves (hour integer)`,
		`CREATE TRIGGER count_base_moves AFTER UPDATE OF video_base ON usage_hours BEGIN
			INSERT INTO base_moves VALUES (new.hour); END`,
	} {
		if _, err := raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() (n int) {
		if err := raw.QueryRow(`SELECT count(*) FROM base_moves`).Scan(&n); err != nil || n == 0 {
			t.Errorf("changes of the base of later hours: got %d, %v, want some", n, err)
		}
		return n
	}
}
