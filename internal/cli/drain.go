package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/plural"
	"parley/internal/room"
)

type drainCommand struct {
	manager
	Node string `arg:"" optional:"" help:"ID of the node. Default: the node that responds at --url."`
	// Within has no default tag, because kong would then refuse Now together with it.
	Within *config.Duration `xor:"time,cancel" placeholder:"DURATION" help:"Time in which the node hands over its meetings, at most 24h. 0s hands over all at once. Default: 1m."`
	Now    bool             `xor:"time,cancel" help:"Hand over all meetings at once, as with --within 0s."`
	Cancel bool             `xor:"cancel" help:"Let the node host meetings again."`
}

const (
	// defaultDrainTime is the time for all meetings without --within.
	defaultDrainTime = time.Minute
	// drainPollInterval is the time between two looks at a node that is draining.
	drainPollInterval = 2 * time.Second
	// drainGrace is how long after its time a node may still host meetings. The overview allows as long.
	drainGrace = 30 * time.Second
	// drainReportInterval is the time between two lines about a node in which nothing changes.
	drainReportInterval = 30 * time.Second
)

var (
	errNodeGone    = errors.New("the node is not there any more")
	errNodeLost    = errors.New("the node is lost: the other nodes take over its meetings")
	errNotDraining = errors.New("the node is not draining any more")
)

// The phases of a drain in the JSON output.
const (
	phaseLive    = "live"    // the drain was canceled: the node hosts new meetings again
	phaseDrained = "drained" // nobody is in a meeting on the node or relayed by it
	phaseStopped = "stopped" // the same, and the node is not there any more
)

// drainJSON is the node with the result of the command.
type drainJSON struct {
	manage.Node
	Phase        string `json:"phase"`
	SessionsLeft int    `json:"sessions_left"`
}

// Run drains a node and waits until it hosts no meeting and relays no media to other nodes.
func (c drainCommand) Run(ctx context.Context, s *streams) error {
	if c.Within != nil && (c.Within.Std() < 0 || c.Within.Std() > room.MaxDrain) {
		return usageError{fmt.Errorf("--within must be between 0 and 24h, not %s", *c.Within)}
	}
	node, err := c.node(ctx)
	if err != nil {
		return err
	}
	if c.Cancel {
		n, err := callManagement[manage.Node](ctx, c.manager, "POST", apiPath("/nodes/%s/cancel-drain", node), nil)
		if err != nil || c.JSON {
			return s.printResult(drainJSON{n, phaseLive, n.Sessions}, err)
		}
		_, err = fmt.Fprintf(s.out, "The node %s hosts new meetings again.\n", n.Node)
		return err
	}
	within := c.seconds()
	deadline := time.Now().Add(time.Duration(within)*time.Second + drainGrace)
	n, err := callManagement[manage.Node](ctx, c.manager, "POST", apiPath("/nodes/%s/drain", node),
		manage.DrainNode{Within: &within})
	if err != nil {
		return err
	}
	// The node reads the request within a second, and the attendance of the last people may be on its way.
	var reported string
	var reportedAt time.Time
	for empty := 0; empty < 2; {
		if isInUse(n) {
			empty = 0
			line := fmt.Sprintf("Node %s still has sessions: %d, with people: %d. People whose media it relays (TURN) to other "+
				"nodes: %d. %s", n.Node, n.Sessions, n.People, n.RelayedPeople, drainEnd(n))
			if line != reported || time.Since(reportedAt) >= drainReportInterval {
				fmt.Fprintln(s.err, line)
				reported, reportedAt = line, time.Now()
			}
		}
		select {
		case <-ctx.Done():
			fmt.Fprintf(s.err, "The drain goes on. %s\n", afterDrain(n, "To end it"))
			return exitStatus(exitError)
		case <-time.After(drainPollInterval):
		}
		late := time.Now().After(deadline)
		latest, err := c.status(ctx, node)
		switch {
		case errors.Is(err, errNodeGone) && !isInUse(n): // it was stopped at once
			if c.JSON {
				return s.printResult(drainJSON{n, phaseStopped, n.Sessions}, nil)
			}
			_, err = fmt.Fprintf(s.out, "The node %s has stopped. Nobody was in a meeting on it.\n", n.Node)
			return err
		case errors.Is(err, errNodeGone), errors.Is(err, errNodeLost), errors.Is(err, errNotDraining),
			err != nil && late:
			return err
		case err != nil:
			fmt.Fprintf(s.err, "No answer, trying again: %v\n", err)
		case !isInUse(latest):
			empty, n = empty+1, latest
		case late && latest.Sessions == 0:
			return fmt.Errorf("the node %s still relays the media (TURN) of %s to other nodes after the time: let the load "+
				"balancer send no TURN connections to a node whose /healthz is 503", n.Node,
				plural.Count(latest.RelayedPeople, "person", "people"))
		case late:
			return fmt.Errorf("the node %s still has %s with people after the time: look for the cause in its log",
				n.Node, plural.Count(latest.Sessions, "session", "sessions"))
		default:
			n = latest
		}
	}
	if c.JSON {
		return s.printResult(drainJSON{n, phaseDrained, n.Sessions}, nil)
	}
	_, err = fmt.Fprintf(s.out, "Nobody is in a meeting on the node %s or relayed by it. %s\n", n.Node,
		afterDrain(n, "Stop it, or let it host again"))
	return err
}

// drainEnd says when a drain ends. A node that was asked to stop has no such time.
func drainEnd(n manage.Node) string {
	if n.DrainBy == nil {
		return "The node is stopping."
	}
	return fmt.Sprintf("The drain ends at %s at the latest.", formatTime(n.DrainBy))
}

// afterDrain says how the drain of a node is canceled, which is impossible if the node stops.
func afterDrain(n manage.Node, why string) string {
	if n.DrainBy == nil {
		return "The node is stopping, so its drain cannot be canceled."
	}
	return fmt.Sprintf("%s: parley drain %s --cancel", why, n.Node)
}

// seconds returns the time for all meetings, in seconds.
func (c drainCommand) seconds() int {
	switch {
	case c.Now:
		return 0
	case c.Within != nil:
		return int(math.Ceil(c.Within.Std().Seconds()))
	}
	return int(defaultDrainTime / time.Second)
}

// isInUse reports whether people notice when the node stops.
func isInUse(n manage.Node) bool { return n.Sessions > 0 || n.RelayedPeople > 0 }

// node returns the ID of the node to drain.
func (c drainCommand) node(ctx context.Context) (string, error) {
	if c.Node != "" {
		return c.Node, nil
	}
	n, err := c.find(ctx, func(n manage.Node) bool { return n.ThisNode })
	return n.Node, err
}

func (c drainCommand) status(ctx context.Context, node string) (manage.Node, error) {
	n, err := c.find(ctx, func(n manage.Node) bool { return n.Node == node })
	switch {
	case err == nil && n.State == manage.NodeStateLost:
		err = errNodeLost
	case err == nil && n.State != manage.NodeStateDraining:
		err = errNotDraining
	}
	return n, err
}

func (c drainCommand) find(ctx context.Context, match func(manage.Node) bool) (manage.Node, error) {
	list, err := callManagement[manage.NodeList](ctx, c.manager, "GET", "/nodes", nil)
	if err != nil {
		return manage.Node{}, err
	}
	i := slices.IndexFunc(list.Nodes, match)
	if i < 0 {
		return manage.Node{}, errNodeGone
	}
	return list.Nodes[i], nil
}
