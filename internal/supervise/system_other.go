//go:build !linux

package supervise

import (
	"os"
	"runtime/debug"
	"syscall"
)

// Other systems have no such request to the kernel: there a child ends when the
// pipe from its supervisor does.
func killWithParent(*syscall.SysProcAttr) {}

func executable() (string, error) { return os.Executable() }

func releaseMemory() {
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
}
