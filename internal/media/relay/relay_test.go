package relay

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/stun/v3"
	"github.com/pion/turn/v5"

	"parley/internal/media/relay/relaytest"
	"parley/internal/testkit"
)

var secret = []byte("a secret of the test")

// announced is an address in a network for documentation, as clients behind a NAT know the media port.
var announced = netip.MustParseAddrPort("203.0.113.9:7882")

// server is a TURN server on 127.0.0.1 with a media port that echoes.
type server struct {
	*Server
	address string
	media   netip.AddrPort
}

func startServer(t *testing.T, times timeouts) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	media := relaytest.ListenUDP(t, "127.0.0.1")
	go func() {
		for b := make([]byte, 1500); ; {
			n, from, err := media.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = media.WriteTo(b[:n], from)
		}
	}()
	address := addrPort(media.LocalAddr())
	s, err := serve(Config{
		Listener: l,
		Secret:   secret,
		Own:      map[netip.AddrPort]netip.AddrPort{announced: address},
	}, times)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &server{Server: s, address: l.Addr().String(), media: address}
}

func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// client connects with a credential and returns a client that listens.
func (s *server) client(t *testing.T, user, password string) *turn.Client {
	t.Helper()
	return relaytest.NewClient(t, s.dial(t), user, password)
}

// allocate returns a relay to some peers, and its client.
func (s *server) allocate(t *testing.T, peers ...netip.AddrPort) (net.PacketConn, *turn.Client) {
	t.Helper()
	user, password := Credentials(secret, peers, time.Now().Add(time.Minute))
	c := s.client(t, user, password)
	relay, err := c.Allocate()
	if err != nil {
		t.Fatal(err)
	}
	return relay, c
}

// expectClosed checks that the server closes a connection.
func expectClosed(t *testing.T, name string, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(testkit.Timeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: the connection is open, want it closed by the server", name)
	}
}

// A relay reaches the media port by the address that clients know, which nothing routes here, and
// gives clients no other address.
func TestServer_ReachesMediaPort(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaultTimeouts)
	relay, _ := s.allocate(t, announced)
	if got := addrPort(relay.LocalAddr()).Addr(); got != announced.Addr() {
		t.Errorf("got a relay at %s, want %s", got, announced.Addr())
	}
	if _, err := relay.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(announced)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, from, err := relay.ReadFrom(b)
	if err != nil || string(b[:n]) != "hello" || addrPort(from) != announced {
		t.Errorf("got %q from %v, %v, want the echo from %s", b[:n], from, err, announced)
	}
	local := netip.AddrPortFrom(s.media.Addr(), addrPort(relay.LocalAddr()).Port())
	if !s.IsRelay(local) {
		t.Errorf("%s: got no relay, want one", local)
	}
	if err := relay.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the relay has ended", func() bool { return !s.IsRelay(local) })
}

// Of a node that is another, the relay reaches the media port that its credential names.
func TestServer_ReachesOtherNode(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaultTimeouts)
	other := relaytest.ListenUDP(t, "127.0.0.3")
	peer := addrPort(other.LocalAddr())
	relay, _ := s.allocate(t, peer)
	if _, err := relay.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(peer)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _, err := other.ReadFrom(b); err != nil || string(b[:n]) != "hello" {
		t.Errorf("got %q, %v, want the packet", b[:n], err)
	}
}

// A client that asks for any other address or port sends nothing there, and gets nothing.
func TestServer_ReachesNothingElse(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaultTimeouts)
	relay, _ := s.allocate(t, announced)
	to := net.UDPAddrFromAddrPort(announced)
	otherPort := relaytest.ListenUDP(t, "127.0.0.1")
	otherAddress := relaytest.ListenUDP(t, "127.0.0.2")
	for _, forbidden := range []net.Addr{
		otherAddress.LocalAddr(), otherPort.LocalAddr(), net.UDPAddrFromAddrPort(s.media),
		&net.UDPAddr{IP: net.IPv4(169, 254, 169, 254), Port: 80},
	} {
		if _, err := relay.WriteTo([]byte("secret"), forbidden); err == nil {
			t.Errorf("permission for %s: got none refused, want it refused", forbidden)
		}
	}
	if _, err := relay.WriteTo([]byte("secret"), &net.UDPAddr{IP: to.IP, Port: to.Port + 1}); err != nil {
		t.Errorf("another port of the address: got %v, want it dropped", err)
	}
	local := netip.AddrPortFrom(s.media.Addr(), addrPort(relay.LocalAddr()).Port())
	if _, err := otherPort.WriteTo([]byte("intrusion"), net.UDPAddrFromAddrPort(local)); err != nil {
		t.Fatal(err)
	}
	if _, err := relay.WriteTo([]byte("hello"), to); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _, err := relay.ReadFrom(b); err != nil || string(b[:n]) != "hello" {
		t.Errorf("got %q, %v, want only the echo of hello", b[:n], err)
	}
	for _, conn := range []net.PacketConn{otherAddress, otherPort} {
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, _, err := conn.ReadFrom(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: got %q, %v, want nothing", conn.LocalAddr(), b[:n], err)
		}
	}
}

