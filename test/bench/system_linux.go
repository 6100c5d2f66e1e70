package main

import (
	"os"
	"os/exec"
	"syscall"
)

// detach gives a child its own process group, so that Ctrl-C in the terminal does not reach
// it and this program can stop its children in order. If this program ends first, the kernel
// kills the child.
func detach(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// inMemory reports whether a directory is on a file system in memory, where a durable commit
// costs nothing.
func inMemory(dir string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	var fs syscall.Statfs_t
	err := syscall.Statfs(dir, &fs)
	return err == nil && (fs.Type == tmpfs || fs.Type == ramfs)
}

func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
