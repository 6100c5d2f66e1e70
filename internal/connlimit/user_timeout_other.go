//go:build !linux

package connlimit

import "net"

// setTCPUserTimeout does nothing on this system, so that the kernel's own timeout
// for unacknowledged data applies.
func setTCPUserTimeout(net.Conn) {}
