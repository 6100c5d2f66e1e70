package media_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"parley/internal/media"
	"parley/internal/media/mediatest"
	"parley/internal/room"
	"parley/internal/testkit"
)

// A TCP port for media that another program has is opened when it is free. Before that, nobody gets an address for it,
// so the other program gets no connection.
func TestEngine_OpensTCPPortLate(t *testing.T) {
	address := fmt.Sprintf(":%d", testkit.FreeTCPPort(t))
	taken, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	f := newFixture(t, func(c *media.Config) {
		c.NodeIP = anotherAddress(t) // the port is off on loopback
		c.TCPPort = taken.Addr().(*net.TCPAddr).Port
	})
	if got := f.engine.UnopenedPorts(); len(got) != 1 || got[0].Protocol != "TCP" {
		t.Fatalf("got the ports %v that are not open, want that of TCP", got)
	}
	f.openSession(t, "r.1", room.Audio)
	f.join(t, "r.1", "ada", room.Audio)
	last, err := net.Dial("tcp", "127.0.0.1"+address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = last.Close() }()
	first, err := taken.Accept() // in the order in which they came
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if got, want := first.RemoteAddr().String(), last.LocalAddr().String(); got != want {
		t.Errorf("the other program: got a connection from %s, want only that of the test, from %s", got, want)
	}
	if f.log.HasLine(`"level":"WARN"`, "TCP") {
		t.Errorf("got the log %s, want no warning about TCP for a person who joins", f.log)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the port is open", func() bool { return len(f.engine.UnopenedPorts()) == 0 })
	bela, err := mediatest.Network{TCP: true}.Join(t.Context(), f.url, f.accessToken(t, "r.1", "bela", room.Audio))
	if err != nil {
		t.Fatalf("join over TCP: %v", err)
	}
	t.Cleanup(bela.Abort)
}

// anotherAddress returns an IPv4 address of this machine that is not loopback.
func anotherAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, _, _ := strings.Cut(a.String(), "/"); net.ParseIP(ip).To4() != nil && !net.ParseIP(ip).IsLoopback() {
			return ip
		}
	}
	t.Skip("this machine has only loopback addresses")
	return ""
}
