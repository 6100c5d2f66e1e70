package overview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/internal/event"
	"parley/internal/key"
	"parley/internal/plural"
	"parley/internal/room"
	"parley/internal/shell"
	"parley/internal/webhook"
)

// Level is the severity of a finding.
type Level string

// The levels of findings.
const (
	Error   Level = "error"   // a part of the service does not work
	Warning Level = "warning" // it fails for some projects or nodes, or will fail soon
	Note    Level = "note"    // it works, but an operator should know about it
)

// Finding is a problem or a fact that an operator should know about.
type Finding struct {
	ID        string // kind of the finding, such as "node_lost"
	Level     Level
	Text      string   // description
	Action    string   // recommended action, for people with the command line and people with the console
	Commands  []string // commands of the action, in their order; nil if it has none
	ProjectID string   // project that the finding concerns; empty if it concerns the service
	Nodes     []string // IDs of the nodes that it concerns; nil with a single node, and if it concerns the service
	ThisNode  bool     // whether this node is one of Nodes
}

const (
	// overlapNotice is how long before its end an overlap is a finding.
	overlapNotice = 24 * time.Hour
	// maxClockOffset is the difference of clocks that is a finding. It is well above the
	// error of the measurement.
	maxClockOffset = 5 * time.Second
	// drainGrace is how long after its time a drain may end without a finding.
	drainGrace = 30 * time.Second
	// failingNotice is how long a target fails before that is a finding. The server pauses a target that is used much
	// after this time, but one with few deliveries never.
	failingNotice = time.Hour
	// failingEnd is how long such a target remains a finding. Its first delivery is given up within this time
	// (retrySchedule of the sender), and usually nothing waits after it: with more deliveries, it would be paused.
	failingEnd = 4 * 24 * time.Hour
	// maxFindings limits the findings about targets, of which a customer may have many.
	maxFindings = 10
)

// nodeFindings compares the nodes.
func nodeFindings(nodes []room.NodeStatus, now time.Time) []Finding {
	var found []Finding
	var versions []string
	for _, n := range nodes {
		switch {
		case n.Lost:
			found = append(found, Finding{ID: "node_lost", Level: Warning,
				Text: fmt.Sprintf("The node %s was last seen at %s. The other nodes took over its rooms.", n.ID,
					n.LastAlive.UTC().Format(time.RFC3339)),
				Action: "Look at the log of this process and at its machine. After a minute it is no longer listed."})
			continue
		case n.ClockOffset != nil && n.ClockOffset.Abs() > maxClockOffset:
			found = append(found, Finding{ID: "clock_offset", Level: Warning,
				Text: fmt.Sprintf("The clock of the node %s differs by about %s.", n.ID,
					n.ClockOffset.Abs().Round(time.Second)),
				Action: "Synchronize the clocks with NTP, because timestamps of signatures are compared with them."})
		}
		if n.Drain.Active() {
			found = append(found, drainFinding(n, now))
		}
		if !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
	}
	if len(versions) > 1 {
		slices.Sort(versions)
		found = append(found, Finding{ID: "versions_differ", Level: Note,
			Text:   "The nodes run different versions: " + strings.Join(versions, ", ") + ".",
			Action: "Finish the upgrade, or stop the nodes of the older version."})
	}
	return found
}

