//go:build !linux

package db

import "syscall"

// killedWithParent returns nil, because only Linux can do it.
func killedWithParent() *syscall.SysProcAttr { return nil }
