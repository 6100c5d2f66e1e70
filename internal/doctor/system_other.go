//go:build !linux

package doctor

import (
	"context"

	"parley/internal/config"
)

const onlyLinux = "this check needs Linux"

func checkOpenFiles(context.Context, config.Config) Result  { return unknown(onlyLinux) }
func checkMemory(context.Context, config.Config) Result     { return unknown(onlyLinux) }
func checkProcessors(context.Context, config.Config) Result { return unknown(onlyLinux) }
func checkUDPBuffers(context.Context, config.Config) Result { return unknown(onlyLinux) }
func checkProc(context.Context, config.Config) Result       { return unknown(onlyLinux) }
func checkClock(context.Context, config.Config) Result      { return unknown(onlyLinux) }
func checkDisk(context.Context, config.Config) Result       { return unknown(onlyLinux) }
func checkDiskSpeed(context.Context, config.Config) Result  { return unknown(onlyLinux) }
