package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/doctor"
	"parley/internal/instance"
)

type doctorCommand struct {
	config.Config
	Address string `arg:"" optional:"" placeholder:"URL" help:"URL of a server to check from this machine: https://meet.example.org, or the URL that --invite prints, which also checks media. Default: this machine and the settings."`
	Invite  bool   `help:"Print a URL that checks media from another machine once, and wait for the result. It needs the running server."`
	URL     string `name:"url" env:"PARLEY_URL" placeholder:"URL" help:"URL of the running server, for --invite, and for its own findings if it runs elsewhere."`
	Token   string `name:"token" env:"PARLEY_ADMIN_TOKEN" placeholder:"TOKEN" help:"Management token, for --invite, and for the findings of a server that runs elsewhere."`
	JSON    bool   `name:"json" help:"JSON output."`
	Slow    bool   `help:"Also check whether a proxy leaves quiet WebSockets open, which takes 15 seconds."`
	Strict  bool   `help:"Exit status 1 also for warnings."`
}

// whyIneffective allows --config and --data-dir always, because an alias of the command often has them.
func (c doctorCommand) whyIneffective(flag *kong.Flag) string {
	setting := flag.Tag.Has("setting") && flag.Name != "config" && flag.Name != "data-dir"
	switch {
	case c.Address != "" && (setting || flag.Name == "url" || flag.Name == "token"):
		return "with the URL of a server, which is checked from outside: leave out one of them"
	case c.Invite && setting:
		return "with --invite, which asks the running server: leave out one of them"
	case c.Invite && flag.Name == "slow":
		return "with --invite: use it alone, or with the URL on another machine"
	}
	return ""
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
		report = doctor.Run(ctx, c.Config, c.Slow)
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
	return worst == doctor.Error || c.Strict && worst == doctor.Warning
}

func (c doctorCommand) runRemote(ctx context.Context) (doctor.Report, error) {
	baseURL, code, err := doctor.ParseRemote(c.Address)
	if err != nil {
		return doctor.Report{}, usageError{err}
	}
	return doctor.RunRemote(ctx, baseURL, code, c.Slow)
}

// localTimeout is how long a command waits for the server process on this machine.
const localTimeout = 10 * time.Second

// addFromServer adds what the running server has found.
func (c doctorCommand) addFromServer(ctx context.Context, report *doctor.Report) {
	overview, err := c.overview(ctx)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		report.SetServerUnknown("could not ask the running server: " + text)
		return
	}
	var found []doctor.Finding
	for _, f := range overview.Findings {
		if f.ThisNode != nil && !*f.ThisNode {
			continue // about the machine of another node
		}
		change := f.Action
		if f.Commands != nil {
			// Not a line for a shell if there are several, because the next ones may depend on what the first one shows.
			change = strings.TrimSuffix(change, ".") + ": " + strings.Join(*f.Commands, ", then ")
		}
		found = append(found, doctor.Finding{ID: f.Id, Level: doctor.Level(f.Level), Text: f.Text, Change: change})
	}
	t := overview.ConnectionTypes
	report.AddFromServer(found, map[string]string{
		doctor.ParticipantsCheck: fmt.Sprintf("%d people are in meetings now: %d over UDP, %d over TCP, %d over TURN",
			overview.Participants, t.Udp, t.Tcp, t.Turn),
	})
}

// isChosen reports whether a URL is that of the flag --url. The variable PARLEY_URL is for all commands, and may lead
// to another node than the one on this machine.
func isChosen(url string) bool { return url != "" && url != os.Getenv("PARLEY_URL") }

// overview returns the overview of the server that runs on this machine, which needs no token. If there is none, or
// with the flag --url, it asks the server at that URL.
func (c doctorCommand) overview(ctx context.Context) (manage.Overview, error) {
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	if !isChosen(c.URL) {
		conn, err := instance.DialLocal(ctx, c.DataDir)
		if err == nil {
			return localOverview(ctx, conn)
		}
	}
	return callManagement[manage.Overview](ctx, c.manager(), "GET", "/overview", nil)
}

// localOverview asks the server at the other end of a local connection.
func localOverview(ctx context.Context, conn net.Conn) (overview manage.Overview, err error) {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://local/overview", nil)
	if err != nil {
		return overview, err
	}
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return overview, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		var body manage.Error
		err = json.NewDecoder(response.Body).Decode(&body)
		return overview, fmt.Errorf("status %d: %s", response.StatusCode, cmp.Or(body.Error.Message, fmt.Sprint(err)))
	}
	return overview, json.NewDecoder(response.Body).Decode(&overview)
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
			overview, _ := c.overview(ctx) // without its findings, the results are less exact
			return doctor.Report{Checks: mediaResults(check.Paths, overview)}, nil
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

// mediaResults returns what follows from the paths that another machine has tried. Any node may have responded to it,
// so the findings of all nodes count.
func mediaResults(paths []manage.CheckedPath, overview manage.Overview) []doctor.Result {
	tried := make([]doctor.Tried, len(paths))
	for i, p := range paths {
		tried[i] = doctor.Tried{Path: string(p.Path), Offered: p.Offered, Works: p.Works, Address: valueOrEmpty(p.Address)}
	}
	var found []doctor.Finding
	for _, f := range overview.Findings {
		found = append(found, doctor.Finding{ID: f.Id, Text: f.Text})
	}
	return doctor.MediaResults(tried, found)
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
