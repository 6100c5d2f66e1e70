package v5

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"parley/internal/api/apitest"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// attendanceRow is one attendance record.
type attendanceRow struct {
	kind         room.Type
	joined, left time.Time // left is zero while the person is present
}

// insertAttendance inserts a room with a session and attendance.
func (b *fixture) insertAttendance(t testing.TB, projectID string, kind room.Type, created time.Time,
	people []attendanceRow) {
	t.Helper()
	r := &room.Room{
		ID:              newID(),
		ProjectID:       projectID,
		State:           room.Active,
		CreatorLinkHash: "h",
		CreatedAt:       created,
		OpenedAt:        created,
		Spec: room.Spec{
			Type:            kind,
			Title:           "T",
			CreatorName:     "A",
			MaxParticipants: 1000,
			EmptyTimeout:    time.Minute,
			Duration:        time.Hour,
		},
	}
	must(t, b.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
		if err := b.db.InsertRoom(ctx, r); err != nil {
			return err
		}
		if err := b.db.InsertSession(ctx, room.Session{RoomID: r.ID, N: 1, State: room.SessionLive},
			created); err != nil {
			return err
		}
		for i, p := range people {
			seat := room.Seat{
				ID:        newID(),
				RoomID:    r.ID,
				KeyHash:   strconv.Itoa(i),
				Name:      "A",
				Role:      room.Guest,
				State:     room.Joined,
				CreatedAt: p.joined,
			}
			if err := b.db.InsertSeat(ctx, seat); err != nil {
				return err
			}
			a := room.Attendance{
				ID:         newID(),
				RoomID:     r.ID,
				Session:    1,
				SeatID:     seat.ID,
				Connection: "c",
				JoinedAt:   p.joined,
				LeftAt:     p.left,
			}
			if _, err := b.db.InsertAttendance(ctx, a, a.JoinedAt); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestUsage_SumOfAttendance compares the usage with an independent sum of the
// attendance.
func TestUsage_SumOfAttendance(t *testing.T) {
	t.Parallel()
	onDatabases(t, testUsageTotals)
}

func testUsageTotals(t *testing.T, url string) {
	b := setupOn(t, url, nil)
	second, _, err := b.keys.CreateProject(t.Context(),
		project.Draft{OrganizationID: b.organization.ID, Name: "Second"})
	must(t, err)
	other, err := b.projects.CreateOrganization(t.Context(), "Other", project.Plan)
	must(t, err)
	foreign, _, err := b.keys.CreateProject(t.Context(), project.Draft{OrganizationID: other.ID, Name: "Foreign"})
	must(t, err)

	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	var ledger []attendanceRow
	rooms := 0
	for i := range 30 {
		kind := []room.Type{room.Audio, room.Video}[i%2]
		created := start.Add(-12*time.Hour + time.Duration(random.Int64N(int64(21*24*time.Hour))))
		var people []attendanceRow
		for range random.IntN(8) {
			p := attendanceRow{kind: kind,
				joined: created.Add(time.Duration(random.Int64N(int64(20 * time.Hour)))).Truncate(time.Millisecond)}
			if random.IntN(5) > 0 {
				p.left = p.joined.Add(time.Duration(random.Int64N(int64(5*time.Hour))) - time.Minute).Truncate(time.Millisecond)
			}
			people = append(people, p)
		}
		b.insertAttendance(t, []string{b.project.ID, second.ID}[i%3/2], kind, created, people)
		b.insertAttendance(t, foreign.ID, kind, created, people)
		ledger = append(ledger, people...)
		if !created.Before(start) {
			rooms++
		}
	}
	millis := map[room.Type]int64{}
	type move struct {
		at   time.Time
		step int
	}
	var moves []move
	for _, p := range ledger {
		from, to := p.joined, p.left
		if from.Before(start) {
			from = start
		}
		if to.IsZero() || to.After(b.now) {
			to = b.now
		}
		if !to.After(from) {
			continue
		}
		millis[p.kind] += to.Sub(from).Milliseconds()
		moves = append(moves, move{from, 1}, move{to, -1})
	}
	slices.SortFunc(moves, func(a, b move) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return a.step - b.step
	})
	now, peak := 0, 0
	for _, m := range moves {
		now += m.step
		peak = max(peak, now)
	}

	c := apitest.New(t, description, b.handler)
	get := func() Usage {
		t.Helper()
		return decodeData[Usage](t, c.Do(t, http.MethodGet, prefix+"usage", b.signedHeaders("GET", prefix+"usage", nil),
			nil))
	}
	minutes := func(ms int64) float64 { return math.Floor(float64(ms)/600+0.5) / 100 }
	u := get()
	want := Totals{
		AudioParticipantMinutes:    minutes(millis[room.Audio]),
		VideoParticipantMinutes:    minutes(millis[room.Video]),
		ParticipantMinutes:         minutes(millis[room.Audio] + millis[room.Video]),
		RoomsCreated:               int64(rooms),
		Sessions:                   int64(rooms),
		PeakConcurrentParticipants: int64(peak),
	}
	if u.Totals != want || peak < 3 {
		t.Errorf("got  %+v\nwant %+v", u.Totals, want)
	}
	if u.OrganizationId != b.organization.ID || u.BillingModel != Plan || !time.Time(u.Period.Start).Equal(start) ||
		!time.Time(u.Period.End).Equal(start.AddDate(0, 1, 0)) ||
		!time.Time(u.AsOf).Equal(b.now) || u.PayAsYouGo != nil || u.Plan.Availability != AvailabilityAvailable ||
		*u.Plan.Name != "default" ||
		u.Plan.IncludedMinutes.Availability != AvailabilityUnavailable ||
		*u.Plan.UsedMinutes.Value != want.ParticipantMinutes {
		t.Errorf("got %+v, want the plan default without included minutes, %v minutes used",
			u, want.ParticipantMinutes)
	}
}

func TestUsage_EmptyMonth(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	c := apitest.New(t, description, b.handler)
	if u := decodeData[Usage](t, c.Do(t, http.MethodGet, prefix+"usage", b.signedHeaders("GET", prefix+"usage", nil),
		nil)); u.Totals != (Totals{}) {
		t.Errorf("month without meetings: got %+v, want totals of 0", u)
	}
}

func TestUsage_PayAsYouGo(t *testing.T) {
	t.Parallel()
	b := setup(t, func(b *fixture) {
		var err error
		b.organization, err = b.projects.CreateOrganization(t.Context(), "Payer", project.Payg)
		must(t, err)
		b.project, b.issued, err = b.keys.CreateProject(t.Context(),
			project.Draft{OrganizationID: b.organization.ID, Name: "Project"})
		must(t, err)
	})
	c := apitest.New(t, description, b.handler)
	get := func() Usage {
		t.Helper()
		return decodeData[Usage](t, c.Do(t, http.MethodGet, prefix+"usage", b.signedHeaders("GET", prefix+"usage", nil),
			nil))
	}
	b.insertAttendance(t, b.project.ID, room.Audio, b.now.Add(-time.Hour),
		[]attendanceRow{{joined: b.now.Add(-time.Hour), left: b.now.Add(-time.Hour + 90*time.Second)}})
	if u := get(); u.BillingModel != Payg || *u.PayAsYouGo != (PayAsYouGo{Availability: AvailabilityUnavailable}) {
		t.Errorf("without a price: got %s %+v, want %s, unavailable", u.BillingModel, u.PayAsYouGo, Payg)
	}
	currency, price := "EUR", "0.0035"
	_, err := b.projects.SetOrganization(t.Context(), b.organization.ID,
		project.OrganizationChanges{Currency: &currency, UnitPrice: &price})
	must(t, err)
	p := get().PayAsYouGo
	if p.Availability != AvailabilityAvailable || *p.Currency != "EUR" || *p.UnitPrice != "0.0035" ||
		*p.AmountDue != "0.00525" || *p.Unit != ParticipantMinute {
		t.Errorf("got %+v, want 0.00525 EUR at 0.0035 a participant minute", p)
	}
}

func TestLimits_ByPlan(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	c := apitest.New(t, description, b.handler)
	get := func() Limits {
		t.Helper()
		return decodeData[Limits](t, c.Do(t, http.MethodGet, prefix+"limits",
			b.signedHeaders("GET", prefix+"limits", nil), nil))
	}
	check := func(name, source string, values ...int) {
		t.Helper()
		l := get()
		if len(values) == 0 {
			if l.Availability != AvailabilityUnavailable || l.Entitlements == nil || len(l.Entitlements) != 0 {
				t.Errorf("%s: got %+v, want unavailable, and empty entitlements", name, l)
			}
			return
		}
		want := []Entitlement{
			{Availability: AvailabilityAvailable, Key: MaxParticipants, Scope: Room, Source: source, Unit: EntitlementUnitParticipants, Value: values[0]},
			{Availability: AvailabilityAvailable, Key: RoomDuration, Scope: Room, Source: source, Unit: EntitlementUnitMinutes, Value: values[1]},
			{Availability: AvailabilityAvailable, Key: BreakoutRooms, Scope: Room, Source: source, Unit: EntitlementUnitRooms, Value: values[2]},
		}
		if l.Availability != AvailabilityAvailable || !slices.Equal(l.Entitlements, want) {
			t.Errorf("%s: got %+v, want available, and %+v", name, l, want)
		}
	}
	check("the default plan", "plan:default", 1000, 1440, 16)
	c.WithHandler(b.serve(t, usage.NoProvider{}, b.options), func() { check("no provider", "") })
	gold := "gold"
	_, err := b.projects.SetOrganization(t.Context(), b.organization.ID, project.OrganizationChanges{Plan: &gold})
	must(t, err)
	check("an unknown plan", "")
	c.WithHandler(b.serve(t, usage.NewBuiltinProvider([]usage.Plan{{Name: "gold", MaxParticipants: 5, RoomDuration: 60,
		BreakoutRooms: 0}}), b.options), func() {
		check("a plan", "plan:gold", 5, 60, 0)
	})
	plan := &changingPlan{}
	c.WithHandler(b.serve(t, plan, b.options), func() {
		for n := range 2 * maxLimitsBodies {
			plan.plan = usage.Plan{Name: "gold", MaxParticipants: n, RoomDuration: 60, BreakoutRooms: n / 2}
			check("a changed plan", "plan:gold", n, 60, n/2)
		}
	})
}

// changingPlan is a provider of one plan, which changes.
type changingPlan struct {
	usage.NoProvider
	plan usage.Plan
}

func (p *changingPlan) Plan(string) (usage.Plan, bool) { return p.plan, true }
