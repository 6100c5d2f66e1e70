package room_test

import (
	"context"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// heartbeat advances the clock and writes the heartbeats of these nodes, without other work.
func (c *cluster) heartbeat(by time.Duration, nodes ...int) {
	c.clock.advance(by)
	for _, n := range nodes {
		c.nodes[n].Heartbeat(context.Background())
	}
}

// After an outage of all nodes in which the duration of a room ran out, or in which it runs
// out soon after, the attendance ends at the last heartbeat of the lost node or at the end of
// the room, whichever was earlier. It also ends at the end of the room if the nodes were suspended.
func TestFailover_RoomOverInOutage(t *testing.T) {
	t.Parallel()
	const duration = 30 * time.Minute
	for name, c := range map[string]struct {
		alive, outage time.Duration // of the nodes
		suspended     bool          // not stopped
		left          time.Duration // after the join
	}{
		"over in the outage":             {10 * time.Minute, 2 * time.Hour, false, 10 * time.Minute},
		"over soon after the restart":    {10 * time.Minute, 20*time.Minute - 2*time.Second, false, 10 * time.Minute},
		"over before the last heartbeat": {duration + time.Second, 2 * time.Hour, false, duration},
		"over while suspended":           {10 * time.Minute, 72 * time.Hour, true, duration},
	} {
		for engine, open := range storetest.Engines {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				cluster := newCluster(t, open(t))
				id := cluster.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: 24 * time.Hour, Duration: duration})
				joined := cluster.clock.Now()
				cluster.enter(t, 0, id, guest(1), "PA_1")
				cluster.heartbeat(c.alive, 0, 1)
				for n := range cluster.nodes {
					if !c.suspended {
						cluster.stopNode(n)
					}
				}
				cluster.clock.advance(c.outage)
				for n := range cluster.nodes {
					if !c.suspended {
						cluster.startNode(t, n)
					}
				}
				for range int(room.NodeTimeout/time.Second) + 2 {
					cluster.tick(0, 1)
				}
				r, err := cluster.db.Room(t.Context(), id)
				if err != nil || r.EndReason != room.EndedDuration {
					t.Errorf("room: got %+v, %v, want it ended by its duration", r, err)
				}
				rows := cluster.attendance(t, id)
				if len(rows) != 1 || !rows[0].LeftAt.Equal(joined.Add(c.left)) {
					t.Errorf("attendance: got %+v, want one that ended at %s", rows, joined.Add(c.left))
				}
				scope := usage.Scope{OrganizationID: cluster.project.OrganizationID}
				used, err := usage.NewService(cluster.db, usage.NoProvider{}, cluster.clock.Now).
					Totals(t.Context(), scope, joined, cluster.clock.Now())
				if err != nil || used.VideoMillis != c.left.Milliseconds() {
					t.Errorf("usage: got %+v, %v, want %s", used, err, c.left)
				}
			})
		}
	}
}

// A node does not end a room by its duration before it has seen the node of a connection
// alive at that time, or has found it lost.
func TestDuration_AwaitsOtherNodes(t *testing.T) {
	t.Parallel()
	const duration = 30 * time.Minute
	for name, lost := range map[string]bool{"alive": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, storetest.SQLite(t))
			id := c.create(t, room.Spec{MaxParticipants: 2, Duration: duration})
			joined := c.clock.Now()
			c.enter(t, 0, id, guest(1), "PA_1")
			c.clock.advance(duration - 3*time.Second)
			for range 2 {
				c.tick(0, 1)
			}
			alive := c.clock.Now()
			c.clock.advance(time.Second)
			c.nodes[1].Sweep(t.Context())
			if rows := c.attendance(t, id); !rows[0].LeftAt.IsZero() {
				t.Fatalf("attendance without a heartbeat at the end of the room: got %+v, want it kept", rows)
			}
			if _, err := c.nodes[1].ReserveSeat(t.Context(), id, guest(2)); !fault.Is(err, fault.Gone) {
				t.Errorf("join after the duration: got error %v, want Gone", err)
			}
			left := joined.Add(duration)
			if lost {
				left = alive
				c.stopNode(0)
				for range int(room.NodeTimeout/time.Second) + 2 {
					c.tick(1)
				}
			} else {
				c.heartbeat(0, 0, 1)
				c.nodes[1].WatchNodes(t.Context())
				c.clock.advance(time.Second)
				c.nodes[1].Sweep(t.Context())
			}
			if rows := c.attendance(t, id); len(rows) != 1 || !rows[0].LeftAt.Equal(left) {
				t.Errorf("attendance: got %+v, want one that ended at %s", rows, left)
			}
			if r, err := c.db.Room(t.Context(), id); err != nil || r.EndReason != room.EndedDuration {
				t.Errorf("room: got %+v, %v, want it ended by its duration", r, err)
			}
		})
	}
}
