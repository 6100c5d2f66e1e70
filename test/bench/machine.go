package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine, because the absolute figures depend on it.
type machine struct {
	Cores     int     `json:"cores"`
	Processor string  `json:"processor,omitempty"`
	System    string  `json:"system"`
	Go        string  `json:"go"`
	Directory string  `json:"directory"` // of the databases
	Appends   float64 `json:"appends"`   // appends per second, each with an fdatasync
	Busy      string  `json:"busy,omitempty"`
}

// String returns the description in one line.
func (m machine) String() string {
	text := fmt.Sprintf("%d cores %s, %s, %s; %.0f appends with fdatasync a second in %s",
		m.Cores, m.Processor, m.System, m.Go, m.Appends, m.Directory)
	if m.Busy != "" {
		text += "; load average " + m.Busy + " before the run"
	}
	return text
}

// describeMachine describes the machine. It measures the appends in dir.
func describeMachine(dir string) (machine, error) {
	m := machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Directory: filepath.Dir(dir)}
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				m.Processor = strings.TrimSpace(value)
				break
			}
		}
	}
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Busy, _, _ = strings.Cut(string(raw), " ")
	}
	var err error
	m.Appends, err = appendsPerSecond(dir, 300*time.Millisecond)
	return m, err
}

// appendsPerSecond returns how often per second a page can be appended to a file and made
// durable, which is an upper bound for commits.
func appendsPerSecond(dir string, length time.Duration) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "appends"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	page := make([]byte, 4096)
	n, start := 0, time.Now()
	for time.Since(start) < length {
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := syncData(f); err != nil {
			return 0, err
		}
		n++
	}
	return float64(n) / time.Since(start).Seconds(), os.Remove(f.Name())
}