// drainFinding describes a node that is draining.
func drainFinding(n room.NodeStatus, now time.Time) Finding {
	sessions := plural.Count(n.Sessions, "session", "sessions")
	people, relayed := plural.Count(n.People, "person", "people"), plural.Count(n.RelayedPeople, "person", "people")
	if n.Drain.Stopping() {
		return Finding{
			ID:    "node_draining",
			Level: Note,
			Text: fmt.Sprintf("The node %s is stopping. It hands over %s with %s to other nodes first. It relays the media "+
				"(TURN) of %s to other nodes, who reconnect when it stops.", n.ID, sessions, people, relayed),
			Action: "Nothing needs to be done.",
		}
	}
	by, cancel := n.Drain.By.UTC().Format(time.RFC3339), "parley drain "+n.ID+" --cancel"
	late := now.Sub(n.Drain.By) > drainGrace
	switch {
	case late && n.Sessions == 0 && n.RelayedPeople > 0:
		return Finding{
			ID:    "drain_relays_late",
			Level: Warning,
			Text: fmt.Sprintf("The node %s still relays the media (TURN) of %s to other nodes. Its drain should have "+
				"ended at %s.", n.ID, relayed, by),
			Action: "Let the load balancer send no TURN connections to a node whose /healthz is 503. Stop the node, or " +
				"cancel the drain.",
			Commands: []string{cancel},
		}
	case late && n.Sessions > 0:
		return Finding{
			ID:    "drain_late",
			Level: Warning,
			Text: fmt.Sprintf("The node %s still hosts %s with people. Its drain should have ended at %s.", n.ID, sessions,
				by),
			Action:   "Look for the cause in its log. Stop the node, or cancel the drain.",
			Commands: []string{cancel},
		}
	}
	return Finding{
		ID:    "node_draining",
		Level: Note,
		Text: fmt.Sprintf("The node %s is draining until %s. It hosts %s with %s, and relays the media (TURN) "+
			"of %s to other nodes.", n.ID, by, sessions, people, relayed),
		Action:   "Stop the node when all these are 0, or cancel the drain so that it hosts meetings again.",
		Commands: []string{cancel},
	}
}

// targetFindings returns one finding for each of the first targets that are paused, or fail for a while.
func targetFindings(targets []webhook.Target, now time.Time) []Finding {
	var found []Finding
	for _, t := range targets {
		failing := now.Sub(t.FailingSince)
		if len(found) < maxFindings && (t.Paused() || failing >= failingNotice && failing < failingEnd) {
			found = append(found, targetFinding(t))
		}
	}
	return found
}

// targetFinding describes a target that is paused or fails.
func targetFinding(t webhook.Target) Finding {
	quoted := shell.Quote(t.URL) // an integrator chooses the URL
	resume := []string{"parley webhook resume " + t.ProjectID + " " + quoted}
	f := Finding{ProjectID: t.ProjectID}
	switch {
	case t.PausedByHand():
		f.ID, f.Level = "webhook_target_held", Note
		f.Text = fmt.Sprintf("Webhooks to %s are paused by hand since %s.", t.URL, t.PausedAt.UTC().Format(time.RFC3339))
		f.Action, f.Commands = "Resume the target when its receiver is ready.", resume
	case t.Paused():
		f.ID, f.Level = "webhook_target_paused", Warning
		f.Text = fmt.Sprintf("Webhooks to %s are paused after %s, since %s.", t.URL,
			plural.Count(t.Failures, "failure", "failures"), t.PausedAt.UTC().Format(time.RFC3339))
		f.Action, f.Commands = "Repair the receiver, or ask the integrator to repair it. Then resume the target.", resume
	default:
		f.ID, f.Level = "webhook_target_failing", Warning
		f.Text = fmt.Sprintf("Webhooks to %s fail since %s. Each delivery is given up about three days after its first "+
			"attempt.", t.URL, t.FailingSince.UTC().Format(time.RFC3339))
		f.Action = "Repair the receiver, or ask the integrator to repair it. Then send what waits."
		f.Commands = []string{"parley webhook retry --project " + t.ProjectID + " --target " + quoted}
	}
	return f
}

func overlapFindings(overlaps []key.EndingOverlap) []Finding {
	var found []Finding
	for _, o := range overlaps {
		what, slot, revoke := "API key", "overlap", "parley key revoke-overlap "
		if o.Credential == event.CredentialSecret {
			what, slot, revoke = "project secret", "overlap_secret", "parley project revoke-secret-overlap "
		}
		found = append(found, Finding{
			ID:        "overlap_ending",
			Level:     Note,
			ProjectID: o.ProjectID,
			Text:      fmt.Sprintf("The old %s stops working at %s.", what, o.EndsAt.UTC().Format(time.RFC3339)),
			Action:    "Check who still uses it. If nobody does, end the overlap now.",
			Commands:  []string{"parley calls --project " + o.ProjectID + " --key-slot " + slot, revoke + o.ProjectID},
		})
	}
	return found
}
