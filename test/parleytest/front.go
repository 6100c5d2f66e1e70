package parleytest

import (
	"net"
	"strconv"
	"sync/atomic"
	"testing"

	"parley/internal/testkit"
)

// Front is the public address of servers on 127.0.0.1. It connects each client to the server that it has at that
// moment, and does not look at what they send.
type Front struct {
	net.Listener
	server atomic.Value // host:port
}

// StartFront starts a front without a server. It stops with the test.
func StartFront(t testing.TB) *Front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	f := &Front{Listener: l}
	go f.serve(l)
	return f
}

// Listen makes the front also listen at the same port of another address of this machine.
func (f *Front) Listen(t testing.TB, host string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(f.Port())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go f.serve(l)
}

func (f *Front) serve(l net.Listener) {
	testkit.ServeProxy(l, func() string {
		address, _ := f.server.Load().(string)
		return address
	}, nil, nil)
}

// SetServer sets the server of later clients, host:port.
func (f *Front) SetServer(address string) { f.server.Store(address) }

// Port returns the port of the front.
func (f *Front) Port() int { return f.Addr().(*net.TCPAddr).Port }
