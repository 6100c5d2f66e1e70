package usage

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/internal/project"
)

// moves is a ledger that has rolled nothing up. It returns the same moves for every
// period.
type moves struct {
	Ledger
	all      []Move
	err      error
	changes  uint64
	complete bool // see Changes
	reads    int
}

func (l *moves) Changes() (uint64, bool) { return l.changes, l.complete }

func (l *moves) UsageProgress(context.Context, string) (Progress, error) {
	l.reads++
	return Progress{}, l.err
}

func (l *moves) LatestUsageHour(context.Context, Scope, time.Time) (Interval, error) {
	return Interval{}, nil
}

func (l *moves) UsageHours(context.Context, Scope, time.Time, time.Time) ([]Interval, error) {
	return nil, nil
}

func (l *moves) UsageMoves(context.Context, Scope, time.Time, time.Time) ([]Move, error) {
	return l.all, nil
}

// audio returns a ledger with connections of a duration in audio rooms at the start of
// the current month.
func audio(ms int64) *moves {
	now := time.Now().UTC()
	start := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	return &moves{all: []Move{
		{At: start, Step: Level{Audio: ms}},
		{At: start.Add(time.Millisecond), Step: Level{Audio: -ms}},
	}}
}

func TestUsage_PeriodIsCalendarMonthUTC(t *testing.T) {
	t.Parallel()
	for now, want := range map[string][2]string{
		"2026-11-21T09:00:00Z":      {"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		"2026-12-31T23:59:59.999Z":  {"2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"2027-01-01T00:30:00+01:00": {"2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"2028-02-29T12:00:00Z":      {"2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		start, err := time.Parse(time.RFC3339, want[0])
		if err != nil {
			t.Fatal(err)
		}
		l := &moves{all: []Move{{At: start.Add(-time.Millisecond), Rooms: 1}, {At: start, Rooms: 10}}}
		service := NewService(l, NoProvider{}, func() time.Time { return at })
		u, err := service.Usage(t.Context(), project.Organization{}, project.Project{})
		if err != nil || u.Start.Format(time.RFC3339) != want[0] || u.End.Format(time.RFC3339) != want[1] ||
			u.RoomsCreated != 10 || !u.AsOf.Equal(at) {
			t.Errorf("usage at %s: got %+v, error %v, want %s to %s, 10 rooms and AsOf %s", now, u, err, want[0], want[1], at)
		}
	}
}

// A history is read once until the ledger changes, and time that passes counts nevertheless.
func TestUsage_ReadOnceUntilAChange(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	l := &moves{all: []Move{{At: now.Add(-time.Minute), Step: Level{Audio: 1}}}, complete: true}
	s := NewService(l, NoProvider{}, func() time.Time { return now })
	check := func(when string, organization string, minutes float64, reads int) {
		t.Helper()
		u, err := s.Usage(t.Context(), project.Organization{ID: organization}, project.Project{})
		if err != nil || u.AudioMinutes.Float() != minutes || l.reads != reads {
			t.Errorf("%s: got %v minutes after %d reads, error %v, want %v after %d",
				when, u.AudioMinutes.Float(), l.reads, err, minutes, reads)
		}
	}
	check("the first read", "a", 1, 1)
	check("the second read", "a", 1, 1)
	check("another organization", "b", 1, 2)
	now = now.Add(30 * time.Second)
	check("later", "a", 1.5, 2)
	now = now.Add(-time.Minute)
	check("after the clock was set back", "a", 0.5, 2)
	now = now.Add(30 * time.Second)
	l.changes++
	l.all = append(l.all, Move{At: now, Step: Level{Audio: -1}})
	now = now.Add(time.Minute)
	check("after a leave", "a", 1, 3)
	now = now.Add(24 * time.Hour)
	check("on the next day", "a", 1, 4)
	l.complete = false
	check("while others can change the ledger", "a", 1, 5)
	check("again", "a", 1, 6)
	l.complete, l.err = true, errors.New("gone")
	l.changes++
	if _, err := s.Usage(t.Context(), project.Organization{ID: "a"}, project.Project{}); err != l.err {
		t.Errorf("a read that fails: got error %v, want %v", err, l.err)
	}
	l.err = nil
	check("after it", "a", 1, 8)
}

func TestUsage_OfATestProjectCostsNothing(t *testing.T) {
	t.Parallel()
	included := int64(100)
	provider := NewBuiltinProvider([]Plan{{Name: "gold", IncludedMinutes: &included}})
	o := project.Organization{Plan: "gold", Billing: project.Payg, Currency: "EUR", UnitPrice: "0.004"}
	u, err := NewService(audio(90_000), provider, time.Now).Usage(t.Context(), o, project.Project{ID: "p", Test: true})
	if err != nil || !u.Test || u.ParticipantMinutes != 150 || u.Plan.Used != 0 || *u.Plan.Remaining != 10000 ||
		*u.PayAsYouGo != (PayAsYouGo{true, "EUR", "0", "0.00"}) {
		t.Errorf("got %+v with %+v, error %v, want 1.5 minutes that use nothing of the plan and cost 0.00 EUR", u, u.PayAsYouGo, err)
	}
}

func TestUsage_Plans(t *testing.T) {
	t.Parallel()
	included := int64(100)
	provider := NewBuiltinProvider([]Plan{{Name: "gold", IncludedMinutes: &included}})
	usage := func(p Provider, o project.Organization, ms int64) Usage {
		t.Helper()
		u, err := NewService(audio(ms), p, time.Now).Usage(t.Context(), o, project.Project{})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if u := usage(NoProvider{}, project.Organization{Billing: project.Plan}, 1); u.Plan != (PlanUsage{}) ||
		u.PayAsYouGo != nil {
		t.Errorf("usage without a provider: got %+v, want an empty Plan and no PayAsYouGo", u)
	}
	if u := usage(provider, project.Organization{Plan: "silver"}, 1); u.Plan != (PlanUsage{}) {
		t.Errorf("usage of the unknown plan silver: got %+v, want an empty Plan", u)
	}
	if u := usage(provider, project.Organization{}, 1); !u.Plan.Known || u.Plan.Name != DefaultPlan ||
		u.Plan.Included != nil || u.Plan.Remaining != nil {
		t.Errorf("default plan: got %+v, want Known, the name %s, and no Included and Remaining minutes", u.Plan, DefaultPlan)
	}
	if u := usage(provider, project.Organization{Plan: "gold"}, 90_000); *u.Plan.Included != 10000 ||
		*u.Plan.Remaining != 9850 || u.ParticipantMinutes != 150 {
		t.Errorf("plan gold: got %+v, want 150 of 10000 minutes used, 9850 remaining", u)
	}
	if u := usage(provider, project.Organization{Plan: "gold"}, 101*60_000); *u.Plan.Remaining != 0 {
		t.Errorf("plan gold after more minutes than included: got %+v, want 0 remaining", u)
	}
	payg := project.Organization{Billing: project.Payg, Currency: "EUR", UnitPrice: "0.004"}
	if u := usage(provider, payg, 90_000); *u.PayAsYouGo != (PayAsYouGo{true, "EUR", "0.004", "0.006"}) {
		t.Errorf("pay as you go: got %+v, want 0.006 EUR at 0.004", u.PayAsYouGo)
	}
	payg.UnitPrice, payg.Currency = "", ""
	if u := usage(provider, payg, 90_000); *u.PayAsYouGo != (PayAsYouGo{}) {
		t.Errorf("pay as you go without a price: got %+v, want no amount", u.PayAsYouGo)
	}
	gone := errors.New("gone")
	broken := NewService(&moves{err: gone}, provider, time.Now)
	if _, err := broken.Usage(t.Context(), payg, project.Project{}); !errors.Is(err, gone) {
		t.Errorf("usage while the store fails: got error %v, want %v", err, gone)
	}
}

func TestMinutes(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]float64{0: 0, 299: 0, 300: 0.01, 600: 0.01, 60_000: 1,
		90_000: 1.5, 100_000: 1.67, 3_600_000: 60} {
		if got := minutesFromMillis(ms).Float(); got != want {
			t.Errorf("%d ms: got %v, want %v", ms, got, want)
		}
	}
}

func TestAmount(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		price   string
		minutes Minutes
		want    string
	}{
		{"0.004", 0, "0.00"}, {"0.004", 1, "0.00004"}, {"0.004", 100, "0.004"}, {"0.1", 100, "0.10"}, {"1", 150, "1.50"},
		{"0", 12345, "0.00"}, {"2.50", 10000, "250.00"}, {"0.005", 33, "0.00165"},
	} {
		if got := Amount(tc.price, tc.minutes); got != tc.want {
			t.Errorf("%s × %d: got %s, want %s", tc.price, tc.minutes, got, tc.want)
		}
	}
}

func TestAmount_Exact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.StringMatching(`[0-9]{1,12}(\.[0-9]{1,12})?`).Draw(t, "price")
		m := Minutes(rapid.Int64Range(0, 1<<60).Draw(t, "minutes"))
		want, _ := new(big.Rat).SetString(price)
		want.Mul(want, big.NewRat(int64(m), 100))
		got, ok := new(big.Rat).SetString(Amount(price, m))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s × %d: got %s, want %s", price, m, Amount(price, m), want)
		}
	})
}
