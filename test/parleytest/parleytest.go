// Package parleytest runs the parley command as a separate process of a test. The process is
// the test program itself, so that no binary has to be built first.
package parleytest

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/cli"
	"parley/internal/testkit"
)

// commandEnv makes the test program run as the parley command.
const commandEnv = "PARLEY_TEST_COMMAND"

const (
	// startTimeout is how long a server may take to start. It is long, because the start may migrate a large database.
	startTimeout = 5 * time.Minute
	// stopTimeout is how long a server may take to stop when its test ends.
	stopTimeout = testkit.Timeout
)

// Main runs the parley command in a process of Command, and the tests otherwise. It does not
// return. TestMain calls it.
func Main(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(cli.Run())
	}
	os.Exit(m.Run())
}

// Command returns the parley command with the arguments and additional environment
// variables. Linux kills the process when the test program ends.
func Command(environment []string, args ...string) *exec.Cmd {
	return command(os.Args[0], environment, args)
}

func command(binary string, environment, args []string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(append(os.Environ(), commandEnv+"=1"), environment...)
	endWithParent(cmd)
	return cmd
}

// Options configure a server.
type Options struct {
	Binary      string // program of another version; empty for this one
	DataDir     string
	UDPPort     int      // of media; 0 selects a free one
	Environment []string // additional variables, NAME=value
	Args        []string // additional flags of parley serve
}

// Command is the function Command with the program and the environment of the options.
func (o Options) Command(args ...string) *exec.Cmd {
	return command(cmp.Or(o.Binary, os.Args[0]), o.Environment, args)
}

// Server is a running parley serve.
type Server struct {
	URL string          // that the server prints: the public URL, or its address
	Log *testkit.Buffer // standard error
	Cmd *exec.Cmd       // only Wait may wait for it

	done chan struct{}
	err  error // of the process, once done is closed
}

// Start runs parley serve on a free port of 127.0.0.1 and returns when the server has printed
// its URL. The server is stopped when the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.UDPPort == 0 {
		o.UDPPort = testkit.FreeUDPPort(t)
	}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", o.DataDir,
		"--rtc-udp-port", strconv.Itoa(o.UDPPort)}, o.Args...)
	s := &Server{Log: &testkit.Buffer{}, Cmd: o.Command(args...), done: make(chan struct{})}
	s.Cmd.Stderr = s.Log
	stdout, err := s.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := make(chan string, 1)
	go func() {
		defer close(s.done)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if address, found := strings.CutPrefix(lines.Text(), "Parley runs at "); found {
				url <- address
			}
		}
		close(url)
		s.err = s.Cmd.Wait()
	}()
	t.Cleanup(func() {
		s.Signal(syscall.SIGTERM)
		select {
		case <-s.done:
		case <-time.After(stopTimeout):
			s.Kill()
			t.Errorf("the server did not stop within %s:\n%s", stopTimeout, s.Log)
		}
	})
	select {
	case s.URL = <-url:
	case <-time.After(startTimeout):
		t.Fatalf("the server did not start within %s:\n%s", startTimeout, s.Log)
	}
	if s.URL == "" {
		t.Fatalf("the server ended instead of starting:\n%s", s.Log)
	}
	return s
}

// Done is closed when the server and its child processes have ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Wait waits for the end of the server and returns an error unless its exit status is 0.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// Signal sends a signal to the server. A server that has ended ignores it.
func (s *Server) Signal(signal os.Signal) { _ = s.Cmd.Process.Signal(signal) }

// Stop stops the server with SIGTERM and returns an error unless its exit status is 0.
func (s *Server) Stop() error {
	s.Signal(syscall.SIGTERM)
	return s.Wait()
}

// Kill kills the server with SIGKILL and waits for its end.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Kill()
	<-s.done
}
