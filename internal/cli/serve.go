package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"parley/internal/app"
	"parley/internal/config"
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
	lines := &logWriter{to: s.err}
	defer lines.flush()
	log := newLogger(c.Config, lines)
	for _, name := range config.UnknownEnv(s.environ) {
		log.Warn("this environment variable means nothing to Parley", "name", name)
	}
	if os.Getenv("GOGC") == "" {
		// Requests are short-lived garbage beside a small heap: collecting
		// half as often is cheaper, and still far from what a machine has.
		debug.SetGCPercent(200)
	}
	a, err := app.New(ctx, c.Config, log)
	if err != nil {
		return err
	}
	return a.Run(ctx, c.Demo, s.out)
}

type resealCommand struct {
	config.Config
	JSON bool `name:"json" help:"Print JSON."`
}

// Run implements the command.
func (c resealCommand) Run(ctx context.Context, s *streams) error {
	done, err := app.Reseal(ctx, c.Config)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, done)
	}
	fmt.Fprintf(s.out, "%d secrets are sealed under the new master key in %s.\n", done.Secrets, done.KeyFile)
	if done.Switch != "" {
		fmt.Fprintf(s.out, "Now %s.\n", done.Switch)
	}
	return nil
}
