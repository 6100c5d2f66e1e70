package supervise

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/testkit"
)

// The supervisor and its child are this test program. The variable roleVariable selects the
// behavior of the child, and each child appends a line to the file in fileVariable.
const (
	roleVariable = "PARLEY_SUPERVISE_TEST_ROLE"
	fileVariable = "PARLEY_SUPERVISE_TEST_FILE"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if Supervised() {
		runChild(role)
	}
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	file, err := os.OpenFile(os.Getenv(fileVariable), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	status, err := Run(ctx, Options{
		Files:    []*os.File{file},
		Names:    []string{"output"},
		Stopping: func() { fmt.Println("stopping") },
		Log:      slog.New(slog.NewTextHandler(os.Stderr, nil)),

		StopTimeout: testkit.Timeout,
	})
	if err != nil {
		fmt.Println(err)
	}
	os.Exit(status)
}

func runChild(role string) {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	s, err := Inherit()
	if err != nil {
		panic(err)
	}
	if role == "fail" {
		os.Exit(2)
	}
	s.Ready()
	fmt.Fprintln(s.Files[0], os.Getpid(), s.Restarts())
	switch {
	case role == "run then panic" && s.Restarts() == 0:
		var nothing []int
		_ = nothing[len(s.Files)]
	case role == "run then exit" && s.Restarts() == 0, role == "run then exit forever":
		os.Exit(0)
	}
	<-ctx.Done()
	s.Stopping(testkit.Timeout)
	os.Exit(0)
}

// supervisorProcess is a supervisor in a separate process.
type supervisorProcess struct {
	t        *testing.T
	cmd      *exec.Cmd
	children string // path of the file with a line for each child
	out      *testkit.Buffer
}

func startSupervisor(t *testing.T, role string) *supervisorProcess {
	t.Helper()
	r := &supervisorProcess{t: t, children: t.TempDir() + "/children", out: &testkit.Buffer{}}
	if err := os.WriteFile(r.children, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command(os.Args[0])
	r.cmd.Env = append(os.Environ(), roleVariable+"="+role, fileVariable+"="+r.children)
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
	return r
}

// child waits for the n-th child, from 1, and returns its process id.
func (r *supervisorProcess) child(n int) (pid int) {
	r.t.Helper()
	testkit.Eventually(r.t, fmt.Sprintf("child %d is ready", n), func() bool {
		raw, err := os.ReadFile(r.children)
		if err != nil {
			r.t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		if len(lines) < n || lines[n-1] == "" {
			return false
		}
		restarts := -1
		if _, err := fmt.Sscan(lines[n-1], &pid, &restarts); err != nil || restarts != n-1 {
			r.t.Fatalf("child %d wrote %q, want a process id and %d restarts", n, lines[n-1], n-1)
		}
		return true
	})
	return pid
}

// wait waits for the supervisor and returns its exit status.
func (r *supervisorProcess) wait() int {
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

func (r *supervisorProcess) stop() int {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	return r.wait()
}

func TestRun_RestartsAfterCrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role string
		kill syscall.Signal
		want []string
	}{
		"killed": {"run", syscall.SIGKILL, []string{`status="signal: killed"`}},
		"panic": {"run then panic", 0, []string{`status="exit status 2"`, `panic="runtime error: index out of range [1] with length 0"`,
			"function=parley/internal/supervise.runChild", "goroutine 1 ["}},
		"exit":          {"run then exit", 0, []string{`status="exit status 0"`}},
		"other SIGTERM": {"run", syscall.SIGTERM, []string{`status="exit status 0"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startSupervisor(t, c.role)
			first := r.child(1)
			if c.kill != 0 {
				_ = syscall.Kill(first, c.kill)
			}
			r.child(2)
			if status := r.stop(); status != 0 {
				t.Errorf("exit status %d, want 0", status)
			}
			for _, want := range append(c.want, "restarts=1", "crash_loop=false", "delay=0s", "stopping\n") {
				if !strings.Contains(r.out.String(), want) {
					t.Errorf("no %q in:\n%s", want, r.out)
				}
			}
		})
	}
}

func TestRun_CrashLoopBackoff(t *testing.T) {
	t.Parallel()
	began := time.Now()
	r := startSupervisor(t, "run then exit forever")
	r.child(4)
	if took, least := time.Since(began), 3*firstDelay; took < least {
		t.Errorf("three restarts took %s, want at least %s", took, least)
	}
	if status := r.stop(); status != 0 { // most likely during a delay
		t.Errorf("exit status %d, want 0", status)
	}
	if !strings.Contains(r.out.String(), "crash_loop=true") {
		t.Errorf("no crash loop in:\n%s", r.out)
	}
}

func TestRun_EndsWithChildThatNeverServed(t *testing.T) {
	t.Parallel()
	r := startSupervisor(t, "fail")
	if status := r.wait(); status != 2 || r.out.String() != "" {
		t.Errorf("exit status %d, output %q, want 2 and no output", status, r.out)
	}
}

func TestRun_ForwardsSignals(t *testing.T) {
	t.Parallel()
	r := startSupervisor(t, "run")
	r.child(1)
	_ = r.cmd.Process.Signal(syscall.SIGQUIT)
	if status := r.wait(); status != 2 || !strings.Contains(r.out.String(), "supervise.runChild") {
		t.Errorf("exit status %d, want 2 and the child's goroutines:\n%s", status, r.out)
	}
}

func TestRun_ChildEndsWithSupervisor(t *testing.T) {
	t.Parallel()
	r := startSupervisor(t, "run")
	pid := r.child(1)
	_ = r.cmd.Process.Kill()
	r.wait() // returns after the child has closed its standard output too
	testkit.Eventually(t, "the child ends", func() bool { return !running(pid) })
}

// A child also ends when its pipe from the supervisor is closed, which other systems than
// Linux depend on.
func TestInherit_EndsWithSupervisor(t *testing.T) {
	t.Parallel()
	reports, reportsIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	lifeOut, life, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=run", EnvVar+`={"names":["output"]}`)
	cmd.ExtraFiles = []*os.File{reportsIn, lifeOut, file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = reportsIn.Close(), lifeOut.Close()
	line := make([]byte, len(readyLine))
	if _, err := io.ReadFull(reports, line); err != nil || string(line) != readyLine {
		t.Fatalf("read the report: got %q, %v, want %q", line, err, readyLine)
	}
	_ = life.Close()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v, want exit status 1", err)
	}
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(raw), ") Z ")
}

// systemd learns once when the service is ready, when it stops, and how long that may take, also without a supervisor.
func TestRun_NotifiesSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	expect := func(want string) {
		t.Helper()
		text := make([]byte, 100)
		if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(text)
		if got := string(text[:n]); err != nil || got != want {
			t.Fatalf("got the message %q, %v, want %q", got, err, want)
		}
	}
	r := startSupervisor(t, "run")
	expect("READY=1")
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	expect(fmt.Sprintf("STOPPING=1\nEXTEND_TIMEOUT_USEC=%d", (testkit.Timeout + killMargin).Microseconds()))
	r.wait()

	var alone *Service
	alone.Ready()
	expect("READY=1")
	alone.Stopping(time.Minute)
	expect("STOPPING=1\nEXTEND_TIMEOUT_USEC=65000000")
}
