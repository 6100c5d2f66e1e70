package parleytest

import (
	"os/exec"
	"syscall"
)

// endWithParent lets the kernel kill the process when the test program ends.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
