package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	startTime = 3 * time.Minute  // timeout of a server's start, which may upgrade its database
	stopTime  = 15 * time.Second // timeout of a server's stop
)

// child is a server that runs as a child process.
type child struct {
	name   string
	cmd    *exec.Cmd
	log    string // path of its output
	exited chan struct{}
	err    error // of the process; valid after exited is closed
}

// start runs a server. Its output is written to a file in dir.
func start(dir, name string, cmd *exec.Cmd) (*child, error) {
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stderr = log
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c := &child{name: name, cmd: cmd, log: log.Name(), exited: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop sends the signal to the server and waits for its end. It returns an error if the
// server does not stop in time or exits with an error.
func (c *child) stop(sig os.Signal) error {
	_ = c.cmd.Process.Signal(sig)
	select {
	case <-c.exited:
	case <-time.After(stopTime):
		_ = c.cmd.Process.Kill()
		<-c.exited
		return fmt.Errorf("%s did not stop within %s", c.name, stopTime)
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w: %s", c.name, c.err, c.lastLogLines())
	}
	return nil
}

// quit stops a server and ignores errors.
func (c *child) quit() { _ = c.stop(syscall.SIGTERM) }

// await calls ready in intervals until it reports true. It returns an error if the server has
// exited or is not ready in time.
func (c *child) await(ctx context.Context, interval time.Duration, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !ready() {
		select {
		case <-c.exited:
			return fmt.Errorf("%s did not start: %s", c.name, c.lastLogLines())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %s", c.name, ctx.Err(), c.lastLogLines())
		case <-time.After(interval):
		}
	}
	return nil
}

// lastLogLines returns the last three lines of the server's output.
func (c *child) lastLogLines() string {
	raw, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "\n")
}

// startSelf runs this program in one of the roles. The JSON that the role prints on its
// standard output is decoded into info.
func startSelf(dir, role, argument string, info any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(cleanEnviron(), roleVariable+"="+role, argumentVariable+"="+argument)
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = out
	c, err := start(dir, role, cmd)
	_ = out.Close()
	defer func() { _ = in.Close() }()
	if err != nil {
		return nil, err
	}
	if err = in.SetReadDeadline(time.Now().Add(startTime)); err == nil {
		err = json.NewDecoder(in).Decode(info)
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			<-c.exited
		}
		c.quit()
		return nil, fmt.Errorf("%s did not start: %w: %s", role, err, c.lastLogLines())
	}
	return c, nil
}

// cleanEnviron returns the environment without settings of Parley.
func cleanEnviron() []string {
	var environ []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "PARLEY_") {
			environ = append(environ, e)
		}
	}
	return environ
}
