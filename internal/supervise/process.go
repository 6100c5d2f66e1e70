package supervise

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// EnvVar is the environment variable that makes a process a child. Its value
// is a message.
const EnvVar = "PARLEY_SUPERVISED"

// Files of a child from descriptor 3 on: the reports it writes, the pipe whose
// end tells it that the supervisor is gone, and then those of Options.
const (
	reportsFD = 3 + iota
	lifeFD
	filesFD
)

const (
	// readyLine is a child's report that it serves. All that it writes after
	// that is what the Go runtime prints at a crash.
	readyLine = "ready\n"
	// maxCrashOutput is how much of that is kept, in bytes.
	maxCrashOutput = 16 << 10
	// crashOutputTimeout is how long the supervisor waits for it after the end.
	crashOutputTimeout = 100 * time.Millisecond
)

// childConfig is what a child is told.
type childConfig struct {
	Files int `json:"files"` // how many of Options it inherits
	crashes
}

// child is a running child process.
type child struct {
	cmd    *exec.Cmd
	life   *os.File      // never written; its end tells the child that we are gone
	exited chan struct{} // closed when the process has ended

	serving     chan struct{}   // closed when it has reported that it is ready
	ready       atomic.Bool     // the same
	reportsRead chan struct{}   // closed when all its reports have been read
	output      strings.Builder // of a crash; complete when read is closed
}

// exitInfo is how a child ended.
type exitInfo struct {
	wasReady      bool // it had reported that it was ready
	stopRequested bool // it had been asked to end
	code          int
	signal        syscall.Signal // which killed it, or 0
	status        string
	cause         crashCause
}

// start starts a child.
func start(files []*os.File, so crashes) (*child, error) {
	told, err := json.Marshal(childConfig{Files: len(files), crashes: so})
	if err != nil {
		return nil, err
	}
	path, err := executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	reports, reportsIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the service process: %w", err)
	}
	defer func() { _ = reportsIn.Close() }()
	lifeOut, life, err := os.Pipe()
	if err != nil {
		_ = reports.Close()
		return nil, fmt.Errorf("start the service process: %w", err)
	}
	defer func() { _ = lifeOut.Close() }()
	cmd := exec.Command(path, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), EnvVar+"="+string(told))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = append([]*os.File{reportsIn, lifeOut}, files...)
	// The terminal sends Ctrl-C to its foreground process group. The child gets
	// it from us alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		_, _ = reports.Close(), life.Close()
		return nil, fmt.Errorf("start the service process: %w", err)
	}
	c := &child{cmd: cmd, life: life, exited: make(chan struct{}), serving: make(chan struct{}), reportsRead: make(chan struct{})}
	go c.readReports(reports)
	go func() {
		_ = cmd.Wait() // exit reads how it ended
		close(c.exited)
	}()
	return c, nil
}

// readReports reads until every copy of the pipe's other end is closed.
func (c *child) readReports(from *os.File) {
	defer close(c.reportsRead)
	defer func() { _ = from.Close() }()
	r := bufio.NewReaderSize(from, len(readyLine))
	first, _ := r.Peek(len(readyLine))
	if string(first) == readyLine {
		c.ready.Store(true)
		close(c.serving)
		_, _ = r.Discard(len(readyLine))
	}
	_, _ = io.CopyN(&c.output, r, maxCrashOutput)
	_, _ = io.Copy(io.Discard, r) // a crash must not wait for us
}

// signal sends a signal; to a child that has ended, nothing.
func (c *child) signal(s os.Signal) { _ = c.cmd.Process.Signal(s) }

// exitInfo says how the child ended. Call it when it is gone.
func (c *child) exitInfo() exitInfo {
	_ = c.life.Close()
	state := c.cmd.ProcessState
	e := exitInfo{code: state.ExitCode(), status: state.String()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
		e.code = 128 + int(e.signal) // as shells say it
	}
	select {
	case <-c.reportsRead:
		e.cause = parseCrashOutput(c.output.String())
	case <-time.After(crashOutputTimeout):
		// A process that the child has started holds the pipe open.
	}
	e.wasReady = c.ready.Load()
	return e
}
