package testkit

import (
	"io"
	"net"
	"testing"
)

// Pass writes what one connection sends to the other, until one of them ends.
type Pass func(to, from net.Conn)

// StartProxy starts a proxy in front of the server at an address, host:port, and returns the proxy's own address. It
// accepts connections until the test ends. The functions pass on what clients and the server send; for nil, the proxy
// changes nothing.
func StartProxy(t testing.TB, server string, requests, responses Pass) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go ServeProxy(l, func() string { return server }, requests, responses)
	return l.Addr().String()
}

// ServeProxy is StartProxy with a listener, until that is closed, and with an address that may change: each client gets
// the server of the moment at which it connects.
func ServeProxy(l net.Listener, server func() (address string), requests, responses Pass) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = client.Close() }()
			conn, err := net.Dial("tcp", server())
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			go func() {
				requests.run(conn, client)
				_ = conn.Close() // ends the responses
			}()
			responses.run(client, conn)
		}()
	}
}

func (p Pass) run(to, from net.Conn) {
	if p == nil {
		_, _ = io.Copy(to, from)
		return
	}
	p(to, from)
}
