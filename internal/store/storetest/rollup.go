package storetest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/usage"
)

// testUsageRollups checks that usage equals the sum over the raw rows, in whatever
// order participants join and leave, reports arrive late, hours, days and months end, and
// rollups run, also those of a release that folds no days.
func (s *suite) testUsageRollups(t *testing.T) {
	db := s.open(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newUsageModel(t, rt, db)
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"wait":    m.wait,
			"clock":   m.setBackClock,
			"join":    m.join,
			"leave":   m.leave,
			"outage":  m.outage,
			"room":    m.createRoom,
			"rollup":  m.rollUp,
			"rebuild": m.rebuild,
			"older":   m.rollUpByOlderRelease,
			"end":     m.endRooms,
			"delete":  m.deleteOldRooms,
		})
	})
}

// usageModel is an organization with two projects, and its attendance as a test knows
// it.
type usageModel struct {
	ctx            context.Context
	db             *store.DB
	now            time.Time
	began          time.Time
	earliest       time.Time // the clock is not set back before it
	organizationID string
	projects       []string
	nodes          []string
	service        *usage.Service
	RawUsage
}

// maxReportDelay is the longest delay of a report in the model. It is shorter than the
// time for which deleteOldRooms keeps rooms.
const maxReportDelay = 50 * time.Hour

// endRooms ends the rooms in which nobody is.
func (m *usageModel) endRooms(rt *rapid.T) {
	occupied := map[string]bool{}
	for _, a := range m.attended {
		if a.LeftAt.IsZero() {
			occupied[a.RoomID] = true
		}
	}
	for _, r := range m.rooms {
		if occupied[r.ID] || r.Over() {
			continue
		}
		r.State, r.EndedAt, r.DueAt = room.Ended, m.now, time.Time{}
		must(rt, m.db.Write(m.ctx, func(ctx context.Context) error { return m.db.UpdateRoom(ctx, r) }))
	}
	m.createRoom(rt)
}

// ownProjects is a store without the projects of earlier checks.
type ownProjects struct {
	*store.DB
	organizationID string
}

func (s ownProjects) Projects(ctx context.Context, _ project.ListQuery) ([]project.Project, error) {
	return s.DB.Projects(ctx, project.ListQuery{OrganizationID: s.organizationID})
}

// deleteOldRooms deletes the rooms that ended before the longest delay of a report. The
// usage must outlive them.
func (m *usageModel) deleteOldRooms(rt *rapid.T) {
	service := retention.NewService(ownProjects{m.db, m.organizationID},
		retention.Periods{Rooms: maxReportDelay + time.Hour}, nil, nil, func() time.Time { return m.now },
		slog.New(slog.DiscardHandler))
	_, err := service.Sweep(m.ctx)
	must(rt, err)
	m.earliest = m.now
}

func newUsageModel(t *testing.T, rt *rapid.T, db *store.DB) *usageModel {
	first := Project(t, db)
	m := &usageModel{ctx: patient(), db: db, organizationID: first.OrganizationID,
		began: time.Date(2026, 11, 29, 22, 59, 59, 500e6, time.UTC)}
	m.now, m.earliest = m.began, m.began
	second := first
	second.ID = NewID()
	must(rt, db.Write(m.ctx, func(ctx context.Context) error { return db.InsertProject(ctx, second) }))
	m.projects = []string{first.ID, second.ID}
	m.nodes = []string{NewID(), NewID()}
	ledger := oneOrganization{db, first.OrganizationID}
	m.service = usage.NewService(ledger, usage.NoProvider{}, func() time.Time { return m.now })
	m.createRoom(rt)
	return m
}

// oneOrganization is a ledger without the organizations of earlier checks.
type oneOrganization struct {
	*store.DB
	id string
}

func (l oneOrganization) OrganizationsAfter(context.Context, string, int) ([]string, error) {
	return []string{l.id}, nil
}

func (l oneOrganization) OrganizationsUsedAfter(
	ctx context.Context, after string, since time.Time, _ int,
) ([]string, string, error) {
	used, last, err := l.DB.OrganizationsUsedAfter(ctx, after, since, 1_000_000)
	return slices.DeleteFunc(used, func(id string) bool { return id != l.id }), last, err
}

func must(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatal(err)
	}
}

