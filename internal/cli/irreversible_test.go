package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/internal/testkit"
)

func TestIrreversible_AsksOnTerminalOnly(t *testing.T) {
	t.Parallel()
	failed := errors.New("no such room")
	for name, c := range map[string]struct {
		flags    irreversible
		terminal bool
		answer   string
		asJSON   bool
		describe error
		want     bool
		err      error
		out      string
		errs     string
	}{
		"script":           {want: true},
		"terminal, yes":    {terminal: true, answer: "yes\n", want: true, errs: "This will end room R. It cannot be undone."},
		"terminal, no":     {terminal: true, answer: "no\n", err: errDeclined, errs: "Type yes to continue: "},
		"terminal, y":      {terminal: true, answer: "y\n", err: errDeclined, errs: "Type yes to continue: "},
		"terminal, EOF":    {terminal: true, err: errDeclined, errs: "Type yes to continue: "},
		"--yes":            {flags: irreversible{Yes: true}, terminal: true, want: true},
		"unknown room":     {terminal: true, answer: "yes\n", describe: failed, err: failed},
		"--dry-run":        {flags: irreversible{DryRun: true}, out: "This would end room R. Nothing was changed.\n"},
		"--dry-run --yes":  {flags: irreversible{DryRun: true, Yes: true}, out: "This would end room R."},
		"--dry-run --json": {flags: irreversible{DryRun: true}, asJSON: true, out: `"effect": "end room R"`},
	} {
		var out, errs bytes.Buffer
		s := &streams{in: strings.NewReader(c.answer), terminal: c.terminal, out: &out, err: &errs}
		got, err := c.flags.proceed(s, c.asJSON, func() (string, error) { return "end room R", c.describe })
		if got != c.want || !errors.Is(err, c.err) || !strings.Contains(out.String(), c.out) ||
			!strings.Contains(errs.String(), c.errs) || c.errs == "" && errs.Len() > 0 {
			t.Errorf("%s: got %v, %v, output %q, errors %q, want %v, %v, %q, %q", name, got, err, out.String(),
				errs.String(), c.want, c.err, c.out, c.errs)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	if isTerminal(null) {
		t.Errorf("isTerminal(%s): got true, want false", os.DevNull)
	}
}

// irreversibleCommands are the commands whose effect cannot be undone, at least with some of their flags, each with
// arguments for which it cannot. Those without arguments need no server.
var irreversibleCommands = map[string][]string{
	"key revoke-overlap":            {noID},
	"key rotate":                    {noID, "--overlap", "0s", "--force"},
	"org delete":                    {noID},
	"org suspend":                   {noID, "--end-rooms"},
	"person erase":                  {noID, "--user-id", "ada"},
	"project delete":                {noID},
	"project logo":                  {noID, "--remove"},
	"project revoke-secret-overlap": {noID},
	"project rotate-secret":         {noID, "--overlap", "0s", "--force"},
	"project set":                   {noID, "retention.rooms_days=1"},
	"project suspend":               {noID, "--end-rooms"},
	"reseal":                        nil,
	"room end":                      {noID},
	"room remove":                   {noID, "Ada"},
	"session revoke":                {noID},
	"token revoke":                  {noID},
	"usage rebuild":                 {},
	"user delete":                   {noID},
	"webhook replay":                {"--room", noID},
}

// noID is an ID, so that no command looks for a name. The commands about rooms look for a room with this ID.
const noID = "01890000-0000-7000-8000-000000000000"

// finalVerbs are words of commands that cannot be undone.
var finalVerbs = regexp.MustCompile(`\b(delete|remove|erase|revoke|end|suspend|rotate|rebuild|reseal|replay)\b`)

// Every command that cannot be undone has --dry-run and --yes, and no other command.
func TestIrreversible_CommandsHaveTheFlags(t *testing.T) {
	t.Parallel()
	eachCommand(t, irreversibleCommands, func(name, _ string, flags map[string]bool, listed bool) {
		if flags["dry-run"] != listed || flags["yes"] != listed {
			t.Errorf("%s: got the flags %v, want --dry-run and --yes: %t", name, flags, listed)
		}
		if finalVerbs.MatchString(name) && !listed {
			t.Errorf("%s is not among the commands that cannot be undone, want it there", name)
		}
	})
}

// A dry run only reads.
func TestIrreversible_DryRunSendsNoChange(t *testing.T) {
	t.Parallel()
	for name, args := range irreversibleCommands {
		if args == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// The ID of a person may not be in a URL, so what is stored about a person is read with POST.
				reads := r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/person-export")
				if !reads {
					t.Errorf("got %s %s, want only requests that read", r.Method, r.URL.Path)
				}
				_, _ = w.Write([]byte(`{"people":[{"name":"Ada","seat_id":"s"}],"suspended":true,
					"keys":[{"overlap_ends_at":"2999-01-01T00:00:00Z"}],"secret_overlap_ends_at":"2999-01-01T00:00:00Z",
					"tokens":[{"token_id":"` + noID + `"}],"sessions":[{"session_id":"` + noID + `"}],
					"users":[{"user_id":"` + noID + `"}]}`))
			}))
			defer server.Close()
			args := slices.Concat(strings.Fields(name), args, []string{"--dry-run", "--url", server.URL, "--token", "pt_test"})
			var out, errs bytes.Buffer
			status := Main(t.Context(), args, nil, &out, &errs)
			if status != exitOK || !strings.HasPrefix(out.String(), "This would ") ||
				!strings.HasSuffix(out.String(), ". Nothing was changed.\n") {
				t.Errorf("%v: got status %d, %q, %q, want what it would do", args, status, out.String(), errs.String())
			}
		})
	}
}

