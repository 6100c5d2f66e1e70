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

// What a node stores whose clock is behind counts, although another node has rolled up the hour by its own clock. This
// needs PostgreSQL, because each node has its own connections.
func TestUsage_NodeWithClockBehind(t *testing.T) {
	t.Parallel()
	const behind = 10 * time.Minute
	url := storetest.Postgres(t)
	c := newCluster(t, storetest.Open(t, url, ""))
	c.clock.advance(c.clock.Now().Truncate(time.Hour).Add(time.Hour + 50*time.Minute).Sub(c.clock.Now()))
	slow := func() time.Time { return c.clock.Now().Add(-behind) }
	c.stopNode(0)
	n := room.NewService(reopenDB(t, url), nodeMedia{c, 0}, func() string { return "https://meet.example.org" }, slow,
		storetest.NewID, discardLogger, room.Options{Clustered: true})
	c.nodes[0] = n
	if err := n.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.tick(0, 1)
	}
	scope := usage.Scope{OrganizationID: c.project.OrganizationID, ProjectID: c.project.ID}
	began := c.clock.Now().Add(-24 * time.Hour)
	rollUp := func() {
		t.Helper()
		if err := usage.NewService(c.db, usage.NoProvider{}, c.clock.Now).RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// enter creates a room and enters it, both through the slow node.
	enter := func(sid string) (a room.Admission, joined time.Time) {
		t.Helper()
		made, err := n.CreateQuick(t.Context(), c.project, room.Spec{
			Type:            room.Video,
			CreatorName:     "Ada",
			Title:           "Title",
			MaxParticipants: 2,
			EmptyTimeout:    24 * time.Hour,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = n.ReserveSeat(t.Context(), made.ID, guest(1)); err != nil {
			t.Fatal(err)
		}
		n.ParticipantJoined(a.SessionID, a.Seat.ID, sid, slow())
		return a, slow()
	}
	first, joined := enter("PA_1")
	c.clock.advance(16 * time.Minute)
	c.tick(0, 1)
	rollUp()
	second, again := enter("PA_2")
	c.clock.advance(time.Minute)
	n.ParticipantLeft(first.SessionID, first.Seat.ID, "PA_1", slow(), room.LeftByChoice)
	n.ParticipantLeft(second.SessionID, second.Seat.ID, "PA_2", slow(), room.LeftByChoice)
	used := slow().Sub(joined) + slow().Sub(again)
	c.clock.advance(5 * time.Hour)
	c.tick(0, 1)
	for range 2 {
		rollUp()
		want := usage.Totals{VideoMillis: used.Milliseconds(), RoomsCreated: 2, Sessions: 2, Peak: 2}
		got, err := usage.NewService(c.db, usage.NoProvider{}, c.clock.Now).Totals(t.Context(), scope, began, c.clock.Now())
		if err != nil || got != want {
			t.Errorf("usage: got %+v, %v, want %+v", got, err, want)
		}
		c.clock.advance(24 * time.Hour)
		c.tick(0, 1)
	}
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
