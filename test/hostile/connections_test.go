package hostile

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// People join, also over TURN, while 5,000 connections of the port for HTTPS say nothing or stopped
// at some point, as many as the server accepts.
func TestLimits_IdleConnections(t *testing.T) {
	const idle = 5000
	certificate := testkit.NewCertificate(t, 1)
	dir := t.TempDir()
	cert, key := certificate.Write(t, dir)
	address := fmt.Sprintf("localhost:%d", testkit.FreeTCPPort(t))
	secure := &tls.Config{RootCAs: certificate.Pool, ServerName: "localhost"}
	standard := http.DefaultTransport.(*http.Transport)
	standard.TLSClientConfig = secure.Clone()
	t.Cleanup(func() {
		standard.CloseIdleConnections()
		standard.TLSClientConfig = nil
	})
	p := startServerWith(t, dir, nil, "--listen", address, "--public-url", "https://"+address,
		"--tls-cert-file", cert, "--tls-key-file", key, "--max-connections", fmt.Sprint(idle))

	request := "GET /healthz HTTP/1.1\r\nHost: " + address + "\r\n\r\n"
	stops := []func(conn net.Conn) error{
		func(net.Conn) error { return nil },
		func(conn net.Conn) error { _, err := conn.Write([]byte{0x16, 3, 1}); return err },
		func(conn net.Conn) error { return tls.Client(conn, secure).Handshake() },
		func(conn net.Conn) error {
			_, err := conn.Write(stun.MustBuild(stun.TransactionID, stun.BindingRequest).Raw)
			return err
		},
		func(conn net.Conn) error {
			kept := tls.Client(conn, secure)
			if _, err := io.WriteString(kept, request); err != nil {
				return err
			}
			res, err := http.ReadResponse(bufio.NewReader(kept), nil)
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
			}
			return err
		},
	}
	for n := range idle {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(n%200))}}
		conn, err := dialer.DialContext(t.Context(), "tcp4", address)
		if err != nil {
			t.Fatalf("connection %d: %v", n, err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(testkit.Timeout)); err != nil {
			t.Fatal(err)
		}
		if err := stops[n%len(stops)](conn); err != nil {
			t.Fatalf("connection %d: %v", n, err)
		}
	}

	m := p.createRoom(room.Audio, 5)
	m.joinOver(mediatest.Network{TLS: secure}, mediatest.Network{TLS: secure, Relay: "turn"})
	p.assertAlive(t)
}
