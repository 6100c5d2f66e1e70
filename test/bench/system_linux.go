package main

import (
	"os"
	"os/exec"
	"syscall"
)

// detach keeps Ctrl-C, which the terminal sends to the whole process group,
// from the children: we stop them, in our order. Should we die first, the
// kernel kills them.
func detach(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// inMemory reports whether a directory is on a file system without a disk,
// where making a commit durable costs nothing.
func inMemory(dir string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	var fs syscall.Statfs_t
	err := syscall.Statfs(dir, &fs)
	return err == nil && (fs.Type == tmpfs || fs.Type == ramfs)
}

func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
