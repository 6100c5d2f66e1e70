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
)

// Service is what a child has from its supervisor. The nil Service is that of
// a process without a supervisor.
type Service struct {
	// Files are those of Options.
	Files   []*os.File
	crashes crashes
	reports *os.File
	ready   sync.Once
}

// Supervised reports whether a supervisor has started this process.
func Supervised() bool { return os.Getenv(EnvVar) != "" }

// Inherit returns what the supervisor has left to this process, or nil if
// there is none. Call it once. From then on this process ends when its
// supervisor does, and the supervisor gets a copy of what the Go runtime
// prints at a crash.
func Inherit() (*Service, error) {
	if !Supervised() {
		return nil, nil
	}
	var told childConfig
	err := json.Unmarshal([]byte(os.Getenv(EnvVar)), &told)
	if err != nil || told.Files < 0 {
		return nil, fmt.Errorf("%s is set for processes that Parley starts itself: remove it", EnvVar)
	}
	_ = os.Unsetenv(EnvVar)
	s := &Service{crashes: told.crashes, reports: inherited(reportsFD, "reports")}
	life := inherited(lifeFD, "life")
	for i := range told.Files {
		s.Files = append(s.Files, inherited(filesFD+i, "inherited"))
	}
	if err := debug.SetCrashOutput(s.reports, debug.CrashOptions{}); err != nil {
		return nil, fmt.Errorf("report crashes to the supervisor: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, life)
		// The kernel has killed this process by now, where it can.
		os.Exit(1)
	}()
	return s, nil
}

// inherited takes over a descriptor. Processes that this one starts do not get
// it.
func inherited(fd int, name string) *os.File {
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// Ready tells the supervisor that this process serves. From then on it is
// started again when it ends unexpectedly.
func (s *Service) Ready() {
	if s == nil {
		return
	}
	s.ready.Do(func() {
		_, _ = s.reports.WriteString(readyLine) // a supervisor that is gone ends us anyway
		_ = s.reports.Close()                   // the Go runtime has a copy
	})
}

// Restarts returns how many times the service was started again so far.
func (s *Service) Restarts() int {
	if s == nil {
		return 0
	}
	return s.crashes.Restarts
}

// CrashedAt returns when the service last crashed; the zero time if never.
func (s *Service) CrashedAt() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.crashes.LastAt
}

// CrashLoop reports whether the service has crashed several times in a row and
// has not yet run quietly since.
func (s *Service) CrashLoop(now time.Time) bool {
	return s != nil && s.crashes.isLoop() && now.Sub(s.crashes.LastAt) < quietPeriod
}
