package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is the memory that a process and its children occupy, in bytes. The parts add up to
// Proportional.
type Memory struct {
	Resident     int64 // a page that several processes share counts for each of them
	Proportional int64 // a shared page counts once, in equal parts (PSS)

	Private  int64 // pages that no file has: heap, stacks, caches of the database
	Database int64 // mapped files of a SQLite database
	Program  int64 // other mapped files

	Parent int64 // the part of the first process, such as a supervisor
}

// ProcessTreeMemory returns the memory of a process and its running children.
func ProcessTreeMemory(pid int) (Memory, error) {
	total, err := processMemory(pid)
	if err != nil {
		return Memory{}, err
	}
	total.Parent = total.Proportional
	return total, forEachChild(pid, func(child int, _ usage) {
		if own, err := processMemory(child); err == nil {
			total.Resident += own.Resident
			total.Proportional += own.Proportional
			total.Private += own.Private
			total.Database += own.Database
			total.Program += own.Program
		}
	})
}

func processMemory(pid int) (Memory, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps"))
	if err != nil {
		return Memory{}, err
	}
	return parseMappings(string(raw))
}

// parseMappings adds up the mappings of /proc/PID/smaps. The line of a mapping with its range of
// addresses and its file comes before the lines with its figures.
func parseMappings(smaps string) (m Memory, err error) {
	ofFile := &m.Program
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		name, isFigure := strings.CutSuffix(fields[0], ":")
		if !isFigure {
			if ofFile = &m.Program; len(fields) > 5 && isDatabase(fields[5]) {
				ofFile = &m.Database
			}
			continue
		}
		if name != "Rss" && name != "Pss" && name != "Anonymous" {
			continue
		}
		kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("unexpected format of smaps: %w", err)
		}
		size := kilobytes << 10
		switch name {
		case "Rss":
			m.Resident += size
		case "Pss":
			m.Proportional += size
			*ofFile += size
		case "Anonymous":
			m.Private += size
			*ofFile -= size
		}
	}
	return m, nil
}

// isDatabase reports whether a mapped file belongs to a SQLite database.
func isDatabase(file string) bool {
	name := filepath.Base(file)
	return strings.HasSuffix(name, ".db") || strings.HasSuffix(name, ".db-shm") || strings.HasSuffix(name, ".db-wal")
}
