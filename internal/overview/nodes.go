package overview

import (
	"encoding/json"
	"slices"

	"parley/internal/room"
	"parley/internal/validate"
)

// Every node tells the others with its heartbeats what is wrong with it, because a load balancer passes the question
// of an operator to any node.

const (
	// maxEncoded is the maximum length in bytes of the findings that a node tells the others.
	maxEncoded = 8 << 10
	// maxEncodedText is the maximum length in bytes of each text in them.
	maxEncodedText = 1 << 10
)

// encodedFinding is a finding of a node as the other nodes read it. Nodes of other releases read it too, so fields are
// only added.
type encodedFinding struct {
	ID       string   `json:"id"`
	Level    Level    `json:"level"`
	Text     string   `json:"text"`
	Action   string   `json:"action"`
	Commands []string `json:"commands,omitempty"`
}

// EncodeFindings returns findings about a node for room.Node, or an empty string for none. It leaves out the last
// ones if all of them would be longer than 8 KiB.
func EncodeFindings(found []Finding) string {
	var all []encodedFinding
	for _, f := range found {
		all = append(all, encodedFinding{
			ID:       f.ID,
			Level:    f.Level,
			Text:     validate.Truncate(f.Text, maxEncodedText),
			Action:   validate.Truncate(f.Action, maxEncodedText),
			Commands: f.Commands,
		})
	}
	for ; len(all) > 0; all = all[:len(all)-1] {
		if text, err := json.Marshal(all); err == nil && len(text) <= maxEncoded {
			return string(text)
		}
	}
	return ""
}

// decodeFindings returns the findings of EncodeFindings, and none for a text that it did not write.
func decodeFindings(text string) (found []Finding) {
	var all []encodedFinding
	if text == "" || json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	for _, f := range all {
		found = append(found, Finding{
			ID:       f.ID,
			Level:    f.Level,
			Text:     f.Text,
			Action:   f.Action,
			Commands: f.Commands,
		})
	}
	return found
}

// mergeFindings returns the findings about this node and those that the other nodes found about themselves, except
// lost ones. Nodes with the same finding share one. With a single node, the findings name none. This node is missing in
// nodes while it cannot write its heartbeats.
func mergeFindings(ownID string, own []Finding, nodes []room.NodeStatus) (merged []Finding) {
	others := slices.DeleteFunc(slices.Clone(nodes), func(n room.NodeStatus) bool { return n.Own || n.Lost })
	if len(others) == 0 {
		return own
	}
	add := func(nodeID string, isOwn bool, found []Finding) {
		for _, f := range found {
			same := slices.IndexFunc(merged, f.says)
			if same < 0 {
				same, merged = len(merged), append(merged, f)
			}
			merged[same].Nodes = append(merged[same].Nodes, nodeID)
			merged[same].ThisNode = merged[same].ThisNode || isOwn
		}
	}
	add(ownID, true, own)
	for _, n := range others {
		add(n.ID, false, decodeFindings(n.Findings))
	}
	return merged
}

// says reports whether two findings say the same, maybe about different nodes.
func (f Finding) says(other Finding) bool {
	return f.ID == other.ID && f.Level == other.Level && f.Text == other.Text && f.Action == other.Action &&
		slices.Equal(f.Commands, other.Commands)
}
