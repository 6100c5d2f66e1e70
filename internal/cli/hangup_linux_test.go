package cli

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"

	"parley/internal/testkit"
)

// openTerminal returns a new terminal and the other end, which closes it.
func openTerminal(t *testing.T) (terminal, other *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal("this test needs /dev/ptmx: ", err)
	}
	t.Cleanup(func() { _ = other.Close() })
	var number, unlock int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, other.Fd(), request, uintptr(unsafe.Pointer(value))); err != 0 {
			t.Fatal(err)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal, other
}

// TestRun_ClosedTerminalStopsServer tests that a server whose terminal is closed stops as with SIGTERM, so that no
// attendance stays open.
func TestRun_ClosedTerminalStopsServer(t *testing.T) {
	terminal, other := openTerminal(t)
	path, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var log testkit.Buffer
	cmd := exec.Command("env", "--default-signal=HUP", path, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0",
		"--rtc-udp-port", fmt.Sprint(testkit.FreeUDPPort(t)))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, ok := awaitServing(dir); !ok {
		t.Fatalf("the server was not healthy within %s: %s", testkit.Timeout, log.String())
	}
	_, _ = terminal.Close(), other.Close() // the kernel then sends SIGHUP to the server
	testkit.Eventually(t, "the server stops", func() bool { return len(ended) == 1 })
	if err := <-ended; err != nil || !log.HasLine("msg=stopped") {
		t.Errorf("got %v and the log %s, want that the server stopped", err, log.String())
	}
}
