package db

import "syscall"

// killedWithParent makes the kernel kill a child when this process ends.
func killedWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
