package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine is what the absolute figures belong to.
type machine struct {
	Cores     int     `json:"cores"`
	Processor string  `json:"processor,omitempty"`
	System    string  `json:"system"`
	Go        string  `json:"go"`
	Directory string  `json:"directory"` // where the databases are
	Appends   float64 `json:"appends"`   // appends a second, each with its fdatasync
	Busy      string  `json:"busy,omitempty"`
}

// String implements fmt.Stringer.
func (m machine) String() string {
	text := fmt.Sprintf("%d cores %s, %s, %s; %.0f appends with fdatasync a second in %s", m.Cores, m.Processor, m.System, m.Go, m.Appends, m.Directory)
	if m.Busy != "" {
		text += "; load average " + m.Busy + " before the run"
	}
	return text
}

// describeMachine describes the machine.
func describeMachine(dir string) (machine, error) {
	m := machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Directory: filepath.Dir(dir)}
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

// appendsPerSecond counts how often a page can be appended and made durable in a
// second: what a commit cannot beat.
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
