//go:build !linux

package app

import "net"

// setTCPUserTimeout does nothing here: the kernel decides for how long it keeps data that a peer does
// not take.
func setTCPUserTimeout(net.Conn) {}
