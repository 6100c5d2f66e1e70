//go:build !linux

package app

import "net"

// limitUnsent leaves it to the kernel for how long it keeps what a peer does
// not take.
func limitUnsent(net.Conn) {}
