package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/PID/stat. USER_HZ is 100 on every architecture that Go
// supports on Linux. Over a second of load the rounding error is one percent.
const tick = time.Second / 100

// usage contains values of a process from /proc/PID/stat.
type usage struct {
	parent       int
	selfTime     time.Duration // utime + stime
	childrenTime time.Duration // the same of its children that have ended
}

// CPU returns the processor time used so far, in user and in kernel mode.
type CPU func() (time.Duration, error)

// ProcessCPU returns a CPU for one process.
func ProcessCPU(pid int) CPU {
	return func() (time.Duration, error) {
		u, err := readUsage(statFile(pid))
		return u.selfTime, err
	}
}

// ProcessTreeCPU returns a CPU for a process and its running and ended children, such as a
// PostgreSQL server with its backends.
func ProcessTreeCPU(pid int) CPU {
	return func() (time.Duration, error) {
		u, err := readUsage(statFile(pid))
		if err != nil {
			return 0, err
		}
		total := u.selfTime + u.childrenTime
		return total, forEachChild(pid, func(_ int, child usage) { total += child.selfTime })
	}
}

// forEachChild calls do for every running child of a process. A child that has ended
// meanwhile counts as part of its parent's childrenTime.
func forEachChild(parent int, do func(pid int, u usage)) error {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	for _, file := range files {
		child, err := readUsage(file)
		pid, convErr := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && convErr == nil && child.parent == parent {
			do(pid, child)
		}
	}
	return nil
}

// SumCPU returns a CPU for the sum of several processes.
func SumCPU(of ...CPU) CPU {
	return func() (time.Duration, error) {
		var total time.Duration
		for _, cpu := range of {
			used, err := cpu()
			if err != nil {
				return 0, err
			}
			total += used
		}
		return total, nil
	}
}

func statFile(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid), "stat") }

func readUsage(file string) (usage, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return usage{}, err
	}
	return parseUsage(string(raw))
}

func parseUsage(stat string) (usage, error) {
	// The second field is the name in parentheses, which may contain any characters.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return usage{}, fmt.Errorf("unexpected format of /proc/PID/stat: %q", stat)
	}
	var n [5]int64
	for i, index := range []int{1, 11, 12, 13, 14} { // ppid, utime, stime, cutime, cstime
		var err error
		if n[i], err = strconv.ParseInt(fields[index], 10, 64); err != nil {
			return usage{}, fmt.Errorf("unexpected format of /proc/PID/stat: %w", err)
		}
	}
	return usage{parent: int(n[0]), selfTime: time.Duration(n[1]+n[2]) * tick,
		childrenTime: time.Duration(n[3]+n[4]) * tick}, nil
}
