package room_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// rawLedger is a ledger in which nothing is rolled up, so that all figures come from the
// attendance.
type rawLedger struct{ *store.DB }

func (rawLedger) UsageProgress(context.Context, string) (usage.Progress, error) {
	return usage.Progress{}, nil
}

func (rawLedger) LatestUsageHour(context.Context, usage.Scope, time.Time) (usage.Interval, error) {
	return usage.Interval{}, nil
}

// A leave that is stored after its hour was rolled up ends the usage of its connection at
// its time, before and after the hour is rolled up again.
func TestUsage_LateLeave(t *testing.T) {
	t.Parallel()
	// Each of these stores the leave of a participant who joined through node 0. The hour
	// of the leave has been rolled up when they begin.
	leaves := map[string]func(t *testing.T, c *cluster, a room.Admission, at time.Time){
		"late report": func(_ *testing.T, c *cluster, a room.Admission, at time.Time) {
			c.nodes[0].ParticipantLeft(a.SessionID, a.Seat.ID, "PA_1", at, room.LeftByChoice)
		},
		"outage of all nodes": func(t *testing.T, c *cluster, _ room.Admission, _ time.Time) {
			for n := range c.nodes {
				c.startNode(t, n)
			}
			for range int(room.NodeTimeout/time.Second) + 2 {
				c.tick(0, 1)
			}
		},
		"restart of one node": func(t *testing.T, c *cluster, _ room.Admission, _ time.Time) {
			single := room.NewService(c.db, nodeMedia{c, 1}, func() string { return "https://meet.example.org" },
				c.clock.Now, storetest.NewID, discardLogger, room.Options{})
			if err := single.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	}
	for engine, open := range storetest.Engines {
		for name, leave := range leaves {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := newCluster(t, open(t))
				id := c.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: 24 * time.Hour})
				joined := c.clock.Now()
				a := c.enter(t, 0, id, guest(1), "PA_1")
				c.clock.advance(10 * time.Minute)
				c.tick(0, 1)
				left := c.clock.Now()
				for n := range c.nodes {
					c.stopNode(n)
				}

				c.clock.advance(80 * time.Minute)
				scope := usage.Scope{OrganizationID: c.project.OrganizationID, ProjectID: c.project.ID}
				rollUp := func() {
					t.Helper()
					if err := usage.NewService(c.db, usage.NoProvider{}, c.clock.Now).RollUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				check := func(when string) {
					t.Helper()
					want := usage.Totals{VideoMillis: left.Sub(joined).Milliseconds(), RoomsCreated: 1, Sessions: 1, Peak: 1}
					for ledger, l := range map[string]usage.Ledger{"rollups": c.db, "attendance": rawLedger{c.db}} {
						got, err := usage.NewService(l, usage.NoProvider{}, c.clock.Now).
							Totals(t.Context(), scope, joined.Add(-24*time.Hour), c.clock.Now())
						if err != nil || got != want {
							t.Errorf("%s, from the %s: got %+v, %v, want %+v", when, ledger, got, err, want)
						}
					}
				}
				rollUp()
				leave(t, c, a, left)
				check("after the leave")
				rollUp()
				check("after the next rollup")
				c.clock.advance(5 * time.Hour)
				check("five hours later")
				rollUp()
				check("five hours later, rolled up")
			})
		}
	}
}
