//go:build !linux

package app

import "net"

// setTCPUserTimeout does nothing on this system, so that the kernel's own timeout
// for unacknowledged data applies.
func setTCPUserTimeout(net.Conn) {}
