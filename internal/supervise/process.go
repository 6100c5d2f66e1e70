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

// EnvVar is the environment variable that makes a process a child. Its value is a
// childConfig in JSON.
const EnvVar = "PARLEY_SUPERVISED"

// These are the descriptors of a child: the pipe for its reports, the pipe that is closed
// when the supervisor ends, and then the files of Options.
const (
	reportsFD = 3 + iota
	lifeFD
	filesFD
)

const (
	// readyLine is a child's report that it is ready. After it, the pipe contains only the
	// Go runtime's output at a crash.
	readyLine = "ready\n"
	// maxCrashOutput is the maximum length of the crash output that is kept, in bytes.
	maxCrashOutput = 16 << 10
	// crashOutputTimeout is how long the supervisor waits for the crash output after the
	// end of the child.
	crashOutputTimeout = 100 * time.Millisecond
)

// childConfig is the configuration of a child, in EnvVar.
type childConfig struct {
	Names []string `json:"names"` // of the inherited files of Options
	crashes
}

// child is a running child process.
type child struct {
	cmd    *exec.Cmd
	life   *os.File      // never written; the child notices when it is closed
	exited chan struct{} // closed when the process has ended

	serving     chan struct{}   // closed when the child has reported that it is ready
	ready       atomic.Bool     // set when serving is closed
	reportsRead chan struct{}   // closed when all reports have been read
	output      strings.Builder // crash output; complete when reportsRead is closed
}

// exitInfo describes the end of a child.
type exitInfo struct {
	wasReady      bool // the child had reported that it was ready
	stopRequested bool // the child had been asked to stop
	code          int
	signal        syscall.Signal // that killed the child, or 0
	status        string
	cause         crashCause
}

// start starts a child.
func start(files []*os.File, names []string, history crashes) (*child, error) {
	config, err := json.Marshal(childConfig{Names: names, crashes: history})
	if err != nil {
		return nil, err
	}
	path, err := executable()
	if err != nil {
		return nil, fmt.Errorf("find the executable of this program: %w", err)
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
	cmd.Env = append(os.Environ(), EnvVar+"="+string(config))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = append([]*os.File{reportsIn, lifeOut}, files...)
	// The terminal sends Ctrl-C to its foreground process group. The child has its own
	// group, so that it only gets the signals that the supervisor forwards.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		_, _ = reports.Close(), life.Close()
		return nil, fmt.Errorf("start the service process: %w", err)
	}
	c := &child{
		cmd:         cmd,
		life:        life,
		exited:      make(chan struct{}),
		serving:     make(chan struct{}),
		reportsRead: make(chan struct{}),
	}
	go c.readReports(reports)
	go func() {
		_ = cmd.Wait() // exitInfo reads the state of the process
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
	_, _ = io.Copy(io.Discard, r) // the crashing child must not block on a full pipe
}

// signal sends a signal to the child unless it has ended.
func (c *child) signal(s os.Signal) { _ = c.cmd.Process.Signal(s) }

// exitInfo returns how the child ended. Call it after the child has exited.
func (c *child) exitInfo() exitInfo {
	_ = c.life.Close()
	state := c.cmd.ProcessState
	e := exitInfo{code: state.ExitCode(), status: state.String()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
		e.code = 128 + int(e.signal) // the convention of shells
	}
	select {
	case <-c.reportsRead:
		e.cause = parseCrashOutput(c.output.String())
	case <-time.After(crashOutputTimeout):
		// A process that the child has started still holds the pipe open.
	}
	e.wasReady = c.ready.Load()
	return e
}
