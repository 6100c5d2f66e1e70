package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/usage"
)

// TestUsageRollups checks that usage equals the sum over the raw rows, in whatever
// order participants join and leave, reports arrive late, hours and months end, and
// rollups run.
func (s *suite) TestUsageRollups(t *testing.T) {
	db := s.open(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newUsageModel(t, rt, db)
		rt.Repeat(map[string]func(*rapid.T){
			"":       m.check,
			"wait":   m.wait,
			"join":   m.join,
			"leave":  m.leave,
			"room":   m.createRoom,
			"rollup": m.rollUp,
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
	organizationID string
	projects       []string
	rooms          []*room.Room
	attended       []attended
	service        *usage.Service
}

type attended struct {
	room.Attendance
	projectID string
	kind      room.Type
}

func newUsageModel(t *testing.T, rt *rapid.T, db *store.DB) *usageModel {
	first := Project(t, db)
	m := &usageModel{ctx: context.Background(), db: db, organizationID: first.OrganizationID,
		began: time.Date(2026, 11, 29, 22, 59, 59, 500e6, time.UTC)}
	m.now = m.began
	second := first
	second.ID = NewID()
	must(rt, db.Write(m.ctx, func(ctx context.Context) error { return db.InsertProject(ctx, second) }))
	m.projects = []string{first.ID, second.ID}
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

func must(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatal(err)
	}
}

func (m *usageModel) wait(rt *rapid.T) {
	durations := []time.Duration{time.Minute, time.Hour, 5 * time.Hour, 40 * time.Hour}
	longest := rapid.SampledFrom(durations).Draw(rt, "longest")
	m.now = m.now.Add(time.Duration(rapid.Int64Range(0, longest.Milliseconds()).Draw(rt, "wait")) * time.Millisecond)
}

// reportedAt draws the time of something that is reported now.
func (m *usageModel) reportedAt(rt *rapid.T, notBefore time.Time) time.Time {
	longest := rapid.SampledFrom([]time.Duration{0, time.Minute, 90 * time.Minute, 50 * time.Hour}).Draw(rt, "latest")
	delay := time.Duration(rapid.Int64Range(0, longest.Milliseconds()).Draw(rt, "delay")) * time.Millisecond
	at := m.now.Add(-delay)
	if at.Before(notBefore) {
		return notBefore
	}
	return at
}

// recordIfLate does what room.Service does.
func (m *usageModel) recordIfLate(ctx context.Context, projectID string, at time.Time) error {
	if m.now.Sub(at) < room.ReportDelay {
		return nil
	}
	return m.db.RecordLateReport(ctx, NewID(), projectID, at)
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
	m.rooms = append(m.rooms, r)
}

func (m *usageModel) join(rt *rapid.T) {
	r := rapid.SampledFrom(m.rooms).Draw(rt, "room")
	seat := newSeat(r.ID, room.Joined, len(m.attended))
	a := room.Attendance{ID: NewID(), RoomID: r.ID, Session: 1, SeatID: seat.ID, Connection: "PA_1",
		Hidden: rapid.IntRange(0, 9).Draw(rt, "hidden") == 0, JoinedAt: m.reportedAt(rt, m.began)}
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		if err := m.db.InsertSeat(ctx, seat); err != nil {
			return err
		}
		if _, err := m.db.InsertAttendance(ctx, a); err != nil {
			return err
		}
		return m.recordIfLate(ctx, r.ProjectID, a.JoinedAt)
	}))
	m.attended = append(m.attended, attended{a, r.ProjectID, r.Type})
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
	a.LeftAt = m.reportedAt(rt, a.JoinedAt)
	must(rt, m.db.Write(m.ctx, func(ctx context.Context) error {
		if err := m.db.EndAttendance(ctx, a.ID, a.LeftAt, room.LeftByChoice); err != nil {
			return err
		}
		return m.recordIfLate(ctx, a.projectID, a.LeftAt)
	}))
}

func (m *usageModel) rollUp(rt *rapid.T) { must(rt, m.service.RollUp(m.ctx)) }

func (m *usageModel) check(rt *rapid.T) {
	project := rapid.SampledFrom(append([]string{""}, m.projects...)).Draw(rt, "project")
	month := time.Date(m.now.Year(), m.now.Month(), 1, 0, 0, 0, 0, time.UTC)
	random := m.began.Add(time.Duration(rapid.Int64Range(0, m.now.Sub(m.began).Milliseconds()).Draw(rt, "start")) *
		time.Millisecond)
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
		if want := m.totals(project, start, end); got != want {
			rt.Fatalf("usage of %q from %v to %v: got %+v, want %+v", project, start, end, got, want)
		}
	}
}

