package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"parley/internal/app"
	"parley/internal/config"
	"parley/internal/supervise"
)

type serveCommand struct {
	config.Config
	Demo bool `help:"Also make one audio and one video room and print their links."`
}

// Run implements the command.
func (c serveCommand) Run(ctx context.Context, s *streams) error {
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	service, err := supervise.Inherit()
	if err != nil {
		return err
	}
	if c.Supervise && service == nil {
		return c.supervise(ctx, s)
	}
	lines := &logWriter{out: s.err}
	defer lines.flush()
	log := newLogger(c.Config, lines)
	if service.Restarts() > 0 {
		// All this was said, and the rooms made, at the first start.
		s.out, c.Demo = io.Discard, false
	} else {
		for _, name := range config.UnknownEnv(s.environ, supervise.EnvVar) {
			log.Warn("this environment variable means nothing to Parley", "name", name)
		}
	}
	if os.Getenv("GOGC") == "" {
		// Requests are short-lived garbage beside a small heap: collecting
		// half as often is cheaper, and still far from what a machine has.
		debug.SetGCPercent(200)
	}
	if err := app.MakeFilesPrivate(c.DataDir, log); err != nil {
		return err
	}
	var a *app.App
	if service != nil {
		a, err = app.NewSupervised(ctx, c.Config, log, service)
	} else {
		a, err = app.New(ctx, c.Config, log)
	}
	if err != nil {
		return err
	}
	return a.Run(ctx, c.Demo, s.out)
}

// supervise runs the service as a child process until ctx ends.
func (c serveCommand) supervise(ctx context.Context, s *streams) error {
	lines := &logWriter{out: s.err}
	defer lines.flush()
	log := newLogger(c.Config, lines)
	if err := app.MakeFilesPrivate(c.DataDir, log); err != nil {
		return err
	}
	held, err := app.AcquireExclusive(ctx, c.Config)
	if err != nil {
		return err
	}
	defer held.Release()
	files, err := held.Files()
	if err != nil {
		return err
	}
	held.CloseListeners() // the copies stay
	status, err := supervise.Run(ctx, supervise.Options{Files: files, Log: log, Stopping: func() {
		held.MarkStopping()
		// Whoever connects from now on is refused, and does not wait for
		// a service that will not come.
		for _, f := range files[1:] {
			_ = f.Close()
		}
	}})
	if err != nil || status == exitOK {
		return err
	}
	return exitStatus(status)
}

type resealCommand struct {
	config.Config
	JSON bool `name:"json" help:"Print JSON."`
}

// Run implements the command.
func (c resealCommand) Run(ctx context.Context, s *streams) error {
	if err := app.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return err
	}
	done, err := app.Reseal(ctx, c.Config)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, done)
	}
	fmt.Fprintf(s.out, "%d secrets are sealed under the new master key in %s.\n", done.Secrets, done.KeyFile)
	if done.NextStep != "" {
		fmt.Fprintf(s.out, "Now %s.\n", done.NextStep)
	}
	return nil
}