// TestIrreversible_InterruptDeclines tests the first Ctrl-C at the question, which ends the context of the command.
func TestIrreversible_InterruptDeclines(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	terminal, keyboard := io.Pipe() // nobody types
	defer func() { _ = keyboard.Close() }()
	var out, errs testkit.Buffer
	s := &streams{in: interruptibleReader{ctx, terminal}, terminal: true, out: &out, err: &errs}
	declined := make(chan error, 1)
	go func() {
		_, err := irreversible{}.proceed(s, false, func() (string, error) { return "end room R", nil })
		declined <- err
	}()
	testkit.Eventually(t, "the question is printed", func() bool { return strings.Contains(errs.String(), "Type yes") })
	interrupt()
	testkit.Eventually(t, "the command ends", func() bool { return len(declined) == 1 })
	if err := <-declined; !errors.Is(err, errDeclined) || !strings.HasSuffix(errs.String(), ": \n") {
		t.Errorf("after an interrupt: got %v and the errors %q, want %v and the question with a line end", err, errs.String(),
			errDeclined)
	}
}

func TestPrintCSV_Fields(t *testing.T) {
	t.Parallel()
	type item struct {
		Name   string   `json:"name"`
		Count  int      `json:"count"`
		At     *string  `json:"left_at"`
		Data   any      `json:"data,omitempty"`
		Hidden string   `json:"-"`
		IDs    []string `json:"ids"`
	}
	at := "2026-11-24T10:05:00Z"
	var out bytes.Buffer
	err := printCSV(&out, []item{
		{Name: `=HYPERLINK("x")`, Count: -1, At: &at, Data: map[string]int{"a": 1}, IDs: []string{"x", "y"}},
		{Name: "Zo\u00eb, host", Hidden: "hidden"},
	})
	const want = "name,count,left_at,data,ids\n" +
		`"'=HYPERLINK(""x"")",-1,2026-11-24T10:05:00Z,"{""a"":1}","[""x"",""y""]"` + "\n" +
		"\"Zo\u00eb, host\",0,,,\n"
	if out.String() != want || err != nil {
		t.Errorf("got %s, %v, want %s", out.String(), err, want)
	}
}