func TestServer_RefusesCredentials(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaultTimeouts)
	peers, in := []netip.AddrPort{announced}, time.Now().Add(time.Minute)
	user, password := Credentials(secret, peers, in)
	expired, expiredPassword := Credentials(secret, peers, time.Now().Add(-time.Second))
	foreign, foreignPassword := Credentials([]byte("another secret"), peers, in)
	nowhere, nowherePassword := Credentials(secret, nil, in)
	for name, c := range map[string][2]string{
		"a wrong password":      {user, "password"},
		"another port":          {strings.Replace(user, ":7882", ":22", 1), password},
		"an expired credential": {expired, expiredPassword},
		"another secret":        {foreign, foreignPassword},
		"no peer":               {nowhere, nowherePassword},
		"no time":               {"user", password},
	} {
		if _, err := s.client(t, c[0], c[1]).Allocate(); err == nil {
			t.Errorf("%s: got a relay, want none", name)
		}
	}
	if _, err := s.client(t, user, password).AllocateTCP(); err == nil {
		t.Error("a relay over TCP: got one, want none")
	}
	if n := s.count(); n != 0 {
		t.Errorf("got %d relays, want none", n)
	}
}

// A client that binds channels all the time is refused, because each costs memory.
func TestServer_LimitsPermissions(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaultTimeouts)
	_, c := s.allocate(t, announced)
	refused := 0
	for range 2 * permissionBurst {
		if err := c.CreatePermission(net.UDPAddrFromAddrPort(announced)); err != nil {
			refused++
		}
	}
	if refused < permissionBurst/2 || refused > permissionBurst+5 {
		t.Errorf("got %d of %d refused, want about half", refused, 2*permissionBurst)
	}
}

// Frames that the TURN server cannot handle end the connection before it reads them.
func TestServer_RefusesFrames(t *testing.T) {
	t.Parallel()
	s := startServer(t, timeouts{allocation: time.Hour, idle: time.Hour})
	message := func(length uint16) []byte {
		m := stun.MustBuild(stun.TransactionID, stun.BindingRequest).Raw
		binary.BigEndian.PutUint16(m[2:], length)
		return m
	}
	hidden := message(0)
	hidden = append(hidden, 0x40, 0, 0, 32, 0x21, 0x12, 0xa4, 0x42)
	hidden = append(hidden, make([]byte, 28)...)
	hidden = append(hidden, 0x40, 0, 5, 0)
	hidden = append(hidden, make([]byte, 12)...)
	hidden = append(hidden, 0, 1, 0xff, 0xec, 0x21, 0x12, 0xa4, 0x42)
	hidden = append(hidden, make([]byte, 12)...)
	for name, sent := range map[string][]byte{
		"a message whose length is 0 in 16 bits":    message(0xffec),
		"a long message":                            message(maxFrameBytes + 4),
		"channel data whose length is 0 in 16 bits": {0x40, 0, 0xff, 0xfc, 0, 0, 0, 0, 0},
		"channel data without data":                 {0x40, 0, 0, 0, 0x40, 0, 0, 0},
		"other bytes":                               []byte("GET / HTTP/1.1\r\n\r\n"),
		"messages without end":                      []byte(strings.Repeat(string(message(0)), 20*requestBurst)),
		"channel data that looks like a message":    hidden,
	} {
		conn := s.dial(t)
		_, _ = conn.Write(sent)
		expectClosed(t, name, conn)
	}
	conn := s.dial(t)
	for _, b := range message(0) { // in pieces
		if _, err := conn.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := io.ReadAtLeast(conn, make([]byte, 100), 20); err != nil {
		t.Errorf("a message in pieces: got %d bytes, %v, want a response", n, err)
	}
}

// A connection that gets no relay does not stay.
func TestServer_ClosesWithoutRelay(t *testing.T) {
	t.Parallel()
	s := startServer(t, timeouts{allocation: 50 * time.Millisecond, idle: time.Hour})
	conn := s.dial(t)
	_, _ = conn.Write(stun.MustBuild(stun.TransactionID, stun.BindingRequest).Raw)
	expectClosed(t, "without a relay", conn)
}

// A relay to which the media port sends nothing ends, also if the client sends.
func TestServer_ClosesIdleRelays(t *testing.T) {
	t.Parallel()
	s := startServer(t, timeouts{allocation: time.Hour, idle: 3 * time.Second})
	silent := relaytest.ListenUDP(t, "127.0.0.3")
	peer := addrPort(silent.LocalAddr())
	idle, _ := s.allocate(t, peer)
	used, _ := s.allocate(t, announced)
	testkit.Eventually(t, "only the relay that is used is left", func() bool {
		_, _ = idle.WriteTo([]byte("hello"), silent.LocalAddr())
		_, _ = used.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(announced))
		return s.count() == 1
	})
}

