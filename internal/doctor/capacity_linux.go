package doctor

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix" // the system calls that package syscall does not have

	"parley/internal/config"
)

const (
	// minMemoryBytes is the memory below which a server is a finding: few people with cameras fill it.
	minMemoryBytes = 256 << 20
	// serverBytes is the memory of a server in which all lists were read (109 MB) and the first meeting began (15 MB),
	// without the people. personBytes is that of a person in a meeting of nine with cameras, which needs the most.
	// docs/sizing.md has the measurements.
	serverBytes = 124e6
	personBytes = 9e6
	// peoplePerProcessor is how many people in such meetings keep a processor half busy.
	peoplePerProcessor = 14
)

func checkMemory(context.Context, config.Config) Result {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return unknown("the system does not say how much memory it has: %v", err)
	}
	machine := uint64(info.Totalram) * uint64(info.Unit)
	limit := machine
	for _, text := range append(cgroupValues("", "memory.max"), cgroupValues("memory", "memory.limit_in_bytes")...) {
		if value, err := strconv.ParseUint(text, 10, 64); err == nil { // not max
			limit = min(limit, value)
		}
	}
	return memoryResult(limit, limit < machine)
}

func checkProcessors(context.Context, config.Config) Result {
	processors := float64(runtime.NumCPU())
	limit := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64)
		p, periodErr := strconv.ParseFloat(period, 64)
		if err == nil && periodErr == nil && q > 0 && p > 0 { // not max and not -1
			processors = min(processors, q/p)
		}
	}
	for _, text := range cgroupValues("", "cpu.max") {
		quota, period, _ := strings.Cut(text, " ")
		limit(quota, period)
	}
	quotas, periods := cgroupValues("cpu", "cpu.cfs_quota_us"), cgroupValues("cpu", "cpu.cfs_period_us")
	for i := range min(len(quotas), len(periods)) {
		limit(quotas[i], periods[i])
	}
	return processorsResult(processors)
}

// cgroupValues returns the texts of a file of the control group of this process and of the groups above it. The
// controller is that of the hierarchy, or empty for version 2. A container may see its own group as the root.
func cgroupValues(controller, file string) (values []string) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(groups)) { // such as 4:memory:/system.slice/parley.service
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 || !slices.Contains(strings.Split(fields[1], ","), controller) {
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			if text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", controller, group, file)); err == nil {
				values = append(values, strings.TrimSpace(string(text)))
			}
			if group == "/" {
				break
			}
		}
	}
	return values
}

// memoryResult returns what follows from the memory that the server may use, in bytes. It is limited if the machine has
// more.
func memoryResult(limit uint64, limited bool) Result {
	people := int(max(0, float64(limit)-serverBytes) / personBytes)
	if limit >= minMemoryBytes {
		return fine("%d MiB, enough for about %d people with cameras", limit>>20, people)
	}
	change := "a machine with 512 MiB of memory or more"
	if limited {
		change = "MemoryMax=512M or more in the unit of systemd, or a higher limit of the container"
	}
	return found("memory_low", Warning, change, "The server may use at most %d MiB of memory, which is enough for about "+
		"%d people with cameras. The system ends it when it needs more.", limit>>20, people)
}

// processorsResult returns what follows from the processors that the server may use.
func processorsResult(processors float64) Result {
	if processors >= 1 {
		return fine("%.3g, enough for about %d people with cameras", processors, int(processors*peoplePerProcessor))
	}
	return found("processor_limit", Warning,
		"CPUQuota=100% or more in the unit of systemd, or a higher limit of the container",
		"The server may use only %.2g of a processor. The system stops it for the rest of the time, and people hear that.",
		processors)
}
