package room_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/project"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// For reports that come late, never or twice, nodes that stop, stand still or take over before
// and after a rollup, clocks that are set back, ends of months, rooms that are deleted when they are
// old, people who are erased and usage that is rebuilt: usage in total, by project and by day always equals the sum
// over the rooms, sessions and attendance that were recorded, to the millisecond.
func TestUsage_Meetings(t *testing.T) {
	t.Parallel()
	checkUsage(t, storetest.SQLite)
}

// The same on PostgreSQL, which needs minutes.
func TestUsage_MeetingsOnPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all runs it")
	}
	t.Parallel()
	checkUsage(t, func(t testing.TB) *store.DB { return storetest.Open(t, storetest.Postgres(t), "") })
}

func checkUsage(t *testing.T, newDB func(testing.TB) *store.DB) {
	rapid.Check(t, func(rt *rapid.T) {
		db := newDB(t)
		defer func() { _ = db.Close() }()
		u := newMeetings(t, rt, db)
		step := func(f func(m *meeting, rt *rapid.T)) func(*rapid.T) {
			return func(rt *rapid.T) { f(u.meeting, rt) }
		}
		rt.Repeat(map[string]func(*rapid.T){
			"come":            step((*meeting).reserveSeat),
			"come in":         step((*meeting).joinAndDeliver),
			"come in, too":    step((*meeting).joinAndDeliver),
			"connect":         step((*meeting).connect),
			"say goodbye":     step((*meeting).leave),
			"hear":            u.deliverOne,
			"hear again":      u.deliverAgain,
			"hear nothing of": step((*meeting).dropReport),
			"open breakouts":  step((*meeting).openBreakouts),
			"move":            step((*meeting).move),
			"obey":            step((*meeting).followMoves),
			"close breakouts": step((*meeting).closeBreakouts),
			"remove":          step((*meeting).remove),
			"tick":            step((*meeting).tick),
			"reconcile":       step((*meeting).reconcile),
			"enforce":         step((*meeting).enforcePlacement),
			"crash":           step((*meeting).crash),
			"stall":           step((*meeting).stall),
			"stand still":     step((*meeting).standStill),
			"end":             step((*meeting).end),
			"another room":    u.meet,
			"other project":   u.switchProject,
			"hours pass":      u.wait,
			"days pass":       u.waitDays,
			"clock is back":   u.setBackClock,
			"roll up":         u.rollUp,
			"rebuild":         u.rebuild,
			"delete old":      u.deleteOld,
			"erase":           u.erasePerson,
			"pack events":     func(*rapid.T) { storetest.Pack(u.t, u.db, u.clock.Now()) },
			"":                u.check,
		})
		u.rollUp(rt)
		u.check(rt)
		u.clock.advance(26 * time.Hour)
		for range 2 {
			u.meeting.tick(rt)
		}
		u.rollUp(rt)
		u.check(rt)
	})
}

// meetings are the meetings of an organization with two projects. In each project they follow one another, and a
// meeting of the one goes on while people come to one of the other.
type meetings struct {
	*meeting           // the one on which the steps act
	other     *meeting // the latest one of the other project
	t         *testing.T
	began     time.Time
	rooms     []*room.Room // as they were created
	delivered []report
	deleted   map[string]record // what was recorded of the rooms that were deleted
}

// record is what usage counts of a room.
type record struct {
	attendance []room.Attendance
	sessions   []time.Time // when those of the room itself began, without breakout rooms
}

func newMeetings(t *testing.T, rt *rapid.T, db *store.DB) *meetings {
	c := newCluster(t, db)
	c.allowHidden(t)
	// An hour before the end of a month.
	c.clock.advance(time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC).Sub(c.clock.Now()))
	for range 2 { // the nodes must see each other alive
		c.tick(0, 1)
	}
	second, _, err := key.NewService(db, project.NewService(db, time.Now, storetest.NewID, func(string) {}), time.Now,
		storetest.NewID).CreateProject(context.Background(),
		project.Draft{OrganizationID: c.project.OrganizationID, Name: "Second"})
	if err != nil {
		rt.Fatal(err)
	}
	second.Settings.HiddenParticipants = true
	configureProject(t, db, second.ID, second.Settings)
	u := &meetings{
		t:       t,
		began:   c.clock.Now(),
		meeting: &meeting{cluster: c, project: second},
		other:   &meeting{cluster: c, project: c.project},
		deleted: map[string]record{},
	}
	u.meet(rt)
	u.switchProject(rt)
	u.meet(rt)
	return u
}

