package connlimit

import (
	"net"
	"syscall"
	"time"
)

const (
	// unackedDataTimeout is how long the kernel keeps unacknowledged data, also
	// after the connection is closed.
	unackedDataTimeout = time.Minute
	// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
	tcpUserTimeout = 0x12
)

// setTCPUserTimeout makes the kernel drop a connection whose peer does not
// acknowledge data for unackedDataTimeout.
func setTCPUserTimeout(conn net.Conn) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout,
				int(unackedDataTimeout.Milliseconds()))
		})
	}
}
