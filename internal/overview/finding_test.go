package overview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/key"
	"parley/internal/room"
	"parley/internal/webhook"
)

// A node that is draining is a note, and a warning if it hosts meetings after the time.
func TestNodeFindings_Drain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		by       time.Duration
		sessions int
		relayed  int
		want     string
		level    Level
		says     string
	}{
		"in time":           {time.Minute, 3, 1, "node_draining", Note, "3 sessions with 0 people"},
		"a moment late":     {-10 * time.Second, 3, 2, "node_draining", Note, "(TURN) of 2 people"},
		"late":              {-time.Minute, 1, 1, "drain_late", Warning, "hosts 1 session with people"},
		"relays late":       {-time.Minute, 0, 1, "drain_relays_late", Warning, "(TURN) of 1 person to"},
		"long over, stands": {-time.Hour, 0, 0, "node_draining", Note, "0 sessions"},
	} {
		n := room.NodeStatus{
			Node:     room.Node{ID: "n1", Drain: room.Drain{StartedAt: now.Add(-2 * time.Hour), By: now.Add(c.by)}},
			NodeLoad: room.NodeLoad{Sessions: c.sessions},
		}
		n.RelayedPeople = c.relayed
		got := nodeFindings([]room.NodeStatus{n}, now)
		if len(got) != 1 || got[0].ID != c.want || got[0].Level != c.level {
			t.Errorf("%s: got %+v, want %s, a %s", name, got, c.want, c.level)
		}
		if len(got) == 1 && !strings.Contains(got[0].Text, c.says) {
			t.Errorf("%s: got %q, want a text with %q", name, got[0].Text, c.says)
		}
		assertCommands(t, got, []string{"parley drain n1 --cancel"})
	}
}

// A node that is stopping is a note without a command, because nobody can cancel its drain.
func TestNodeFindings_Stopping(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	n := room.NodeStatus{
		Node:     room.Node{ID: "n1", Drain: room.Drain{StartedAt: now.Add(-time.Minute)}},
		NodeLoad: room.NodeLoad{Sessions: 3},
	}
	got := nodeFindings([]room.NodeStatus{n}, now)
	if len(got) != 1 || got[0].ID != "node_draining" || got[0].Level != Note ||
		!strings.Contains(got[0].Text, "is stopping") {
		t.Errorf("got %+v, want the note node_draining, which says that the node is stopping", got)
	}
	assertCommands(t, got, nil)
}

// assertCommands fails unless each finding has the commands, and an action without a command.
func assertCommands(t *testing.T, found []Finding, want []string) {
	t.Helper()
	for _, f := range found {
		if !slices.Equal(f.Commands, want) || f.Action == "" || strings.Contains(f.Action, "parley ") {
			t.Errorf("action and commands of %s: got %q and %q, want an action without a command and %q", f.ID, f.Action,
				f.Commands, want)
		}
	}
}

func TestProjectFindings_HaveCommandsBesideTheirAction(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	paused := webhook.Target{ProjectID: "p1", URL: "https://example.org/hooks?a=1&b=2", Failures: 20, PausedAt: now}
	target := targetFinding(paused)
	if target.ID != "webhook_target_paused" {
		t.Fatalf("finding of a paused target: got %+v, want webhook_target_paused", target)
	}
	assertCommands(t, []Finding{target}, []string{"parley webhook resume p1 'https://example.org/hooks?a=1&b=2'"})
	for credential, want := range map[string][]string{
		event.CredentialKey: {"parley calls --project p1 --key-slot overlap", "parley key revoke-overlap p1"},
		event.CredentialSecret: {
			"parley calls --project p1 --key-slot overlap_secret", "parley project revoke-secret-overlap p1",
		},
	} {
		overlaps := overlapFindings([]key.EndingOverlap{{ProjectID: "p1", Credential: credential, EndsAt: now}})
		if len(overlaps) != 1 {
			t.Fatalf("findings of an overlap of %s: got %+v, want one", credential, overlaps)
		}
		assertCommands(t, overlaps, want)
	}
}

// A target that somebody has paused comes after those that need a repair.
func TestSortTargets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	byHand := webhook.Target{
		URL:          "by hand",
		FailingSince: now.Add(-9 * time.Hour),
		PausedAt:     now,
		Notice:       "paused by hand: its deliveries wait until it is resumed",
	}
	gone := webhook.Target{URL: "gone", Failures: 1, FailingSince: now.Add(-time.Minute), PausedAt: now}
	probed := webhook.Target{
		URL:          "probed",
		Failures:     20,
		FailingSince: now.Add(-2 * time.Hour),
		PausedAt:     now,
		ProbeAt:      now,
	}
	failing := webhook.Target{URL: "failing", Failures: 3, FailingSince: now.Add(-3 * time.Hour)}
	fresh := webhook.Target{URL: "fresh", Failures: 1, FailingSince: now}
	targets := []webhook.Target{byHand, fresh, gone, failing, probed}
	sortTargets(targets)
	if want := []webhook.Target{probed, gone, failing, fresh, byHand}; !slices.Equal(targets, want) {
		t.Errorf("got  %+v\nwant %+v", targets, want)
	}
}
