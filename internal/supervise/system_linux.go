package supervise

import (
	"os"
	"syscall"
)

// ownExecutable is this process's program, even if its file was replaced.
const ownExecutable = "/proc/self/exe"

// killWithParent has the kernel kill a child when this process ends.
func killWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// executable returns the path of this program. A newer program that was put in
// its place belongs to the next start of the service, and not to the next
// start after a crash.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	named, err := os.Stat(path)
	own, ownErr := os.Stat(ownExecutable)
	if err != nil || ownErr == nil && !os.SameFile(named, own) {
		return ownExecutable, nil
	}
	return path, nil // which is what ps shows
}
