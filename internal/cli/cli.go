// Package cli is the command line: it parses arguments, calls app or the
// management API of a running server, and prints the result.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"parley/internal/app"
	"parley/internal/config"
	"parley/internal/supervise"
)

// Exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

type commands struct {
	Serve         serveCommand         `cmd:"" help:"Run the service."`
	Doctor        doctorCommand        `cmd:"" help:"Check this machine and the settings, and say what to change."`
	Status        statusCommand        `cmd:"" help:"Show what is live, what fails and what to do about it."`
	Node          nodeCommands         `cmd:"" help:"List the nodes."`
	Drain         drainCommand         `cmd:"" help:"Hand the meetings of a node over to other nodes, before it is stopped or upgraded."`
	Settings      settingsCommand      `cmd:"" help:"Show the settings of a running server, and where each comes from."`
	Org           orgCommands          `cmd:"" help:"Manage organizations."`
	Project       projectCommands      `cmd:"" help:"Manage projects and their secrets."`
	Key           keyCommands          `cmd:"" help:"Manage API keys."`
	Room          roomCommands         `cmd:"" help:"List, search, show and end rooms, and remove participants."`
	Usage         usageCommands        `cmd:"" help:"Show or rebuild what organizations and projects have used."`
	Person        personCommands       `cmd:"" help:"Export or erase what is stored about a person."`
	Token         tokenCommands        `cmd:"" help:"Manage management tokens."`
	Console       consoleCommand       `cmd:"" help:"Print a link that signs in to the console."`
	Portal        portalCommand        `cmd:"" help:"Print a link with which a customer sees their own projects in the console."`
	User          userCommands         `cmd:"" help:"Manage users of the console."`
	Session       sessionCommands      `cmd:"" help:"List and end sessions of the console."`
	Calls         callsCommand         `cmd:"" help:"Show the API calls of a project, and why some were rejected."`
	RejectedCalls rejectedCallsCommand `cmd:"" help:"Show rejected calls that named no project, by address."`
	Audit         auditCommands        `cmd:"" help:"List and verify the record of changes by operators."`
	Webhook       webhookCommands      `cmd:"" help:"Manage webhook deliveries and test a receiver."`
	Request       requestCommand       `cmd:"" help:"Sign a request and send it."`
	Sign          signCommand          `cmd:"" help:"Show the signed text and the signature of a request."`
	Verify        verifyCommand        `cmd:"" help:"Check a signature and explain why it is wrong."`
	Backup        backupCommands       `cmd:"" help:"Make and check backups."`
	Restore       restoreCommand       `cmd:"" help:"Restore a backup into an empty data directory or database."`
	Copy          copyCommand          `cmd:"" help:"Copy the database to PostgreSQL while the server is stopped."`
	Reseal        resealCommand        `cmd:"" help:"Seal every secret with a new master key while the server is stopped."`
	Completion    completionCommand    `cmd:"" help:"Print a script that completes commands in a shell."`
	CompleteWords completeWordsCommand `cmd:"" hidden:"" help:"Print the words that complete a command line."`
	Man           manCommand           `cmd:"" help:"Print the manual page."`
	Version       versionCommand       `cmd:"" help:"Print the version."`
}

// streams are the input, the outputs and the environment of a command.
type streams struct {
	in       io.Reader
	terminal bool // in is a terminal
	out, err io.Writer
	environ  []string
}

