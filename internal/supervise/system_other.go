//go:build !linux

package supervise

import (
	"os"
	"runtime/debug"
	"syscall"
)

// killWithParent does nothing, because other systems have no such request to the kernel.
// There, a child ends when the pipe from its supervisor is closed.
func killWithParent(*syscall.SysProcAttr) {}

func executable() (string, error) { return os.Executable() }

func releaseMemory() {
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
}
