package hostile

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/pion/stun/v3"

	"parley/internal/media/mediatest"
	"parley/internal/media/relay/relaytest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// People meet through the port for HTTPS with TURN over TLS and over TCP. A client with their credential gets nothing
// through to any address but the media port, and nothing from there.
func TestRelay_MediaOnly(t *testing.T) {
	address := fmt.Sprintf("localhost:%d", testkit.FreeTCPPort(t))
	p := startServerWith(t, t.TempDir(), nil, "--listen", address, "--public-url", "https://"+address,
		"--tls-cert-file", certificateDir+"/cert.pem", "--tls-key-file", certificateDir+"/key.pem")
	m := p.createRoom(room.Audio, 5)
	all := m.joinOver(mediatest.Network{}, mediatest.Network{Relay: "turn"}, mediatest.Network{Relay: "turns"})
	for _, secure := range []bool{true, false} {
		attackRelay(t, address, secure, all[0].JoinResponse().IceServers[0])
	}
	p.assertAlive(t)
}

// attackRelay asks the TURN server at an address for packets to other addresses than the media port.
func attackRelay(t *testing.T, address string, secure bool, server *livekit.ICEServer) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil && secure {
		conn = tls.Client(conn, &tls.Config{ServerName: "localhost"})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := relaytest.NewClient(t, conn, server.Username, server.Credential)
	relay, err := c.Allocate()
	if err != nil {
		t.Fatalf("allocate over %s, TLS %t: got %v, want a relay", address, secure, err)
	}
	_, port, _ := net.SplitHostPort(server.Username[strings.LastIndex(server.Username, ",")+1:])
	media, err := net.ResolveUDPAddr("udp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	otherAddress, otherPort := relaytest.ListenUDP(t, "127.0.0.2"), relaytest.ListenUDP(t, "127.0.0.1")
	for _, to := range []*net.UDPAddr{
		otherAddress.LocalAddr().(*net.UDPAddr), otherPort.LocalAddr().(*net.UDPAddr),
		{IP: net.IPv4(169, 254, 169, 254), Port: 80}, {IP: net.IPv4(127, 0, 0, 1), Port: 53},
	} {
		if _, err := relay.WriteTo([]byte("secret"), to); err == nil && !to.IP.Equal(media.IP) {
			t.Errorf("a permission for %s: got one, want none", to)
		}
		// Without asking for a permission.
		indication := stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodSend, stun.ClassIndication),
			peerAddress(*to), stun.RawAttribute{Type: stun.AttrData, Value: []byte("secret")})
		if _, err := conn.Write(indication.Raw); err != nil {
			t.Fatal(err)
		}
	}
	// The server has handled everything before it when it answers this.
	if err := c.CreatePermission(media); err != nil {
		t.Errorf("a permission for the media port: got %v, want no error", err)
	}
	if _, err := otherPort.WriteTo([]byte("intrusion"), relay.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	if err := c.CreatePermission(media); err != nil {
		t.Errorf("a permission for the media port: got %v, want no error", err)
	}
	for name, from := range map[string]net.PacketConn{
		"another address": otherAddress, "another port": otherPort, "the client": relay,
	} {
		if err := from.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, _, err := from.ReadFrom(make([]byte, 100)); n > 0 || err == nil {
			t.Errorf("%s: got %d bytes, %v, want none", name, n, err)
		}
	}
}

// peerAddress is the attribute XOR-PEER-ADDRESS.
type peerAddress net.UDPAddr

// AddTo adds the attribute to a message.
func (a peerAddress) AddTo(m *stun.Message) error {
	return stun.XORMappedAddress{IP: a.IP, Port: a.Port}.AddToAs(m, stun.AttrXORPeerAddress)
}
