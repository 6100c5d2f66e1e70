package doctor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/internal/config"
)

// A limit of memory or of processor time of a control group is found, and not found with the limit of the line of the
// finding. The test runs in a process of its own, which enters the group.
func TestCheckCapacity(t *testing.T) {
	for _, c := range []struct {
		name  string
		check check
		id    string
		small map[string]string // files of a control group of version 1 and 2 with a small limit
		apply func(change string) map[string]string
	}{
		{"memory", checkMemory, "memory_low",
			map[string]string{"memory.limit_in_bytes": "209715200", "memory.max": "209715200"},
			func(change string) map[string]string {
				size, _, _ := strings.Cut(strings.TrimPrefix(change, "MemoryMax="), " ") // the kernel reads 512M, too
				return map[string]string{"memory.limit_in_bytes": size, "memory.max": size}
			}},
		{"cpu", checkProcessors, "processor_limit",
			map[string]string{"cpu.cfs_quota_us": "50000", "cpu.max": "50000 100000"},
			func(change string) map[string]string {
				percent, _, _ := strings.Cut(strings.TrimPrefix(change, "CPUQuota="), "%")
				quota := percent + "000" // of 100 ms
				return map[string]string{"cpu.cfs_quota_us": quota, "cpu.max": quota + " 100000"}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const inGroup = "PARLEY_TEST_CGROUP"
			if os.Getenv(inGroup) == "" {
				rootOnly(t)
				if own := c.check.findings(t, config.Default()); len(own) > 0 {
					t.Skipf("the test itself has little: %v", own)
				}
				group := newCgroup(t, c.name)
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheckCapacity$/^"+c.name+"$", "-test.v")
				child.Env = append(os.Environ(), inGroup+"="+group)
				output, err := child.CombinedOutput()
				if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
					t.Errorf("in its own process: got %v, want a pass; its output:\n%s", err, output)
				}
				return
			}
			group := os.Getenv(inGroup)
			set := func(limits map[string]string) {
				t.Helper()
				for name, value := range limits {
					err := os.WriteFile(filepath.Join(group, name), []byte(value), 0)
					if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) { // the other version
						t.Fatal(err)
					}
				}
			}
			if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0); err != nil {
				t.Fatal(err)
			}
			if before := c.check.findings(t, config.Default()); len(before) > 0 {
				t.Fatalf("without a limit: got the findings %v, want none", before)
			}
			set(c.small)
			found := c.check.findings(t, config.Default())[c.id]
			if found.Level != Warning {
				t.Fatalf("got the finding %+v, want the warning %s", found, c.id)
			}
			set(c.apply(found.Change))
			if after := c.check.findings(t, config.Default()); len(after) > 0 {
				t.Errorf("after the change: got the findings %v, want none", after)
			}
		})
	}
}

// newCgroup creates a control group with a controller, below that of this process, until the test ends.
func newCgroup(t *testing.T, controller string) (dir string) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	parent := "/sys/fs/cgroup" // processes of version 2 may be in the root group beside other groups
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // such as 5:cpu,cpuacct:/user.slice
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
			parent = filepath.Join(parent, controller, fields[2])
		}
	}
	dir, err = os.MkdirTemp(parent, "parley-test-")
	if err != nil {
		t.Skipf("this machine lets nobody create a control group: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if _, err := os.Stat(filepath.Join(dir, controller+".max")); err != nil && parent == "/sys/fs/cgroup" {
		t.Skipf("control groups have no controller %s: %v", controller, err)
	}
	return dir
}

// What follows from the memory and the processors of machines of different sizes.
func TestCapacityResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		result Result
		want   string // the beginning of the detail, or the line to change
	}{
		{"a machine", memoryResult(8<<30, false), "8192 MiB, enough for about 940 people"},
		{"a small machine", memoryResult(128<<20, false), "a machine with 512 MiB"},
		{"less than the server needs", memoryResult(64<<20, true), "MemoryMax=512M"},
		{"four processors", processorsResult(4), "4, enough for about 56 people"},
		{"one and a half", processorsResult(1.5), "1.5, enough for about 21 people"},
		{"half of one", processorsResult(0.5), "CPUQuota=100%"},
	} {
		got := c.result.Detail
		if len(c.result.Findings) == 1 {
			got = c.result.Findings[0].Change
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %+v, want %s", c.name, c.result, c.want)
		}
	}
}