func (m *usageModel) wait(rt *rapid.T) {
	durations := []time.Duration{time.Minute, time.Hour, 5 * time.Hour, 40 * time.Hour}
	m.now = m.now.Add(drawDuration(rt, rapid.SampledFrom(durations).Draw(rt, "longest")))
}

// setBackClock sets the clock back by hours, some of which may have been rolled up, but not
// before the start and not before the deletion of rooms.
func (m *usageModel) setBackClock(rt *rapid.T) {
	now := m.now.Add(-drawDuration(rt, 3*time.Hour))
	if now.After(m.earliest) {
		m.now = now
	}
}

// drawDuration draws a duration up to longest. It draws a part of longest first, because
// rapid prefers small integers, so that hours would be rare among milliseconds.
func drawDuration(rt *rapid.T, longest time.Duration) time.Duration {
	d := longest * time.Duration(rapid.IntRange(0, 8).Draw(rt, "eighths")) / 8
	return d - time.Duration(rapid.Int64Range(0, d.Milliseconds()).Draw(rt, "less"))*time.Millisecond
}

// reportedAt draws the time of something that is reported now.
func (m *usageModel) reportedAt(rt *rapid.T, notBefore time.Time) time.Time {
	longest := rapid.SampledFrom([]time.Duration{0, time.Minute, 90 * time.Minute, maxReportDelay}).Draw(rt, "latest")
	at := m.now.Add(-drawDuration(rt, longest))
	if at.Before(notBefore) {
		return notBefore
	}
	return at
}

func (m *usageModel) createRoom(rt *rapid.T) {
	r := Room(rapid.SampledFrom(m.projects).Draw(rt, "project"))
	r.Type = rapid.SampledFrom([]room.Type{room.Audio, room.Video}).Draw(rt, "type")
	r.CreatedAt = m.now
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		if err := m.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		return m.db.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, State: room.SessionLive}, m.now)
	}))
	m.AddRoom(r, []time.Time{m.now})
}

func (m *usageModel) join(rt *rapid.T) {
	r := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(m.rooms), (*room.Room).Over)).Draw(rt, "room")
	seat := newSeat(r.ID, room.Joined, len(m.attended))
	a := room.Attendance{
		ID:         NewID(),
		RoomID:     r.ID,
		Session:    1,
		SeatID:     seat.ID,
		Connection: "PA_1",
		Hidden:     rapid.IntRange(0, 9).Draw(rt, "hidden") == 0,
		JoinedAt:   m.reportedAt(rt, m.began),
		Node:       rapid.SampledFrom(m.nodes).Draw(rt, "node"),
	}
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		if err := m.db.InsertSeat(ctx, seat); err != nil {
			return err
		}
		_, err := m.db.InsertAttendance(ctx, a, m.now)
		return err
	}))
	m.Add(a, r)
}

func (m *usageModel) leave(rt *rapid.T) {
	var present []int
	for i, a := range m.attended {
		if a.LeftAt.IsZero() {
			present = append(present, i)
		}
	}
	if len(present) == 0 {
		rt.Skip("nobody is present")
	}
	a := &m.attended[rapid.SampledFrom(present).Draw(rt, "attendance")]
	a.LeftAt, a.Reason = m.reportedAt(rt, a.JoinedAt), room.LeftByChoice
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error { return m.db.EndAttendance(ctx, a.Attendance, m.now) }))
}

