package overview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/internal/room"
)

func TestMergeFindings(t *testing.T) {
	t.Parallel()
	disk := Finding{
		ID:       "disk_full",
		Level:    Error,
		Text:     "The disk is full.",
		Action:   "Free space.",
		Commands: []string{"df"},
	}
	redis := Finding{ID: "redis_unavailable", Level: Error, Text: "The node does not reach Redis.", Action: "Start it."}
	on := func(f Finding, thisNode bool, nodes ...string) Finding {
		f.Nodes, f.ThisNode = nodes, thisNode
		return f
	}
	node := func(id string, found ...Finding) room.NodeStatus {
		return room.NodeStatus{Node: room.Node{ID: id, Findings: EncodeFindings(found)}}
	}
	own, lost, other := node("b"), node("c", disk), node("d")
	own.Own, lost.Lost, other.Findings = true, true, "from another program"
	for name, c := range map[string]struct {
		own   []Finding
		nodes []room.NodeStatus
		want  []Finding
	}{
		"a single node":      {[]Finding{disk}, []room.NodeStatus{own}, []Finding{disk}},
		"a lost node":        {[]Finding{redis}, []room.NodeStatus{own, lost}, []Finding{redis}},
		"another node":       {nil, []room.NodeStatus{node("a", disk), own}, []Finding{on(disk, false, "a")}},
		"an unreadable text": {[]Finding{disk}, []room.NodeStatus{own, other}, []Finding{on(disk, true, "b")}},
		"the own row is missing": {[]Finding{redis}, []room.NodeStatus{node("a", disk)},
			[]Finding{on(redis, true, "b"), on(disk, false, "a")}},
		"the only row is lost": {[]Finding{redis}, []room.NodeStatus{lost}, []Finding{redis}},
		"the same on two nodes": {[]Finding{redis}, []room.NodeStatus{node("a", disk, redis), own},
			[]Finding{on(redis, true, "b", "a"), on(disk, false, "a")}},
	} {
		if diff := cmp.Diff(c.want, mergeFindings("b", c.own, c.nodes)); diff != "" {
			t.Errorf("%s: findings differ (-want +got):\n%s", name, diff)
		}
	}
}

// The findings that a node tells the others are bounded, in their number and in each text.
func TestEncodeFindings_Bounded(t *testing.T) {
	t.Parallel()
	if got := EncodeFindings(nil); got != "" {
		t.Errorf("no findings: got %q, want an empty string", got)
	}
	var many []Finding
	for range 100 {
		many = append(many, Finding{ID: "disk_full", Level: Error, Text: strings.Repeat("ä", 4000), Action: "Free space."})
	}
	text := EncodeFindings(many)
	kept := decodeFindings(text)
	if len(text) > 8<<10 || len(kept) < 5 || len(kept) == len(many) {
		t.Errorf("got %d bytes with %d findings, want at least 5 findings in at most 8 KiB", len(text), len(kept))
	}
}