// The relays of one credential to another node end together, those first that exist longest. Relays to the media
// port of this process, and those that nobody uses, do not count.
func TestServer_EndsRelaysToOthers(t *testing.T) {
	t.Parallel()
	s := startServer(t, timeouts{allocation: time.Hour, idle: time.Hour, unused: time.Hour})
	other := addrPort(relaytest.ListenUDP(t, "127.0.0.3").LocalAddr())
	s.allocate(t, announced)
	for range 2 {
		user, password := Credentials(secret, []netip.AddrPort{other}, time.Now().Add(time.Minute))
		for range 2 { // one for each peer connection
			if _, err := s.client(t, user, password).Allocate(); err != nil {
				t.Fatal(err)
			}
		}
	}
	between := time.Now()
	s.allocate(t, other)
	if got, before := s.UsersOfOthers(time.Now()), s.UsersOfOthers(between); got != 3 || before != 2 {
		t.Fatalf("got %d people with relays to others, %d of them before the last, want 3 and 2", got, before)
	}
	s.EndUsersOfOthers(1, between)
	testkit.Eventually(t, "both relays of one credential have ended", func() bool { return s.count() == 4 })
	s.EndUsersOfOthers(5, between)
	testkit.Eventually(t, "the relays of the other have ended", func() bool { return s.count() == 2 })
	if got := s.UsersOfOthers(time.Now()); got != 1 {
		t.Errorf("got %d people with relays to others, want the last", got)
	}
	s.timeouts.unused = 0
	if got := s.UsersOfOthers(time.Now()); got != 0 {
		t.Errorf("got %d people with relays that are used, want 0", got)
	}
}

func TestServer_LimitsRelays(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaultTimeouts)
	user, password := Credentials(secret, []netip.AddrPort{announced}, time.Now().Add(time.Minute))
	for n := range maxRelaysPerUser {
		if _, err := s.client(t, user, password).Allocate(); err != nil {
			t.Fatalf("relay %d: got %v, want one", n, err)
		}
	}
	last := s.client(t, user, password)
	if _, err := last.Allocate(); err == nil {
		t.Errorf("got %d relays with one credential, want at most %d", maxRelaysPerUser+1, maxRelaysPerUser)
	}
	s.allocate(t, announced) // with another one
}

// A client that asks for a short lifetime is disconnected before pion's timer can end its relay.
func TestServer_RefusesShortLifetimes(t *testing.T) {
	t.Parallel()
	s := startServer(t, timeouts{allocation: time.Hour, idle: time.Hour})
	for _, lifetime := range []byte{1, 59} {
		conn := s.dial(t)
		_, _ = conn.Write(allocateRequest(t, conn, lifetime))
		expectClosed(t, "a relay for some seconds", conn)
		testkit.Eventually(t, "the relay has ended", func() bool { return s.count() == 0 })
	}
}