// totals adds up the raw rows.
func (m *usageModel) totals(project string, start, end time.Time) usage.Totals {
	var sum usage.Totals
	for _, r := range m.rooms {
		if (project == "" || r.ProjectID == project) && !r.CreatedAt.Before(start) && r.CreatedAt.Before(end) {
			sum.RoomsCreated++
			sum.Sessions++
		}
	}
	type step struct {
		at     time.Time
		change int64
	}
	var steps []step
	for _, a := range m.attended {
		from, to := a.JoinedAt, a.LeftAt
		if from.Before(start) {
			from = start
		}
		if to.IsZero() || to.After(end) {
			to = end
		}
		if a.Hidden || project != "" && a.projectID != project || !to.After(from) {
			continue
		}
		if a.kind == room.Audio {
			sum.AudioMillis += to.Sub(from).Milliseconds()
		} else {
			sum.VideoMillis += to.Sub(from).Milliseconds()
		}
		steps = append(steps, step{from, 1}, step{to, -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.change, b.change)) })
	var present int64
	for _, s := range steps {
		present += s.change
		sum.Peak = max(sum.Peak, present)
	}
	return sum
}

// TestUsageLedger checks what two nodes may do at the same time: of two rollups that
// continue the same progress one is stored, and a report that arrives during a rollup
// stays.
func (s *suite) TestUsageLedger(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	p := Project(t, db)
	hour := testTime(0).Truncate(time.Hour)
	first, err := db.FirstUsageMove(ctx, p.OrganizationID)
	requireEqual(t, first, err, time.Time{})
	r := Room(p.ID)
	inTx := func(work func(ctx context.Context) error) {
		t.Helper()
		if err := db.Write(ctx, work); err != nil {
			t.Fatal(err)
		}
	}
	inTx(func(ctx context.Context) error { return db.InsertRoom(ctx, r) })
	first, err = db.FirstUsageMove(ctx, p.OrganizationID)
	requireEqual(t, first, err, r.CreatedAt)
	scope := usage.Scope{OrganizationID: p.OrganizationID, ProjectID: p.ID}
	moves, err := db.UsageMoves(ctx, scope, hour, hour.Add(time.Hour))
	requireEqual(t, moves, err, []usage.Move{{ProjectID: p.ID, At: r.CreatedAt, Rooms: 1}})

	save := func(version, rooms int64, done ...usage.LateReport) {
		t.Helper()
		h := usage.Hour{ProjectID: p.ID, Start: hour, Rooms: rooms}
		err := db.SaveUsageRollup(ctx, usage.Rollup{OrganizationID: p.OrganizationID, Version: version,
			Until: hour.Add(time.Hour), Hours: []usage.Hour{h}, Done: done})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(rooms int64) {
		t.Helper()
		want := usage.Hour{ProjectID: p.ID, Start: hour, Rooms: rooms}
		hours, err := db.UsageHours(ctx, scope, hour, hour.Add(time.Hour))
		requireEqual(t, hours, err, []usage.Hour{want})
		latest, err := db.LatestUsageHour(ctx, scope, hour.Add(24*time.Hour))
		requireEqual(t, latest, err, want)
		latest, err = db.LatestUsageHour(ctx, scope, hour)
		requireEqual(t, latest, err, usage.Hour{})
	}
	save(0, 1)
	save(0, 2) // by another node
	check(1)
	for range 2 {
		inTx(func(ctx context.Context) error { return db.RecordLateReport(ctx, NewID(), p.ID, r.CreatedAt) })
	}
	progress, err := db.UsageProgress(ctx, p.OrganizationID)
	if err != nil || len(progress.Late) != 2 || progress.Late[0].Hour != hour {
		t.Fatalf("progress: got %+v, %v, want two late reports of %v", progress, err, hour)
	}
	save(progress.Version, 3, progress.Late[0])
	save(progress.Version, 4, progress.Late...) // by another node
	check(3)
	late, err := db.OrganizationsWithLateUsage(ctx, 10)
	requireEqual(t, late, err, []string{p.OrganizationID})
	ids, err := db.OrganizationsAfter(ctx, "", 10)
	requireEqual(t, ids, err, []string{p.OrganizationID})
	ids, err = db.OrganizationsAfter(ctx, p.OrganizationID, 10)
	requireEqual(t, ids, err, nil)
}
