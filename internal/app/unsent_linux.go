package app

import (
	"net"
	"syscall"
	"time"
)

const (
	// unsentFor is how long the kernel keeps what a peer does not take, after
	// the connection is closed too.
	unsentFor = time.Minute
	// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
	tcpUserTimeout = 0x12
)

// limitUnsent has the kernel drop a connection whose peer takes nothing.
func limitUnsent(conn net.Conn) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unsentFor.Milliseconds()))
		})
	}
}
