package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/instance"
)

type statusCommand struct {
	manager
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project to show. Default: the whole service."`
}

// Run prints the overview.
func (c statusCommand) Run(ctx context.Context, s *streams) error {
	path := "/overview"
	if c.Project != "" {
		path += "?" + url.Values{"project_id": {c.Project}}.Encode()
	}
	o, err := callManagement[manage.Overview](ctx, c.manager, "GET", path, nil)
	if err != nil {
		local, ok := c.localOverview(ctx, err)
		if !ok {
			return err
		}
		o, err = local, fmt.Errorf("%w\nThe server process of %s on this machine works, and what is printed above is from "+
			"it: look for the cause in the DNS, the certificate, the firewall or the proxy", err, c.DataDir)
	}
	return errors.Join(c.print(s, o), err)
}

// localOverview asks the server process of the data directory, whose findings often say why nothing responds at its
// public URL. It does so only after a call to that URL failed without a response of a server.
func (c statusCommand) localOverview(ctx context.Context, failed error) (manage.Overview, bool) {
	if isChosen(c.URL) || c.Project != "" || errors.As(failed, new(apiError)) || errors.As(failed, new(usageError)) {
		return manage.Overview{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	conn, err := instance.DialLocal(ctx, c.DataDir)
	if err != nil {
		return manage.Overview{}, false
	}
	o, err := localOverview(ctx, conn)
	return o, err == nil
}

func (c statusCommand) print(s *streams, o manage.Overview) error {
	if c.JSON {
		return printJSON(s.out, o)
	}
	t := o.ConnectionTypes
	var minutes float64
	var peak int64
	for _, h := range o.Hours {
		minutes += h.ParticipantMinutes
		peak = max(peak, h.PeakParticipants)
	}
	rows := [][2]string{
		{"live rooms", strconv.Itoa(o.LiveRooms)},
		{"participants", strconv.Itoa(o.Participants)},
		{"connections", fmt.Sprintf("%d UDP, %d TCP, %d TURN, %d unknown", t.Udp, t.Tcp, t.Turn, t.Unknown)},
		{"last 24 hours", fmt.Sprintf("%.2f participant minutes, at most %d participants", minutes, peak)},
		{"calls in an hour", callsText(o.Calls)},
		{"failing targets", strconv.Itoa(o.FailingWebhookTargetCount)},
	}
	if o.Nodes != nil {
		rows = append(rows, [2]string{"nodes", fmt.Sprintf("%d, %s", o.Nodes.Count, strings.Join(o.Nodes.Versions, ", "))})
	}
	for _, row := range rows {
		fmt.Fprintf(s.out, "%-16s  %s\n", row[0], row[1])
	}
	if most := o.Calls.MostRejected; most != nil && len(*most) > 0 {
		fmt.Fprintln(s.out, "\nProjects with the most rejected calls in the last hour "+
			"(parley calls --project ID --version backend --since 1h --by cause counts the causes):")
		for _, p := range *most {
			fmt.Fprintf(s.out, "  %s  %d of %d\n", p.ProjectId, p.Rejected, p.Accepted+p.Rejected)
		}
	}
	if len(o.Findings) == 0 {
		_, err := fmt.Fprintln(s.out, "\nThere are no findings.")
		return err
	}
	for _, f := range o.Findings {
		fmt.Fprintf(s.out, "\n%s (%s)%s: %s\n  %s\n", f.Level, f.Id, onNodes(f), f.Text, f.Action)
		if f.Commands != nil {
			fmt.Fprintf(s.out, "    %s\n", strings.Join(*f.Commands, "\n    "))
		}
	}
	return nil
}

// onNodes returns the nodes that a finding concerns, such as " on node a", or an empty string if it names none.
func onNodes(f manage.Finding) string {
	if f.Nodes == nil {
		return ""
	}
	what := " on node "
	if len(*f.Nodes) > 1 {
		what = " on nodes "
	}
	return what + strings.Join(*f.Nodes, ", ")
}

func callsText(c manage.CallTotals) string {
	if !c.Recorded {
		return "not recorded (--no-diagnostics-enabled)"
	}
	return fmt.Sprintf("%d accepted, %d rejected", c.Accepted, c.Rejected)
}

type nodeCommands struct {
	List nodeList `cmd:"" help:"List the nodes, with what they host."`
}

type nodeList struct{ lister }

// Run lists the nodes.
func (c nodeList) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.NodeList](ctx, c.manager, "GET", "/nodes", nil)
	if err != nil || c.structured() {
		return printItems(s, c.lister, list.Nodes, err)
	}
	var rows [][]string
	for _, n := range list.Nodes {
		answered, offset := "", ""
		if n.ThisNode {
			answered = "yes"
		}
		if n.ClockOffsetSeconds != nil {
			offset = fmt.Sprintf("%+.1f s", *n.ClockOffsetSeconds)
		}
		rows = append(rows, []string{n.Node, n.Version, string(n.State), strconv.Itoa(n.Sessions), strconv.Itoa(n.People),
			strconv.Itoa(n.RelayedPeople), string(n.Redis), shortTime(valueOrEmpty(n.StartedAt)), shortTime(n.LastSeenAt),
			offset, answered})
	}
	return printTable(s.out, []string{"NODE", "VERSION", "STATE", "SESSIONS", "PEOPLE", "RELAYED", "REDIS", "STARTED",
		"LAST SEEN", "CLOCK", "ANSWERED"}, rows)
}

// shortTime formats an RFC 3339 time for a table. Another text stays.
func shortTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return formatTime(&at)
}

type settingsCommand struct{ lister }

// Run lists the settings.
func (c settingsCommand) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.SettingList](ctx, c.manager, "GET", "/settings", nil)
	if err != nil || c.structured() {
		return printItems(s, c.lister, list.Settings, err)
	}
	var rows [][]string
	for _, v := range list.Settings {
		name := v.Flag
		if name == "" {
			name = v.Environment
		}
		rows = append(rows, []string{name, v.Value, string(v.Source)})
	}
	return printTable(s.out, []string{"SETTING", "VALUE", "SOURCE"}, rows)
}
