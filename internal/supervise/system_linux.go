package supervise

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// ownExecutable is the path of this process's program, even if its file was replaced.
const ownExecutable = "/proc/self/exe"

// killWithParent makes the kernel kill a child when this process ends.
func killWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// executable returns the path of this program. If the file was replaced by a newer program,
// it returns ownExecutable, because the newer program must only run after the next start of
// the whole service and not after a crash.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	named, err := os.Stat(path)
	running, ownErr := os.Stat(ownExecutable)
	if err != nil || ownErr == nil && !os.SameFile(named, running) {
		return ownExecutable, nil
	}
	return path, nil // ps shows this path
}

// releaseMemory releases the memory that this process only needed to start: garbage, and
// the pages of its program, most of which only the child uses. The kernel reads a page
// again when it is needed.
func releaseMemory() {
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
	raw, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var from, to uintptr
	unchanged := false // the mapping is a read-only mapping of a file
	for line := range strings.Lines(string(raw)) {
		var access, offset, device string
		var inode uint64
		if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %d", &from, &to, &access, &offset, &device, &inode); n == 6 {
			unchanged = inode != 0 && strings.HasPrefix(access, "r-") && strings.HasSuffix(access, "p")
			continue
		}
		// The loader writes to some mappings before it makes them read-only. Such pages
		// are anonymous and have to stay, because the file does not contain them.
		amount, anonymous := strings.CutPrefix(line, "Anonymous:")
		if unchanged && anonymous && strings.TrimSpace(amount) == "0 kB" {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
		}
	}
}
