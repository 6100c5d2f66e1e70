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
	startTime = 20 * time.Second // for a server to come up
	stopTime  = 15 * time.Second // for a server to go by itself
)

// child is a server that runs beside us.
type child struct {
	name   string
	cmd    *exec.Cmd
	log    string // file with what it wrote
	exited chan struct{}
	err    error // how it went; read it after gone
}

// start runs a server. Its output goes to a file in dir, as a supervisor would
// keep it. The signal asks it to stop when the bench is done with it.
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

// stop asks the server to go, sees that it does, and reports it when it did
// not go in good order.
func (c *child) stop(ask os.Signal) error {
	_ = c.cmd.Process.Signal(ask)
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

// quit stops a server whose end is of no interest.
func (c *child) quit() { _ = c.stop(syscall.SIGTERM) }

// await asks ready until it says yes, the server is gone or it took too long.
func (c *child) await(ctx context.Context, every time.Duration, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !ready() {
		select {
		case <-c.exited:
			return fmt.Errorf("%s did not start: %s", c.name, c.lastLogLines())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %s", c.name, ctx.Err(), c.lastLogLines())
		case <-time.After(every):
		}
	}
	return nil
}

// lastLogLines is the end of what it wrote.
func (c *child) lastLogLines() string {
	raw, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "\n")
}

// startSelf runs this program again in one of the roles. What the role announces
// on its standard output is decoded into hello.
func startSelf(dir, role, argument string, hello any) (*child, error) {
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
		err = json.NewDecoder(in).Decode(hello)
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

// cleanEnviron is our environment without anybody's settings of Parley in it.
func cleanEnviron() []string {
	var keep []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "PARLEY_") {
			keep = append(keep, e)
		}
	}
	return keep
}
