package testkit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// childEnv is the environment variable with the configuration of a child process.
const childEnv = "PARLEY_TEST_CHILD"

// Main runs the function in a process of StartChild, and the tests otherwise. It does not
// return. TestMain calls it.
func Main[T any](m *testing.M, child func(config T) error) {
	RunChild(child)
	os.Exit(m.Run())
}

// RunChild runs the function in a process of StartChild and does not return then. It is for a TestMain that Main
// cannot replace.
func RunChild[T any](child func(config T) error) {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var config T
	err := json.Unmarshal([]byte(text), &config)
	if err == nil {
		err = child(config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// AwaitParent returns when the test that started this child process has ended.
func AwaitParent() { _, _ = io.Copy(io.Discard, os.Stdin) }

// StartChild starts the test program as a child process that runs the function of Main or RunChild with
// the configuration, which is passed as JSON. It writes the standard error of the child to
// log, and returns its standard output and a function that kills it. The child must end
// without an error when AwaitParent returns, unless it was killed.
func StartChild(t testing.TB, config any, log io.Writer) (stdout io.Reader, kill func()) {
	t.Helper()
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	t.Cleanup(func() {
		_ = stdin.Close()
		if killed {
			return
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the child process ended with an error: %v\n%s", err, log)
		}
	})
	return stdout, func() {
		killed = true
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