// meet begins another meeting of the project.
func (u *meetings) meet(rt *rapid.T) {
	u.meeting = newMeeting(u.t, rt, u.cluster, u.project)
	u.rooms = append(u.rooms, u.room(rt))
}

func (u *meetings) switchProject(*rapid.T) { u.meeting, u.other = u.other, u.meeting }

func (u *meetings) deliverOne(*rapid.T) {
	if r, some := u.nextReport(); some {
		u.delivered = append(u.delivered, r)
		r.deliver()
	}
}

// deliverAgain repeats a report, to the process that is the node now.
func (u *meetings) deliverAgain(rt *rapid.T) {
	if len(u.delivered) == 0 {
		rt.Skip("no report")
	}
	r := rapid.SampledFrom(u.delivered).Draw(rt, "report")
	r.to = u.node(rt)
	r.deliver()
}

func (u *meetings) wait(rt *rapid.T) {
	u.clock.advance(rapid.SampledFrom([]time.Duration{
		time.Second, time.Minute, 40 * time.Minute, 90 * time.Minute, 7 * time.Hour}).Draw(rt, "for"))
}

// waitDays lets up to some days pass, after which the nodes end the rooms that last too long. A rebuild leaves hours as
// they are for two days after the beginning of a session that was deleted, because nobody was there for longer.
func (u *meetings) waitDays(rt *rapid.T) {
	u.clock.advance(time.Duration(rapid.IntRange(20, 80).Draw(rt, "hours")) * time.Hour)
	u.tick(rt)
}

func (u *meetings) setBackClock(rt *rapid.T) {
	back := rapid.SampledFrom([]time.Duration{time.Second, 3 * time.Minute, 2 * time.Hour}).Draw(rt, "by")
	if u.clock.Now().Add(-back).After(u.began) {
		u.clock.advance(-back)
	}
}

func (u *meetings) service() *usage.Service {
	return usage.NewService(u.db, usage.NoProvider{}, u.clock.Now)
}

func (u *meetings) rollUp(rt *rapid.T) {
	if err := u.service().RollUp(context.Background()); err != nil {
		rt.Fatal(err)
	}
}

// rebuild changes nothing, because all usage is right, and leaves rooms that were deleted out.
func (u *meetings) rebuild(rt *rapid.T) {
	got, err := u.service().Rebuild(context.Background(), u.project.OrganizationID, u.began, time.Time{})
	if err != nil {
		rt.Fatal(err)
	}
	if len(got.Changes) > 0 {
		rt.Fatalf("rebuild of right usage: got %+v, want no change", got.Changes)
	}
}

func (u *meetings) retention(p retention.Periods) *retention.Service {
	return retention.NewService(u.db, p, nil, func(string) {}, u.clock.Now, slog.New(slog.DiscardHandler))
}

// deleteOld erases the people of old rooms, deletes older rooms, and remembers what was recorded of them.
func (u *meetings) deleteOld(rt *rapid.T) {
	ctx := context.Background()
	if rapid.Bool().Draw(rt, "all rooms are over and rolled up") {
		for _, p := range u.projects() {
			if _, err := u.nodes[0].EndRunningRooms(ctx, p, room.EndedSuspended); err != nil {
				rt.Fatal(err)
			}
		}
		u.clock.advance(60 * time.Hour)
		for range 2 {
			u.tick(rt)
		}
		u.rollUp(rt)
	}
	before := map[string]record{}
	for _, r := range u.rooms {
		before[r.ID] = u.record(rt, r.ID)
	}
	hours := rapid.SampledFrom([]time.Duration{2, 26}).Draw(rt, "hours")
	service := u.retention(retention.Periods{Rooms: hours * time.Hour, People: hours * time.Hour / 2})
	if _, err := service.Sweep(ctx); err != nil {
		rt.Fatal(err)
	}
	for _, r := range u.rooms {
		if _, err := u.db.Room(ctx, r.ID); fault.Is(err, fault.NotFound) {
			u.deleted[r.ID] = before[r.ID]
		} else if err != nil {
			rt.Fatal(err)
		}
	}
	for range u.projects() {
		if _, deleted := u.deleted[u.id]; deleted {
			u.meet(rt)
		}
		u.switchProject(rt)
	}
}

