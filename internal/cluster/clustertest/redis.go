// Package clustertest starts a Redis server for a test, and checks what nodes count with it.
package clustertest

import (
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"parley/internal/testkit"
)

// Redis is a server that loses all its data when it stops. It stops with the test.
type Redis struct {
	t    testing.TB
	port int
	cmd  *exec.Cmd
}

// Password is the password of the server. Tests check that no log or error
// contains it.
const Password = "hunter2-of-redis"

// NewRedis starts a server on a free port of 127.0.0.1. It fails the test if
// redis-server is not installed.
func NewRedis(t testing.TB) *Redis {
	t.Helper()
	r := &Redis{t: t, port: testkit.FreeTCPPort(t)}
	t.Cleanup(r.Kill)
	r.Start()
	return r
}

// URL returns the URL of the server, with the password.
func (r *Redis) URL() string { return fmt.Sprintf("redis://:%s@%s/0", Password, r.address()) }

func (r *Redis) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }

// Start starts the server again after Kill, and waits until it listens.
func (r *Redis) Start() {
	r.t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		r.t.Fatal("redis-server is not installed; run `make test-setup`")
	}
	r.cmd = exec.Command(program, "--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--requirepass", Password,
		"--save", "", "--appendonly", "no", "--dir", r.t.TempDir())
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	testkit.Eventually(r.t, "Redis listens on "+r.address(), func() bool {
		conn, err := net.DialTimeout("tcp", r.address(), time.Second)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

// Kill ends the server at once. All its data is lost.
func (r *Redis) Kill() {
	if r.cmd == nil {
		return // it is not installed
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// Freeze stops the process of the server: connections stay open and no command
// is answered.
func (r *Redis) Freeze() { r.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server continue.
func (r *Redis) Thaw() { r.signal(syscall.SIGCONT) }

func (r *Redis) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}
