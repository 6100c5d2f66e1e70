package supervise

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Service is a child's connection to its supervisor. A process without a supervisor has a
// nil Service, and all methods accept it.
type Service struct {
	// Files are the inherited files of Options, in the same order, with their names.
	Files   []*os.File
	crashes crashes
	reports *os.File
	ready   sync.Once
}

// Supervised reports whether a supervisor has started this process.
func Supervised() bool { return os.Getenv(EnvVar) != "" }

// Inherit returns the connection to the supervisor, or nil if there is no supervisor. Call
// it once. From then on this process ends when its supervisor ends, and the supervisor gets
// a copy of the Go runtime's output at a crash.
func Inherit() (*Service, error) {
	if !Supervised() {
		return nil, nil
	}
	var config childConfig
	err := json.Unmarshal([]byte(os.Getenv(EnvVar)), &config)
	if err != nil {
		return nil, fmt.Errorf("%s is reserved for processes that Parley starts: unset it", EnvVar)
	}
	_ = os.Unsetenv(EnvVar)
	s := &Service{crashes: config.crashes, reports: inherited(reportsFD, "reports")}
	life := inherited(lifeFD, "life")
	for i, name := range config.Names {
		s.Files = append(s.Files, inherited(filesFD+i, name))
	}
	if err := debug.SetCrashOutput(s.reports, debug.CrashOptions{}); err != nil {
		return nil, fmt.Errorf("report crashes to the supervisor: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, life)
		// On Linux the kernel has already killed this process.
		os.Exit(1)
	}()
	return s, nil
}

// inherited returns the file of an inherited descriptor. Processes that this process starts
// do not inherit it.
func inherited(fd int, name string) *os.File {
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// Ready tells the supervisor that this process is ready to serve. From then on the
// supervisor restarts it when it ends unexpectedly. Without a supervisor it tells systemd.
func (s *Service) Ready() {
	if s == nil {
		notify(daemon.SdNotifyReady)
		return
	}
	s.ready.Do(func() {
		_, _ = s.reports.WriteString(readyLine) // if the supervisor has ended, this process ends too
		_ = s.reports.Close()                   // the Go runtime has a copy
	})
}

// Stopping tells systemd that this process begins to stop, and how long that may take. It does nothing with a
// supervisor, which tells systemd itself.
func (s *Service) Stopping(timeout time.Duration) {
	if s == nil {
		notifyStopping(timeout)
	}
}

// Restarts returns the number of restarts so far.
func (s *Service) Restarts() int {
	if s == nil {
		return 0
	}
	return s.crashes.Restarts
}

// CrashedAt returns the time of the last crash, or the zero time if there was none.
func (s *Service) CrashedAt() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.crashes.LastAt
}

// CrashLoop reports whether the service has crashed several times in a row, and the last
// crash is less than the quiet period ago.
func (s *Service) CrashLoop(now time.Time) bool {
	return s != nil && s.crashes.isLoop() && now.Sub(s.crashes.LastAt) < quietPeriod
}
