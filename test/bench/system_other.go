//go:build !linux

package main

import (
	"os"
	"os/exec"
)

// On other systems the benchmark builds but cannot measure processor time and memory, which
// it reads from /proc of Linux.

func detach(*exec.Cmd) {}

func inMemory(string) bool { return false }

func syncData(f *os.File) error { return f.Sync() }
