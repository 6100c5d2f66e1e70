package instance

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"
)

// lateInterval is the time between two attempts to open a socket.
const lateInterval = 5 * time.Second

// LateListener is a listening socket that could not be opened at the start, for example because another
// program has the port. Accept opens it as soon as that is possible.
type LateListener struct {
	address string
	log     *slog.Logger
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	mu      sync.Mutex
	failure *SocketError // of the last attempt; nil once the socket is open
	opened  net.Listener // nil before
}

func newLateListener(failure *SocketError, log *slog.Logger) *LateListener {
	l := &LateListener{address: failure.Address, log: log, failure: failure}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Err returns the error of the last attempt, or nil if the socket is open.
func (l *LateListener) Err() *SocketError {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Accept opens the socket if it is not open, which may take any time, and returns the next connection. It
// logs why the socket is not open, and that it is.
func (l *LateListener) Accept() (net.Conn, error) {
	if err := l.Err(); err != nil {
		l.log.Error("open a listening socket failed, will retry", "error", err)
	}
	for l.Err() != nil {
		select {
		case <-l.ctx.Done():
			return nil, net.ErrClosed
		case <-time.After(lateInterval):
		}
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	return l.opened.Accept()
}

// open tries once to open the socket. It returns an error only if the listener is closed.
func (l *LateListener) open() error {
	opened, err := net.Listen("tcp", l.address)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		failure := *l.failure
		failure.Err = err
		l.failure = &failure
		return nil
	case l.ctx.Err() != nil:
		_ = opened.Close()
		return net.ErrClosed
	}
	l.failure, l.opened = nil, opened
	l.log.Info("listening", "address", opened.Addr().String())
	return nil
}

// Close closes the socket and ends a waiting Accept.
func (l *LateListener) Close() error {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

// Addr returns the address of the socket, or that of the setting before it is open.
func (l *LateListener) Addr() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened != nil {
		return l.opened.Addr()
	}
	return settingAddr(l.address)
}

// settingAddr is the address of a setting.
type settingAddr string

// Network returns the network of the address.
func (settingAddr) Network() string { return "tcp" }

// String returns the address.
func (a settingAddr) String() string { return string(a) }
