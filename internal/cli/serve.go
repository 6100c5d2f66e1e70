package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"parley/internal/app"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/supervise"
)

type serveCommand struct {
	config.Config
	Demo bool `help:"Demo rooms, one audio and one video, whose links are printed."`
}

// Run runs the service, under a supervisor unless --no-supervise is given. A stop during the start is no error.
func (c serveCommand) Run(ctx context.Context, s *streams) error {
	err := c.run(ctx, s)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(s.err, "parley: stopped during the start")
		return nil
	}
	return err
}

func (c serveCommand) run(ctx context.Context, s *streams) error {
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
	if service == nil {
		logHangup(ctx, log)
	}
	if service.Restarts() > 0 {
		// The first start has printed everything and created the demo rooms.
		s.out, c.Demo = io.Discard, false
	} else {
		for _, name := range config.UnknownEnv(s.environ, supervise.EnvVar) {
			log.Warn("unknown environment variable", "name", name)
		}
	}
	if os.Getenv("GOGC") == "" {
		tuneGC()
	}
	filesLog := log
	if service != nil {
		filesLog = nil // the supervisor has logged it
	}
	if err := instance.MakeFilesPrivate(c.DataDir, filesLog); err != nil {
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

// logHangup logs the first SIGHUP if Run ignores it, until ctx ends. The supervisor does this for its child, because a
// service manager may signal both.
func logHangup(ctx context.Context, log *slog.Logger) {
	if !signal.Ignored(syscall.SIGHUP) {
		return
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		select {
		case <-hangups:
			log.Warn("SIGHUP ignored: certificates are reloaded by themselves, settings need a restart")
		case <-ctx.Done():
		}
	}()
}

// supervise runs the service as a child process until ctx ends.
func (c serveCommand) supervise(ctx context.Context, s *streams) error {
	lines := &logWriter{out: s.err}
	defer lines.flush()
	log := newLogger(c.Config, lines)
	if err := instance.MakeFilesPrivate(c.DataDir, log); err != nil {
		return err
	}
	logHangup(ctx, log)
	resources, err := instance.AcquireExclusive(ctx, c.Config, log)
	if err != nil {
		return err
	}
	defer resources.Release()
	files, names, err := resources.Files()
	if err != nil {
		return err
	}
	resources.CloseListeners() // files contains duplicates of them
	status, err := supervise.Run(ctx, supervise.Options{
		Files:       files,
		Names:       names,
		Log:         log,
		StopTimeout: app.StopTimeout(c.Config),
		Stopping: func() {
			resources.MarkStopping()
			// Once the child has closed its duplicates, new connections are refused, so that clients do not wait
			// for a service that is not started again.
			for _, f := range files[1:] {
				_ = f.Close()
			}
		},
	})
	if err != nil || status == exitOK {
		return err
	}
	return exitStatus(status)
}

type resealCommand struct {
	config.Config
	irreversible
	JSON bool `name:"json" help:"JSON output."`
}

// Run reseals the secrets and prints the next step.
func (c resealCommand) Run(ctx context.Context, s *streams) error {
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		where := "replace the one in " + c.KeyFile()
		if c.MasterKey != "" {
			where = "write it to a file next to " + c.KeyFile()
		}
		if _, err := c.LoadMasterKey(false); err != nil {
			return "", err
		}
		return "seal every secret with a new master key and " + where + ", so that the server needs the new key", nil
	}); !ok {
		return err
	}
	if err := instance.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return err
	}
	done, err := instance.Reseal(ctx, c.Config)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, done)
	}
	fmt.Fprintf(s.out, "Sealed %d secrets with the new master key in %s.\n", done.Secrets, done.KeyFile)
	if done.NextStep != "" {
		fmt.Fprintf(s.out, "Next step: %s.\n", done.NextStep)
	}
	return printLine(s.out, "Also: "+done.Keep+".")
}
