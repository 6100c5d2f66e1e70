// Package relaytest provides clients of a TURN server, and peers, for tests.
package relaytest

import (
	"net"
	"testing"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
)

// NewClient returns a client of the TURN server at the other end of a connection. It stops with the test.
func NewClient(t testing.TB, conn net.Conn, user, password string) *turn.Client {
	t.Helper()
	address := conn.RemoteAddr().String()
	c, err := turn.NewClient(&turn.ClientConfig{
		TURNServerAddr: address,
		STUNServerAddr: address,
		Conn:           turn.NewSTUNConn(conn),
		Username:       user,
		Password:       password,
		LoggerFactory:  &logging.DefaultLoggerFactory{DefaultLogLevel: logging.LogLevelDisabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Listen(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ListenUDP returns a UDP socket with any port of an IPv4 address of this machine. It stops with the test.
func ListenUDP(t testing.TB, host string) net.PacketConn {
	t.Helper()
	conn, err := net.ListenPacket("udp4", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