// Run runs the command of this process and returns its exit status. The first
// SIGINT, SIGTERM or SIGHUP stops the command gracefully, the next one kills it. SIGHUP is
// ignored if the parent ignores it, as nohup does, and by a server without a terminal.
func Run() int {
	unsetEmptyVariables()
	stopSignals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	isServer := len(os.Args) > 1 && os.Args[1] == "serve"
	switch {
	case supervise.Supervised(): // the supervisor decides
		signal.Ignore(syscall.SIGHUP)
	case isServer && !isTerminal(os.Stdin) && !isTerminal(os.Stderr):
		// Without a terminal, SIGHUP is a request to reload, as with many daemons. systemd would take a stop as intended,
		// and not start the server again.
		signal.Ignore(syscall.SIGHUP)
	case !signal.Ignored(syscall.SIGHUP):
		stopSignals = append(stopSignals, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	// A supervised process keeps ignoring further signals, because a service manager
	// may signal both processes and the supervisor decides when to kill the child.
	if !supervise.Supervised() {
		context.AfterFunc(ctx, stop)
	}
	return Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}

// unsetEmptyVariables unsets the variables of Parley that are set but empty, as an EnvironmentFile with all names often
// has them. They count as unset for the settings, and kong would take them for values of other flags.
func unsetEmptyVariables() {
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); value == "" && strings.HasPrefix(name, "PARLEY_") {
			_ = os.Unsetenv(name) // it cannot fail for a name that is set
		}
	}
}

// Main runs one command and returns the exit status: 0 for success, 1 for failure,
// 2 for wrong usage. Results go to out, errors and notes to errs.
func Main(ctx context.Context, args, environ []string, out, errs io.Writer) int {
	var c commands
	status := -1
	// kong is used because its commands are plain structs, so that flags, environment
	// and file share one declaration.
	options := append(config.Options(environ),
		kong.Name("parley"),
		kong.Description("Video and audio conferences on your own server."),
		kong.Writers(out, errs),
		kong.Exit(func(code int) { status = code }),
		kong.Bind(&streams{
			in:       interruptibleReader{ctx, os.Stdin},
			terminal: isTerminal(os.Stdin),
			out:      out,
			err:      errs,
			environ:  environ,
		}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	parser, err := kong.New(&c, options...)
	if err != nil {
		fmt.Fprintln(errs, "parley:", err)
		return exitError
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if status >= 0 { // --help has been printed
		return status
	}
	if err != nil {
		fmt.Fprintln(errs, "parley:", parseErrorText.Replace(err.Error()))
		return exitUsage
	}
	err = refuseEmptyValues(parsed)
	if err == nil {
		err = refuseIneffectiveFlags(parsed)
	}
	if err == nil {
		err = resolveNames(ctx, parsed.Selected().Target)
	}
	if err == nil {
		err = parsed.Run()
	}
	if err != nil {
		var exit exitStatus
		if errors.As(err, &exit) {
			return int(exit)
		}
		fmt.Fprintln(errs, "parley:", err)
		var usage usageError
		if errors.As(err, &usage) {
			return exitUsage
		}
		return exitError
	}
	return exitOK
}

// parseErrorText replaces what kong says by what a reader understands: the empty value of a flag with a list of values
// is the default, and not one to choose.
var parseErrorText = strings.NewReplacer(`must be one of "",`, "must be one of ",
	"expected value value", "expected a value")

// printResult prints the result of a call to the server as JSON, or returns its
// error.
func (s *streams) printResult(v any, err error) error {
	if err != nil {
		return err
	}
	return printJSON(s.out, v)
}

// exitStatus is the exit status of a child process, which has printed its error.
type exitStatus int

// Error returns the status as text.
func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is an error of the command line, with exit status 2.
type usageError struct{ error }

// printJSON prints one JSON value.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

type versionCommand struct {
	JSON bool `name:"json" help:"JSON output."`
}

// Run prints the version.
func (c versionCommand) Run(s *streams) error {
	v := app.Build()
	if c.JSON {
		return printJSON(s.out, v)
	}
	_, err := fmt.Fprintf(s.out, "parley %s %s %s\n", v.Version, v.Revision, v.Go)
	return err
}

func readBody(arg string) ([]byte, error) {
	if len(arg) > 0 && arg[0] == '@' {
		return os.ReadFile(arg[1:])
	}
	return []byte(arg), nil
}