func (u *meetings) projects() []string { return []string{u.project.ID, u.other.project.ID} }

// erasePerson erases one of the two people whom the integrator knows, or somebody with a seat in one
// of the rooms of the project. Another meeting begins, because the links of the person are gone.
func (u *meetings) erasePerson(rt *rapid.T) {
	ctx := context.Background()
	p := retention.Person{ProjectID: u.project.ID, UserID: rapid.SampledFrom([]string{"ada", "ben", ""}).Draw(rt, "user")}
	if p.UserID == "" {
		r := rapid.SampledFrom(u.rooms).Draw(rt, "room")
		rows := u.record(rt, r.ID).attendance
		if len(rows) == 0 || r.ProjectID != u.project.ID {
			rt.Skip("no seat")
		}
		p.SeatID = rapid.SampledFrom(rows).Draw(rt, "attendance").SeatID
	}
	_, err := u.retention(retention.Periods{}).Erase(ctx, p)
	if code := fault.From(err).Code; err != nil && code != "person_connected" && !fault.Is(err, fault.NotFound) {
		rt.Fatal(err)
	}
	u.meet(rt)
}

// record returns what is, or was, recorded of a room.
func (u *meetings) record(rt *rapid.T, id string) record {
	if r, deleted := u.deleted[id]; deleted {
		return r
	}
	ctx := context.Background()
	rows, err := storetest.Attendance(ctx, u.db, id)
	if err != nil {
		rt.Fatal(err)
	}
	r := record{attendance: rows}
	err = u.db.Query(ctx, `SELECT started_at FROM sessions WHERE room_id = $1 AND breakout = 0`, []any{id}, func(row db.Row) error {
		var at time.Time
		err := row.Scan(db.ScanTime(&at))
		r.sessions = append(r.sessions, at)
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
	return r
}

// check fails unless the usage since the beginning, also that of each day, and the usage of this month are the sum over
// what was recorded, in the organization and in each of its projects.
func (u *meetings) check(rt *rapid.T) {
	ctx := context.Background()
	var raw storetest.RawUsage
	for _, r := range u.rooms {
		recorded := u.record(rt, r.ID)
		raw.AddRoom(r, recorded.sessions)
		for _, a := range recorded.attendance {
			raw.Add(a, r)
		}
	}
	organizationID, now := u.project.OrganizationID, u.clock.Now()
	from := u.began.Add(-time.Hour)
	if earliest := now.AddDate(0, 0, 1-usage.MaxReportDays); from.Before(earliest) {
		from = earliest.Truncate(usage.DayLength)
	}
	if err := raw.Compare(ctx, u.service(), organizationID, u.projects(), from, now); err != nil {
		rt.Fatal(err)
	}
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	// The number of people at midnight is the base of an hour, which the days since the beginning do not need.
	for _, start := range []time.Time{month, now.Truncate(usage.DayLength)} {
		got, err := u.service().Totals(ctx, usage.Scope{OrganizationID: organizationID}, start, now)
		if err != nil {
			rt.Fatal(err)
		}
		if want := raw.Totals("", start, now); got != want {
			rt.Fatalf("usage of all projects from %s to %s: got %+v, want %+v", start, now, got, want)
		}
		byProject, err := u.service().ReportProjects(ctx, organizationID, u.projects(), start, now)
		if err != nil {
			rt.Fatal(err)
		}
		for i, id := range u.projects() {
			if want := raw.Totals(id, start, now); byProject[i] != want {
				rt.Fatalf("usage of project %s from %s to %s: got %+v, want %+v", id, start, now, byProject[i], want)
			}
			alone, err := u.service().Totals(ctx, usage.Scope{OrganizationID: organizationID, ProjectID: id}, start, now)
			if err != nil || alone != byProject[i] {
				rt.Fatalf("usage of project %s alone, from %s: got %+v, %v, want %+v", id, start, alone, err, byProject[i])
			}
		}
	}
}
