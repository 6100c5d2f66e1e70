package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/doctor"
)

type doctorCommand struct {
	config.Config
	Address string `arg:"" optional:"" placeholder:"URL" help:"URL of a server to check from this machine: https://meet.example.org, or the URL that --invite prints, which also checks media. Default: this machine and the settings."`
	Invite  bool   `help:"Print a URL that checks media from another machine once, and wait for the result. It needs the running server."`
	URL     string `name:"url" env:"PARLEY_URL" placeholder:"URL" help:"URL of the running server, for --invite and the connections of participants."`
	Token   string `name:"token" env:"PARLEY_ADMIN_TOKEN" placeholder:"TOKEN" help:"Management token, for --invite and the connections of participants."`
	JSON    bool   `name:"json" help:"JSON output."`
	Strict  bool   `help:"Exit status 1 also for warnings."`
}

// Run checks this machine and the settings, or a server from this machine. The exit status is 1 if there is
// an error.
func (c doctorCommand) Run(ctx context.Context, s *streams) (err error) {
	var report doctor.Report
	switch {
	case c.Invite && c.Address != "":
		return usageError{errors.New("--invite runs on the server, and the URL is for another machine: use one of them")}
	case c.Invite:
		report, err = c.invite(ctx, s)
	case c.Address != "":
		report, err = c.runRemote(ctx)
	default:
		report = doctor.Run(ctx, c.Config)
		c.addFromServer(ctx, &report)
	}
	if len(report.Checks) > 0 {
		err = errors.Join(err, c.print(s.out, report))
	}
	if err != nil {
		return err
	}
	if c.fails(report) {
		return exitStatus(exitError)
	}
	return nil
}

// fails reports whether a report has findings for which the exit status is 1.
func (c doctorCommand) fails(report doctor.Report) bool {
	worst := report.Worst()
	return worst == doctor.Error || c.Strict && worst != ""
}

func (c doctorCommand) runRemote(ctx context.Context) (doctor.Report, error) {
	baseURL, code, err := doctor.ParseRemote(c.Address)
	if err != nil {
		return doctor.Report{}, usageError{err}
	}
	return doctor.RunRemote(ctx, baseURL, code)
}

// addFromServer adds what only the running server knows: how the media of real participants reaches it, and which of
// its ports it cannot open.
func (c doctorCommand) addFromServer(ctx context.Context, report *doctor.Report) {
	report.Checks = append(report.Checks, doctor.Result{Check: doctor.ParticipantsCheck})
	participants := &report.Checks[len(report.Checks)-1]
	m := c.manager()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var overview manage.Overview
	err := m.applyQuickstart()
	if err == nil {
		overview, err = callManagement[manage.Overview](ctx, m, "GET", "/overview", nil)
	}
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		participants.Unknown = "only the running server knows how their media arrives: " + text
		return
	}
	for _, f := range overview.Findings {
		for i := range report.Checks {
			if check := &report.Checks[i]; check.Check == doctor.CheckOfServer(f.Id) {
				check.Findings = append(check.Findings,
					doctor.Finding{ID: f.Id, Level: doctor.Level(f.Level), Text: f.Text, Change: f.Action})
			}
		}
	}
	t := overview.ConnectionTypes
	participants.Detail = fmt.Sprintf("%s has %d in meetings now: %d over UDP, %d over TCP, %d over TURN", m.URL,
		overview.Participants, t.Udp, t.Tcp, t.Turn)
}

// manager is the running server, for checks that need it.
func (c doctorCommand) manager() manager {
	return manager{DataDir: c.DataDir, endpoint: endpoint{URL: c.URL, Token: c.Token}}
}

// checkPollInterval is the time between two questions for the result of a check.
const checkPollInterval = 2 * time.Second

// invite creates a check for another machine and waits for its result.
func (c doctorCommand) invite(ctx context.Context, s *streams) (doctor.Report, error) {
	m := c.manager()
	created, err := callManagement[manage.NewConnectionCheck](ctx, m, "POST", "/connection-checks", nil)
	if err != nil {
		return doctor.Report{}, err
	}
	fmt.Fprintf(s.err, "Run this on another machine, or open the URL on a phone without Wi-Fi, before %s:\n\n"+
		"  parley doctor '%s'\n\nWaiting for the result. Ctrl+C ends the wait.\n", formatTime(&created.ExpiresAt),
		created.Url)
	path := apiPath("/connection-checks/%s", created.CheckId)
	for {
		check, err := callManagement[manage.ConnectionCheck](ctx, m, "GET", path, nil)
		switch {
		case ctx.Err() != nil:
			return doctor.Report{}, exitStatus(exitError)
		case err != nil && time.Now().After(created.ExpiresAt.Time):
			return doctor.Report{}, err
		case err != nil: // the server may be restarting
		case check.State == manage.ConnectionCheckStateFinished:
			return doctor.Report{Checks: mediaResults(check.Paths)}, nil
		case check.State == manage.ConnectionCheckStateExpired:
			return doctor.Report{}, errors.New("nobody has finished the check in time")
		}
		select {
		case <-ctx.Done():
			return doctor.Report{}, exitStatus(exitError)
		case <-time.After(checkPollInterval):
		}
	}
}

func mediaResults(paths []manage.CheckedPath) []doctor.Result {
	tried := make([]doctor.Tried, len(paths))
	for i, p := range paths {
		tried[i] = doctor.Tried{Path: string(p.Path), Offered: p.Offered, Works: p.Works, Address: valueOrEmpty(p.Address)}
	}
	return doctor.MediaResults(tried)
}

// doctorJSON is the report for scripts: what to change in one list, and the outcome of each check.
type doctorJSON struct {
	OK       bool          `json:"ok"` // whether the exit status is 0
	Findings []findingJSON `json:"findings"`
	doctor.Report
}

type findingJSON struct {
	ID      string       `json:"id"`
	Level   doctor.Level `json:"level"`
	Message string       `json:"message"`
	Fix     string       `json:"fix"`
}

func (c doctorCommand) print(w io.Writer, report doctor.Report) error {
	if c.JSON {
		all := doctorJSON{OK: !c.fails(report), Findings: []findingJSON{}, Report: report}
		for _, result := range report.Checks {
			for _, f := range result.Findings {
				all.Findings = append(all.Findings, findingJSON{ID: f.ID, Level: f.Level, Message: f.Text, Fix: f.Change})
			}
		}
		return printJSON(w, all)
	}
	for _, result := range report.Checks {
		for _, f := range result.Findings {
			fmt.Fprintf(w, "%-8s %s: %s\n         change: %s\n", strings.ToUpper(string(f.Level)), f.ID, sanitizeText(f.Text),
				sanitizeText(f.Change))
		}
		switch {
		case len(result.Findings) > 0:
		case result.Unknown != "":
			fmt.Fprintf(w, "%-8s %s: %s\n", "unknown", result.Check, sanitizeText(result.Unknown))
		default:
			fmt.Fprintf(w, "%-8s %s: %s\n", "ok", result.Check, sanitizeText(result.Detail))
		}
	}
	return nil
}
