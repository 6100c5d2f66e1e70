package retention_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/internal/usage"
)

// crashVariable contains the crashArguments of the child process, as JSON.
const crashVariable = "PARLEY_TEST_CRASH_MAINTENANCE"

type crashArguments struct {
	Database storetest.Database
	Now      time.Time
	Periods  retention.Periods
}

// These are the lines that the child process prints.
const (
	rolledUpLine = "rolled up"
	sweptLine    = "swept"
	finishedLine = "finished"
)

// announcingStore prints a line after each commit of a rollup and of a sweep.
type announcingStore struct{ *store.DB }

func (s announcingStore) SaveUsageRollup(ctx context.Context, r usage.Rollup) error {
	err := s.DB.SaveUsageRollup(ctx, r)
	fmt.Println(rolledUpLine)
	return err
}

func (s announcingStore) WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error {
	err := s.DB.WriteInBackground(ctx, work)
	fmt.Println(sweptLine)
	return err
}

// maintain is the main function of the child process. It rolls up the usage and sweeps at the
// same time, as the service does, until there is nothing left to do.
func maintain(a crashArguments) error {
	ctx := audit.WithOrigin(context.Background(), audit.Origin{Kind: audit.KindService, Node: "n"})
	db, err := store.Open(ctx, a.Database.URL, a.Database.Dir)
	if err != nil {
		return err
	}
	clock := func() time.Time { return a.Now }
	s := announcingStore{db}
	var rolledUp atomic.Bool
	rollup := make(chan error, 1)
	go func() {
		rollup <- usage.NewService(s, usage.NoProvider{}, clock).RollUp(ctx)
		rolledUp.Store(true)
	}()
	sweeper := retention.NewService(s, a.Periods, nil, nil, clock, slog.New(slog.DiscardHandler))
	for last := false; !last; {
		last = rolledUp.Load()
		if _, err := sweeper.Sweep(ctx); err != nil {
			return err
		}
	}
	if err := <-rollup; err != nil {
		return err
	}
	fmt.Println(finishedLine)
	return db.Close()
}

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(crashVariable); ok {
		var a crashArguments
		err := json.Unmarshal([]byte(text), &a)
		if err == nil {
			err = maintain(a)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// maintainInChild runs maintain in a child process, which is killed at a random moment after
// it has printed some lines; zero means that it is not killed. It returns the lines.
func (f *fixture) maintainInChild(killAfter int) (lines []string) {
	f.t.Helper()
	arguments, err := json.Marshal(crashArguments{f.Database, f.now, f.periods})
	if err != nil {
		f.t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashVariable+"="+string(arguments))
	child.Stderr = os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		f.t.Fatal(err)
	}
	for printed := bufio.NewScanner(out); printed.Scan(); {
		if lines = append(lines, printed.Text()); len(lines) == killAfter {
			time.AfterFunc(rand.N(5*time.Millisecond), func() { _ = child.Process.Kill() })
		}
	}
	if err := child.Wait(); err != nil && killAfter == 0 {
		f.t.Fatalf("the child that is not killed: got %v after the lines %q, want no error", err, lines)
	}
	return lines
}

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
	raw := f.Raw(f.t)
	for _, id := range ids {
		var last, events, first, newest int64
		err := raw.QueryRow(`SELECT r.event_sequence, count(*), min(e.sequence), max(e.sequence)
			FROM rooms r JOIN events e ON e.room_id = r.id WHERE r.id = $1 GROUP BY r.id, r.event_sequence`, id).
			Scan(&last, &events, &first, &newest)
		if err != nil || first != 1 || newest != last || events != last {
			f.t.Fatalf("room %s: got %d events from %d to %d, %v, want the events 1 to %d", id, events, first, newest, err, last)
		}
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
		for _, table := range []string{"attendance", "seats", "sessions", "events", "links", "webhook_deliveries"} {
			var orphans int
			err := f.Raw(t).QueryRow(`SELECT count(*) FROM ` + table + ` WHERE room_id NOT IN (SELECT id FROM rooms)`).
				Scan(&orphans)
			if err != nil || orphans != 0 {
				t.Errorf("rows of deleted rooms in the table %s: got %d, %v, want none", table, orphans, err)
			}
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

// isRolledUp reports whether the usage is rolled up, with all late reports.
func (f *fixture) isRolledUp() bool {
	f.t.Helper()
	progress, err := f.db.UsageProgress(f.t.Context(), f.project.OrganizationID)
	if err != nil {
		f.t.Fatal(err)
	}
	return len(progress.Late) == 0 && progress.Until.After(f.now.Add(-3*time.Hour))
}