// allocateRequest returns a request for a relay with a lifetime in seconds, with the server's nonce.
func allocateRequest(t *testing.T, conn net.Conn, lifetime byte) []byte {
	t.Helper()
	user, password := Credentials(secret, []netip.AddrPort{announced}, time.Now().Add(time.Minute))
	request := []stun.Setter{
		stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest),
		stun.RawAttribute{Type: stun.AttrRequestedTransport, Value: []byte{17, 0, 0, 0}},
		stun.RawAttribute{Type: stun.AttrLifetime, Value: []byte{0, 0, 0, lifetime}},
	}
	_, _ = conn.Write(stun.MustBuild(request...).Raw)
	challenge := make([]byte, 1000)
	n, err := conn.Read(challenge)
	if err != nil {
		t.Fatal(err)
	}
	answer := stun.Message{Raw: challenge[:n]}
	var nonce stun.Nonce
	if err := errors.Join(answer.Decode(), nonce.GetFrom(&answer)); err != nil {
		t.Fatal(err)
	}
	return stun.MustBuild(append(request, stun.NewUsername(user), stun.NewRealm(realm), nonce,
		stun.NewLongTermIntegrity(user, realm, password))...).Raw
}

// The end of a lifetime is that of the response that began it, also if a client gets it again.
func TestClient_WatchLifetime(t *testing.T) {
	t.Parallel()
	response := func(method stun.Method, seconds byte) []byte {
		return stun.MustBuild(stun.TransactionID, stun.NewType(method, stun.ClassSuccessResponse),
			stun.RawAttribute{Type: stun.AttrLifetime, Value: []byte{0, 0, 0, seconds}}).Raw
	}
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		c := newClient(&Server{timeouts: defaultTimeouts, clients: map[netip.AddrPort]*client{}}, ours)
		for _, step := range []struct {
			after    time.Duration
			response []byte
		}{
			{0, response(stun.MethodAllocate, 100)},
			{50 * time.Second, response(stun.MethodRefresh, 200)},
			{100 * time.Second, response(stun.MethodAllocate, 200)},
			{94 * time.Second, nil},
		} {
			time.Sleep(step.after)
			if _, err := c.Write(step.response); err != nil {
				t.Fatalf("after %s: got %v, want an open connection", step.after, err)
			}
		}
		time.Sleep(2 * time.Second) // 196 s after the refresh
		if _, err := c.Write(nil); err == nil {
			t.Error("five seconds before the end of the lifetime: got an open connection, want it closed")
		}
	})
}

func TestServer_Close(t *testing.T) {
	before := runtime.NumGoroutine()
	s := startServer(t, defaultTimeouts)
	relay, client := s.allocate(t, announced)
	conn := s.dial(t)
	testkit.Eventually(t, "both connections are open", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.clients) == 2
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	expectClosed(t, "without a relay", conn)
	_ = relay.Close() // stops its timers
	client.Close()
	testkit.Eventually(t, "no relay and no goroutine is left", func() bool {
		return s.count() == 0 && runtime.NumGoroutine() <= before+1 // that of the media port
	})
}

// FuzzFrames compares the check with what pion reads: no frame of length 0, and the same boundaries.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 3)
	f.Add([]byte{0x40, 0, 0, 0, 0x40, 0, 0, 0}, 4)
	f.Add([]byte{0x40, 0, 0, 1, 9, 0, 0, 0, 0x40, 1, 0, 2, 9, 9, 9, 9, 9}, 1)
	f.Add([]byte{0x40, 0, 0, 32, 0x21, 0x12, 0xa4, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		at = max(0, min(at, len(b)))
		whole, parts := newFrames(), newFrames()
		wholeErr := whole.check(b)
		partsErr := parts.check(b[:at])
		if partsErr == nil {
			partsErr = parts.check(b[at:])
		}
		if (wholeErr == nil) != (partsErr == nil) {
			t.Errorf("in one piece: %v, in two at %d: %v, want the same", wholeErr, at, partsErr)
		}
		if wholeErr != nil {
			return
		}
		client, server := net.Pipe()
		go func() {
			_, _ = client.Write(b)
			_ = client.Close()
		}()
		defer func() { _ = server.Close() }()
		stream, frame, read := turn.NewSTUNConn(server), make([]byte, 1600), 0
		for read < len(b) {
			n, _, err := stream.ReadFrom(frame)
			if err != nil {
				break // the rest is not complete
			}
			if n < lengthEnd || n > messageHeaderBytes+maxFrameBytes {
				t.Fatalf("got a frame of %d bytes at %d", n, read)
			}
			ours := newFrames()
			if err := ours.check(b[read : read+n]); err != nil || ours.left != 0 || ours.headLen != 0 {
				t.Fatalf("frame of %d bytes at %d: got %v with %d bytes left, want exactly one", n, read, err, ours.left)
			}
			read += n
		}
	})
}