// outage stops all nodes for a while. The first one that starts again rolls up, then it
// ends the connections of a lost node at the last heartbeat of that node.
func (m *usageModel) outage(rt *rapid.T) {
	node := rapid.SampledFrom(m.nodes).Draw(rt, "lost node")
	alive := m.now
	m.wait(rt)
	m.rollUp(rt)
	var ended []room.Attendance
	for i := range m.attended {
		a := &m.attended[i]
		if a.Node != node || !a.LeftAt.IsZero() {
			continue
		}
		if a.LeftAt, a.Reason = alive, room.LeftServer; alive.Before(a.JoinedAt) {
			a.LeftAt = a.JoinedAt
		}
		ended = append(ended, a.Attendance)
	}
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		for _, a := range ended {
			if err := m.db.EndAttendance(ctx, a, m.now); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (m *usageModel) rollUp(rt *rapid.T) { must(rt, m.service.RollUp(m.ctx)) }

// rebuild changes nothing, because all usage is right.
func (m *usageModel) rebuild(rt *rapid.T) {
	got, err := m.service.Rebuild(m.ctx, m.organizationID, m.began, time.Time{})
	must(rt, err)
	if len(got.Changes) > 0 {
		rt.Fatalf("rebuild of right usage: got %+v, want no change", got.Changes)
	}
}

// rollUpByOlderRelease rolls up as a node of a release that folds no days.
func (m *usageModel) rollUpByOlderRelease(rt *rapid.T) {
	ledger := olderRelease{oneOrganization{m.db, m.organizationID}}
	must(rt, usage.NewService(ledger, usage.NoProvider{}, func() time.Time { return m.now }).RollUp(m.ctx))
}

// olderRelease is a ledger that folds no days. Such a release does not know the progress of
// the days, which is therefore not valid after its rollup.
type olderRelease struct{ oneOrganization }

func (l olderRelease) UsageToRollUp(ctx context.Context, organizationID string, limit int) (
	usage.Progress, []usage.LateReport, error,
) {
	p, late, err := l.oneOrganization.UsageToRollUp(ctx, organizationID, limit)
	p.DaysUntil = p.Until.Truncate(usage.DayLength) // nothing remains to be folded
	return p, late, err
}

func (l olderRelease) SaveUsageRollup(ctx context.Context, r usage.Rollup) error {
	r.Days, r.DaysUntil = nil, time.Time{}
	return l.oneOrganization.SaveUsageRollup(ctx, r)
}

func (m *usageModel) check(rt *rapid.T) {
	project := rapid.SampledFrom(append([]string{""}, m.projects...)).Draw(rt, "project")
	month := time.Date(m.now.Year(), m.now.Month(), 1, 0, 0, 0, 0, time.UTC)
	random := m.began.Add(time.Duration(rapid.Int64Range(0, m.now.Sub(m.began).Milliseconds()).Draw(rt, "start")) *
		time.Millisecond)
	if random.Before(m.now.Add(-maxReportDelay)) {
		random = random.Truncate(time.Hour) // a part of an hour is read from rows that may be deleted
	}
	for _, period := range [][2]time.Time{
		{month, m.now},
		{random, m.now},
		{random.Truncate(24 * time.Hour), random.Truncate(24 * time.Hour).Add(24 * time.Hour)},
	} {
		start, end := period[0], period[1]
		if end.After(m.now) {
			continue
		}
		got, err := m.service.Totals(m.ctx, usage.Scope{OrganizationID: m.organizationID, ProjectID: project}, start, end)
		must(rt, err)
		if want := m.Totals(project, start, end); got != want {
			rt.Fatalf("usage of %q from %v to %v: got %+v, want %+v", project, start, end, got, want)
		}
	}
	m.checkMonth(rt, m.Totals("", month, m.now))
	m.checkReport(rt, project)
	m.checkLastHours(rt, project)
}

// checkMonth compares the usage of the month with the raw rows. It reads it twice, and the second time from
// memory if nothing is stored in between. So is the first read if only the time has passed since an earlier check.
func (m *usageModel) checkMonth(rt *rapid.T, want usage.Totals) {
	for range 2 {
		got, err := m.service.Usage(m.ctx, project.Organization{ID: m.organizationID}, project.Project{})
		must(rt, err)
		if got.AudioMinutes != want.AudioMinutes() || got.VideoMinutes != want.VideoMinutes() ||
			got.RoomsCreated != want.RoomsCreated || got.Sessions != want.Sessions || got.Peak != want.Peak {
			rt.Fatalf("usage of the month until %v: got %+v, want %+v", m.now, got, want)
		}
	}
}

// checkLastHours compares each of the last hours with the raw rows.
func (m *usageModel) checkLastHours(rt *rapid.T, project string) {
	hours, err := m.service.LastHours(m.ctx, usage.Scope{OrganizationID: m.organizationID, ProjectID: project})
	must(rt, err)
	if project == "" {
		all, err := m.service.LastHours(m.ctx, usage.Scope{})
		must(rt, err)
		if !slices.Equal(all, hours) {
			rt.Fatalf("usage of all organizations in the last hours: got %+v, want %+v", all, hours)
		}
	}
	for _, got := range hours {
		end := got.Date.Add(time.Hour)
		if end.After(m.now) {
			end = m.now
		}
		if want := m.Totals(project, got.Date, end); got.Totals != want {
			rt.Fatalf("usage of %q in the hour from %v: got %+v, want %+v", project, got.Date, got.Totals, want)
		}
	}
}

// checkReport compares each day with the raw rows.
func (m *usageModel) checkReport(rt *rapid.T, project string) {
	scope := usage.Scope{OrganizationID: m.organizationID, ProjectID: project}
	report, err := m.service.Report(m.ctx, scope, m.began, time.Time{})
	must(rt, err)
	var sum usage.Totals
	day := m.began.Truncate(24 * time.Hour)
	for _, got := range report.Days {
		end := day.AddDate(0, 0, 1)
		if end.After(m.now) {
			end = m.now
		}
		want := usage.Day{Date: day, Totals: m.Totals(project, day, end)}
		if got != want {
			rt.Fatalf("usage of %q on a day: got %+v, want %+v", project, got, want)
		}
		sum = usage.Totals{
			AudioMillis:  sum.AudioMillis + want.Totals.AudioMillis,
			VideoMillis:  sum.VideoMillis + want.Totals.VideoMillis,
			RoomsCreated: sum.RoomsCreated + want.Totals.RoomsCreated,
			Sessions:     sum.Sessions + want.Totals.Sessions,
			Peak:         max(sum.Peak, want.Totals.Peak),
		}
		day = end
	}
	if !day.Equal(m.now) && !day.After(m.now) || report.Totals != sum {
		rt.Fatalf("usage of %q until %v, now is %v: got %+v, want the sum %+v", project, day, m.now, report.Totals, sum)
	}
}

// testUsageLedger checks what two nodes may do at the same time: of two rollups that
// continue the same progress one is stored, and a report that arrives during a rollup
// stays.
func (s *suite) testUsageLedger(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p := Project(t, db)
	hour, day := testTime(0).Truncate(time.Hour), testTime(0).Truncate(usage.DayLength)
	first, err := db.FirstUsageMove(ctx, p.OrganizationID)
	requireEqual(t, first, err, time.Time{})
	r := Room(p.ID)
	inTx := func(work func(ctx context.Context) error) {
		t.Helper()
		if err := db.Write(ctx, work); err != nil {
			t.Fatal(err)
		}
	}
	seat := newSeat(r.ID, room.Joined, 1)
	inTx(func(ctx context.Context) error { return errors.Join(db.InsertRoom(ctx, r), db.InsertSeat(ctx, seat)) })
	first, err = db.FirstUsageMove(ctx, p.OrganizationID)
	requireEqual(t, first, err, r.CreatedAt)
	scope := usage.Scope{OrganizationID: p.OrganizationID, ProjectID: p.ID}
	moves, err := db.UsageMoves(ctx, scope, hour, hour.Add(time.Hour))
	requireEqual(t, moves, err, []usage.Move{{ProjectID: p.ID, At: r.CreatedAt, Rooms: 1}})
	moves, err = db.UsageStarts(ctx, scope, hour, hour.Add(time.Hour))
	requireEqual(t, moves, err, []usage.Move{{ProjectID: p.ID, At: r.CreatedAt, Rooms: 1}})

	choose := func(context.Context) ([]time.Time, error) { return []time.Time{hour}, nil }
	if err := db.MarkUsageLate(ctx, usage.Rebuilt{OrganizationID: NewID()}, hour, choose); err == nil {
		t.Error("late hours of an unknown organization: got no error, want one")
	}
	save := func(version, rooms int64, done ...usage.LateReport) {
		t.Helper()
		h := usage.Interval{ProjectID: p.ID, Start: hour, Length: time.Hour, Rooms: rooms}
		all := h
		all.ProjectID = ""
		err := db.SaveUsageRollup(ctx, usage.Rollup{
			OrganizationID: p.OrganizationID,
			Version:        version,
			Until:          hour.Add(time.Hour),
			Hours:          []usage.Interval{all, h},
			Done:           done,
			Days:           []time.Time{day},
			DaysUntil:      day.Add(usage.DayLength),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(rooms int64) {
		t.Helper()
		want := usage.Interval{ProjectID: p.ID, Start: hour, Length: time.Hour, Rooms: rooms}
		hours, err := db.UsageHours(ctx, scope, hour, hour.Add(time.Hour))
		requireEqual(t, hours, err, []usage.Interval{want})
		latest, err := db.LatestUsageHour(ctx, scope, hour.Add(24*time.Hour))
		requireEqual(t, latest, err, want)
		latest, err = db.LatestUsageHour(ctx, scope, hour)
		requireEqual(t, latest, err, usage.Interval{})
		days, err := db.UsageDays(ctx, scope, day, day.Add(usage.DayLength))
		requireEqual(t, days, err, []usage.Interval{{ProjectID: p.ID, Start: day, Length: usage.DayLength, Rooms: rooms}})
	}
	none, err := db.FirstUsageHour(ctx, p.OrganizationID)
	requireEqual(t, none, err, time.Time{})
	save(0, 1)
	save(0, 2) // by another node
	check(1)
	// Of a connection without duration, the join and the leave are reports of their own.
	a := room.Attendance{
		ID:         NewID(),
		RoomID:     r.ID,
		Session:    1,
		SeatID:     seat.ID,
		Connection: "PA_1",
		JoinedAt:   r.CreatedAt,
	}
	inTx(func(ctx context.Context) error {
		_, err := db.InsertAttendance(ctx, a, a.JoinedAt.Add(room.ReportDelay))
		return err
	})
	for _, duration := range []time.Duration{0, 0, time.Minute} { // the first one ends it
		a.LeftAt = a.JoinedAt.Add(duration)
		inTx(func(ctx context.Context) error { return db.EndAttendance(ctx, a, a.LeftAt.Add(room.ReportDelay)) })
	}
	progress, late, err := db.UsageToRollUp(ctx, p.OrganizationID, 10)
	if err != nil || len(late) != 2 || late[0].Hour != hour || late[1].Hour != hour {
		t.Fatalf("late reports: got %+v, %v, want two of %v", late, err, hour)
	}
	_, earliest, err := db.UsageToRollUp(ctx, p.OrganizationID, 1)
	if err != nil || len(earliest) != 1 {
		t.Errorf("late reports with a limit of 1: got %+v, %v, want one", earliest, err)
	}
	withHours := progress
	withHours.Late = []time.Time{hour} // once
	got, err := db.UsageProgress(ctx, p.OrganizationID)
	requireEqual(t, got, err, withHours)
	requireEqual(t, progress.DaysUntil, nil, day.Add(usage.DayLength))
	save(progress.Version, 3, late[0])
	save(progress.Version, 4, late...) // by another node
	check(3)
	stored, err := db.FirstUsageHour(ctx, p.OrganizationID)
	requireEqual(t, stored, err, hour)
	ids, err := db.OrganizationsWithLateUsage(ctx, 10)
	requireEqual(t, ids, err, []string{p.OrganizationID})
	ids, err = db.OrganizationsAfter(ctx, "", 10)
	requireEqual(t, ids, err, []string{p.OrganizationID})
	ids, err = db.OrganizationsAfter(ctx, p.OrganizationID, 10)
	requireEqual(t, ids, err, nil)
	used := func(after string, since time.Time) (ids [2][]string) {
		t.Helper()
		used, last, err := db.OrganizationsUsedAfter(ctx, after, since, 10)
		if err != nil {
			t.Fatal(err)
		}
		return [2][]string{used, {last}}
	}
	requireEqual(t, used("", hour), nil, [2][]string{{p.OrganizationID}, {p.OrganizationID}})
	requireEqual(t, used(p.OrganizationID, hour), nil, [2][]string{nil, {""}})
	requireEqual(t, used("", hour.Add(100*time.Hour)), nil, [2][]string{nil, {p.OrganizationID}})

	// What this node stores at once is late if the clock of another node is ahead.
	before, err := db.UsageProgress(ctx, p.OrganizationID)
	if err != nil {
		t.Fatal(err)
	}
	a.ID, a.Connection, a.LeftAt = NewID(), "PA_2", time.Time{}
	a.JoinedAt = hour.Add(2 * time.Hour)
	db.RaiseClockAhead(room.ReportDelay)
	db.RaiseClockAhead(-time.Hour) // a clock that is behind does not matter
	inTx(func(ctx context.Context) error {
		_, err := db.InsertAttendance(ctx, a, a.JoinedAt)
		return err
	})
	if got, err := db.UsageProgress(ctx, p.OrganizationID); err != nil || len(got.Late) != len(before.Late)+1 {
		t.Errorf("late hours: got %+v, %v, want one more than %+v", got.Late, err, before.Late)
	}
}
