package overview

import (
	"testing"
	"time"

	"parley/internal/room"
)

// A node that is draining is a note, and a warning if it hosts meetings after the time.
func TestNodeFindings_Drain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		by       time.Duration
		sessions int
		want     string
		level    Level
	}{
		"in time":           {time.Minute, 3, "node_draining", Note},
		"a moment late":     {-10 * time.Second, 3, "node_draining", Note},
		"late":              {-time.Minute, 3, "drain_late", Warning},
		"long over, stands": {-time.Hour, 0, "node_draining", Note},
	} {
		n := room.NodeStatus{
			Node:     room.Node{ID: "n1", Drain: room.Drain{StartedAt: now.Add(-2 * time.Hour), By: now.Add(c.by)}},
			NodeLoad: room.NodeLoad{Sessions: c.sessions},
		}
		got := nodeFindings([]room.NodeStatus{n}, now)
		if len(got) != 1 || got[0].ID != c.want || got[0].Level != c.level {
			t.Errorf("%s: got %+v, want %s, a %s", name, got, c.want, c.level)
		}
	}
}
