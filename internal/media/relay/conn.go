package relay

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/stun/v3"
	"golang.org/x/time/rate" // the token bucket of the Go project
)

// A client asks once for each candidate of the server, which are few, and again every few minutes.
// Each channel that it binds is kept for ten minutes.
const (
	permissionBurst     = 50
	permissionPerSecond = rate.Limit(0.1)
)

const (
	// minLifetime is the shortest lifetime of a relay. Browsers ask for ten minutes or more.
	minLifetime = time.Minute
	// lifetimeMargin is how long before the end of its lifetime a relay is closed. Firefox refreshes
	// its relays ten seconds before. See watchLifetime.
	lifetimeMargin = 5 * time.Second
)

// listener registers the connections of clients.
type listener struct {
	net.Listener
	server *Server
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := newClient(l.server, conn)
	l.server.mu.Lock()
	// A client may use one port for connections to two addresses of this machine. The first one stays.
	_, exists := l.server.clients[c.remote]
	isRefused := exists || l.server.isClosed
	if !isRefused {
		l.server.clients[c.remote] = c
	}
	l.server.mu.Unlock()
	if isRefused {
		_ = c.Close()
	}
	return c, nil
}

// client is the connection of a client, which has at most one relay.
type client struct {
	net.Conn
	server        *Server
	remote, local netip.AddrPort
	permissions   *rate.Limiter
	frames        *frames
	// ends closes the connection if it gets no relay, and later before the lifetime of the relay ends.
	ends *time.Timer
	// idle closes the connection if the media port sends nothing.
	idle *time.Timer
	// isAllocated is set by the first response with a relay. It is used by one goroutine.
	isAllocated bool

	mu    sync.Mutex
	relay *packetConn // nil before it was allocated
}

func newClient(s *Server, conn net.Conn) *client {
	c := &client{
		Conn:        conn,
		server:      s,
		remote:      addrPort(conn.RemoteAddr()),
		local:       addrPort(conn.LocalAddr()),
		permissions: rate.NewLimiter(permissionPerSecond, permissionBurst),
		frames:      newFrames(),
	}
	// The times are set when both timers are known, because both functions use both.
	c.ends = time.AfterFunc(time.Hour, func() { _ = c.Close() })
	c.idle = time.AfterFunc(time.Hour, func() { s.closeIfIdle(c) }) // begin sets its time
	c.ends.Reset(s.timeouts.allocation)
	return c
}

// Read reads bytes of acceptable frames.
func (c *client) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if refused := c.frames.check(b[:n]); refused != nil {
		return 0, refused
	}
	return n, err
}

// Write writes one frame. After a failure the client cannot read the stream any more.
func (c *client) Write(b []byte) (int, error) {
	c.watchLifetime(b)
	n, err := c.Conn.Write(b)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// watchLifetime closes the connection before the lifetime that a response names, so that the relay
// ends in the goroutine that reads the connection. If pion's timer ended it instead, a
// permission that is added at that moment would crash the process (Allocation.AddPermission in
// 5.0.12).
func (c *client) watchLifetime(frame []byte) {
	if len(frame) < messageHeaderBytes {
		return
	}
	switch kind := [2]byte(frame); {
	case kind == allocated && !c.isAllocated:
		c.isAllocated = true
	case kind == refreshed:
	default: // also a repeated response, which does not begin a lifetime
		return
	}
	message := stun.Message{Raw: frame}
	if message.Decode() != nil {
		return
	}
	value, err := message.Get(stun.AttrLifetime)
	if err != nil || len(value) != 4 {
		return
	}
	lifetime := time.Duration(binary.BigEndian.Uint32(value)) * time.Second
	if lifetime < minLifetime {
		_ = c.Close()
		return
	}
	c.ends.Reset(lifetime - lifetimeMargin)
}

// The types of responses of success.
var (
	allocated = messageType(stun.MethodAllocate)
	refreshed = messageType(stun.MethodRefresh)
)

func messageType(method stun.Method) (b [2]byte) {
	binary.BigEndian.PutUint16(b[:], stun.NewType(method, stun.ClassSuccessResponse).Value())
	return b
}

func (c *client) begin(relay *packetConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relay = relay
}

// permits reports whether an address is that of the media port, and the client has not asked too
// often.
func (c *client) permits(ip net.IP) bool {
	address, _ := netip.AddrFromSlice(ip)
	c.mu.Lock()
	defer c.mu.Unlock()
	isPeer := c.relay != nil && c.relay.peer.AddrPort().Addr() == address.Unmap()
	return isPeer && c.permissions.Allow()
}

// Close closes the connection. The server then ends its relay. It first removes the client, so that no
// permission is added while TLS waits for the client.
func (c *client) Close() error {
	c.ends.Stop()
	c.idle.Stop()
	c.server.mu.Lock()
	if c.server.clients[c.remote] == c {
		delete(c.server.clients, c.remote)
	}
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// packetConn is a relay. The system delivers nothing to it but packets of the media port.
type packetConn struct {
	*net.UDPConn
	server           *Server
	local, announced netip.AddrPort // its address here, and as clients know it
	user             string
	began            time.Time
	isOwn            bool         // the media port is one of this process
	peer             *net.UDPAddr // the media port as clients know it
	received         atomic.Int64 // when the media port sent a packet last, in Unix nanoseconds
}

// WriteTo sends a packet to the media port, and drops packets to other addresses. Errors are those of
// earlier packets, such as a media port that was closed, and it may open again.
func (p *packetConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if addrPort(to) == p.peer.AddrPort() {
		_, _ = p.Write(b)
	}
	return len(b), nil
}

// ReadFrom returns the next packet of the media port. It fails only after Close.
func (p *packetConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, err := p.Read(b)
		if err == nil {
			p.received.Store(time.Now().UnixNano())
			return n, p.peer, nil
		}
		if errors.Is(err, net.ErrClosed) {
			return 0, nil, err
		}
	}
}

// Close ends the relay.
func (p *packetConn) Close() error {
	p.server.mu.Lock()
	if p.server.relays[p.announced] == p {
		delete(p.server.relays, p.announced)
		delete(p.server.locals, p.local)
		if p.server.users[p.user]--; p.server.users[p.user] == 0 {
			delete(p.server.users, p.user)
		}
	}
	p.server.mu.Unlock()
	return p.UDPConn.Close()
}
