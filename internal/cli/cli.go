// Package cli is the command line: it parses arguments, calls app or a running
// server, and prints. It decides nothing.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

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
	Serve   serveCommand    `cmd:"" help:"Run the service."`
	Org     orgCommands     `cmd:"" help:"Organizations: create, list, set."`
	Project projectCommands `cmd:"" help:"Projects: create, list, show, set, suspend, resume, rotate their secret."`
	Key     keyCommands     `cmd:"" help:"API keys: list, rotate, revoke the overlap."`
	Room    roomCommands    `cmd:"" help:"Rooms: list, show, end."`
	Token   tokenCommands   `cmd:"" help:"Management tokens: create, list, revoke."`
	Webhook webhookCommands `cmd:"" help:"Webhooks: list, show, replay, test; targets, resume; listen."`
	Request requestCommand  `cmd:"" help:"Sign a request and send it."`
	Sign    signCommand     `cmd:"" help:"Show what is signed for a request, and its signature."`
	Verify  verifyCommand   `cmd:"" help:"Check a signature, and show what went wrong."`
	Reseal  resealCommand   `cmd:"" help:"Put every secret under a new master key; the server must be stopped."`
	Version versionCommand  `cmd:"" help:"Print the version."`
}

// streams are where a command reads and writes.
type streams struct {
	out, err io.Writer
	environ  []string
}

// Run runs the command this process was started for and returns its exit
// status. The first SIGINT or SIGTERM asks for an orderly stop; the next one
// gets its way.
func Run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !supervise.Supervised() {
		context.AfterFunc(ctx, stop)
	} // else the supervisor decides, also where a service manager signals both
	return Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
}

// Main runs one command and returns the exit status: 0 done, 1 failed, 2 wrong
// usage. What was asked for goes to out, everything else to errs.
func Main(ctx context.Context, args, environ []string, out, errs io.Writer) int {
	var c commands
	status := -1
	// kong parses flags because commands are plain structs in it and flags,
	// environment and file share one declaration.
	options := append(config.Options(environ),
		kong.Name("parley"),
		kong.Description("Rooms for video and audio, on your own machine."),
		kong.Writers(out, errs),
		kong.Exit(func(code int) { status = code }),
		kong.Bind(&streams{out: out, err: errs, environ: environ}),
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
	if status >= 0 { // --help was asked for and printed
		return status
	}
	if err != nil {
		fmt.Fprintln(errs, "parley:", err)
		return exitUsage
	}
	if err := parsed.Run(); err != nil {
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

// printResult prints what a call to the server came to, or passes its error on.
func (s *streams) printResult(v any, err error) error {
	if err != nil {
		return err
	}
	return printJSON(s.out, v)
}

// exitStatus is that of a child process, which has said why.
type exitStatus int

// Error implements error.
func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a call that makes no sense, whatever the server says.
type usageError struct{ error }

// printJSON prints one JSON value.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run implements the command.
func (c versionCommand) Run(s *streams) error {
	v := struct {
		Version  string `json:"version"`
		Revision string `json:"revision,omitempty"`
		Go       string `json:"go"`
	}{Version: "devel"}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Go = info.GoVersion
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				v.Revision = setting.Value
			}
		}
	}
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
