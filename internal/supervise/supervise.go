// Package supervise runs a program as a child process and restarts it after a crash. The
// supervisor keeps resources that must outlive a crash (listening sockets, a lock file) as
// open files, and every child inherits them. While no child runs, the kernel queues new
// connections, so that callers wait instead of being refused.
//
// Run is the side of the supervisor, and Inherit is the side of the child. The package does
// not depend on the purpose of the program. It imports the standard library, and go-systemd to tell
// systemd when the program is ready.
package supervise

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Options describe the program to run.
type Options struct {
	// Files are inherited by every child, in this order. The child gets each under the name in
	// Names.
	Files []*os.File
	Names []string
	// Log receives one line for each crash.
	Log *slog.Logger
	// Stopping is called once, before the child is asked to stop.
	Stopping func()
	// StopTimeout is how long a child may take to stop before it is killed.
	StopTimeout time.Duration
}

// supervisor is the state of Run. Only Run's goroutine uses it.
type supervisor struct {
	Options
	crashes  crashes
	anyReady bool // whether any child has been ready
	signals  chan os.Signal
}

// Run starts this executable with the same arguments as a child process, and starts another
// child whenever one ends unexpectedly. It returns the exit status for this process when ctx
// is done and the child has stopped, or when the first child ends before it was ready. It
// returns an error if the first child could not be started.
//
// The child writes to the same standard output and standard error.
func Run(ctx context.Context, o Options) (status int, err error) {
	// The thread is locked, because the kernel kills the child when the thread that started
	// it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &supervisor{Options: o, signals: make(chan os.Signal, 8)}
	signal.Notify(s.signals, forwardedSignals...)
	defer signal.Stop(s.signals)
	for {
		c, err := start(s.Files, s.Names, s.crashes)
		if err != nil && !s.anyReady {
			return 0, err
		}
		began, e := time.Now(), exitInfo{status: "not started: " + errorText(err)}
		if err == nil {
			e = s.watch(ctx, c)
		}
		s.anyReady = s.anyReady || e.wasReady
		if e.stopRequested || !s.anyReady {
			return e.code, nil
		}
		// A child that never became ready counts as one that did not run.
		ran := time.Duration(0)
		if e.wasReady {
			ran = time.Since(began)
		}
		delay := s.crashes.record(time.Now(), ran)
		s.logCrash(e, ran, delay)
		if !s.waitBeforeRestart(ctx, delay) {
			return 0, nil
		}
	}
}

// watch returns when a child has ended. It asks the child to stop when ctx is done.
func (s *supervisor) watch(ctx context.Context, c *child) exitInfo {
	stopRequested, stop := false, ctx.Done()
	var overdue <-chan time.Time
	serving := c.serving
	for {
		select {
		case <-serving:
			serving = nil
			notify(daemon.SdNotifyReady)
			releaseMemory()
		case <-c.exited:
			e := c.exitInfo()
			e.stopRequested = stopRequested
			if stopRequested && e.signal == syscall.SIGTERM {
				e.code = 0 // it was asked to stop before it handled the signal
			}
			return e
		case <-stop:
			stop, stopRequested = nil, true
			notifyStopping(s.StopTimeout)
			s.Stopping()
			c.signal(syscall.SIGTERM)
			overdue = time.After(s.StopTimeout)
		case <-overdue:
			s.Log.Error("service process did not stop in time, will kill it", "after", s.StopTimeout.String())
			c.signal(syscall.SIGKILL)
		case received := <-s.signals:
			stopRequested = s.forwardSignal(c, received) || stopRequested
		}
	}
}

// forwardSignal forwards a signal to the child. It reports whether the signal ends the
// child, as it would end this process.
func (s *supervisor) forwardSignal(c *child, received os.Signal) bool {
	switch received {
	case syscall.SIGTSTP:
		c.signal(syscall.SIGSTOP)
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return false
	case syscall.SIGCONT:
		c.signal(syscall.SIGCONT)
		return false
	}
	c.signal(received)
	return true
}

// forwardedSignals are the signals that are forwarded to the child. It prints its goroutines
// on SIGQUIT and SIGABRT, and is suspended and resumed together with this process.
var forwardedSignals = []os.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGTSTP, syscall.SIGCONT}

// logCrash logs an unexpected end of a child that ran for the given time.
func (s *supervisor) logCrash(e exitInfo, ran, delay time.Duration) {
	attrs := []any{"status", e.status, "ran", ran.Round(time.Millisecond).String(), "delay", delay.String(),
		"restarts", s.crashes.Restarts, "crash_loop", s.crashes.isLoop()}
	if e.cause.message != "" {
		attrs = append(attrs, "panic", e.cause.message, "function", e.cause.function)
	}
	s.Log.Error("service process ended unexpectedly, will be restarted", attrs...)
}

// waitBeforeRestart waits before a restart. It reports false when ctx ends first.
func (s *supervisor) waitBeforeRestart(ctx context.Context, delay time.Duration) bool {
	if ctx.Err() == nil && delay > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
	}
	if ctx.Err() != nil {
		s.Stopping()
		return false
	}
	return true
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
