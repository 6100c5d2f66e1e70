// Package late has listening sockets that could not be opened at the start, for example because another program has
// the port, and are opened as soon as that is possible.
package late

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"
)

// interval is the time between two attempts to open a socket.
const interval = 5 * time.Second

// Listener is a listening socket that Accept opens as soon as that is possible.
type Listener struct {
	address setting
	open    func() (net.Listener, error)
	log     *slog.Logger
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	mu      sync.Mutex
	failure error        // of the last attempt; nil once the socket is open
	opened  net.Listener // nil before
}

// NewListener returns a Listener for a socket at an address that open could not open, because of failure. Later errors
// of open replace failure.
func NewListener(address string, failure error, open func() (net.Listener, error), log *slog.Logger) *Listener {
	l := &Listener{address: setting(address), open: open, log: log, failure: failure}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Err returns the error of the last attempt, or nil if the socket is open.
func (l *Listener) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Accept opens the socket if it is not open, which may take any time, and returns the next connection. It
// logs why the socket is not open, and that it is.
func (l *Listener) Accept() (net.Conn, error) {
	if err := l.Err(); err != nil {
		l.log.Error("open a listening socket failed, will retry", "error", err)
	}
	for l.Err() != nil {
		select {
		case <-l.ctx.Done():
			return nil, net.ErrClosed
		case <-time.After(interval):
		}
		if err := l.try(); err != nil {
			return nil, err
		}
	}
	return l.opened.Accept()
}

// try tries once to open the socket. It returns an error only if the listener is closed.
func (l *Listener) try() error {
	opened, err := l.open()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.failure = err
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
func (l *Listener) Close() error {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

// Addr returns the address of the socket. Before the socket is open, it is the address that NewListener got, and no
// *net.TCPAddr.
func (l *Listener) Addr() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened != nil {
		return l.opened.Addr()
	}
	return l.address
}

// setting is an address of the settings.
type setting string

// Network returns the network of the address.
func (setting) Network() string { return "tcp" }

// String returns the address.
func (s setting) String() string { return string(s) }
