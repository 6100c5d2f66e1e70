// Package relay is a TURN server (RFC 8656) over TCP, for participants whose network blocks UDP. Its
// relays reach the media port that the credential of a participant names, and nothing else.
package relay

import (
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pion/logging"
	"github.com/pion/stun/v3"
	"github.com/pion/turn/v5" // the TURN server that LiveKit uses, too
)

const (
	realm = "parley"
	// maxRelaysPerUser is the number of relays with one credential at once. A browser opens one for
	// each address of its machine, peer connection and URL.
	maxRelaysPerUser = 20
	// closeTimeout is the longest wait of Close for the relays.
	closeTimeout = time.Second
)

// timeouts are the times after which a connection is closed, or counts as unused.
type timeouts struct {
	allocation time.Duration // without a relay
	// idle is the time without a packet of the media port. It answers only who knows the password of
	// ICE, so that strangers cannot keep relays, and browsers that do not need theirs free them.
	idle time.Duration
	// unused is the time without a packet of the media port after which nobody is sent media through a relay. It is
	// longer than the time between two checks of ICE.
	unused time.Duration
}

var defaultTimeouts = timeouts{allocation: 10 * time.Second, idle: time.Minute, unused: 10 * time.Second}

// Config is the configuration of a Server.
type Config struct {
	// Listener accepts the connections of clients, also decrypted ones of TURN over TLS. The server
	// closes it.
	Listener net.Listener
	// Secret is the secret of Credentials.
	Secret []byte
	// Own are the media ports of this process, as clients know them, with their addresses on
	// this machine. There is at most one of each family.
	Own map[netip.AddrPort]netip.AddrPort
}

// Server is a TURN server. Its methods may be called from any goroutine.
type Server struct {
	config   Config
	timeouts timeouts
	turn     *turn.Server

	mu       sync.Mutex
	isClosed bool
	clients  map[netip.AddrPort]*client     // by their addresses
	relays   map[netip.AddrPort]*packetConn // by their addresses as clients know them
	locals   map[netip.AddrPort]struct{}    // the addresses of the relays on this machine
	users    map[string]int                 // the number of relays of each credential
}

// Serve starts a server.
func Serve(c Config) (*Server, error) { return serve(c, defaultTimeouts) }

func serve(c Config, t timeouts) (*Server, error) {
	s := &Server{
		config:   c,
		timeouts: t,
		clients:  make(map[netip.AddrPort]*client),
		relays:   make(map[netip.AddrPort]*packetConn),
		locals:   make(map[netip.AddrPort]struct{}),
		users:    make(map[string]int),
	}
	hasIPv4 := false
	for announced := range c.Own {
		hasIPv4 = hasIPv4 || announced.Addr().Is4()
	}
	var err error
	s.turn, err = turn.NewServer(turn.ServerConfig{
		Realm: realm,
		// Clients cause all of its log lines.
		LoggerFactory: &logging.DefaultLoggerFactory{DefaultLogLevel: logging.LogLevelDisabled},
		AuthHandler:   s.authenticate,
		EventHandler: turn.EventHandler{
			OnAllocationCreated: func(from, to net.Addr, _, _, _ string, relay net.Addr, _ int) {
				s.begin(from, to, addrPort(relay))
			},
			OnAllocationDeleted: func(from, to net.Addr, _, _, _ string) { s.end(from, to) },
		},
		// Browsers request no address family, which means IPv4 (RFC 8656, section 7.2). A service without
		// an IPv4 address has to choose the family of the connection.
		StrictAddressFamily: hasIPv4,
		ListenerConfigs: []turn.ListenerConfig{{
			Listener:              &listener{Listener: c.Listener, server: s},
			RelayAddressGenerator: (*generator)(s),
			PermissionHandler:     s.permits,
		}},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close stops accepting connections, and ends all relays.
func (s *Server) Close() error {
	s.mu.Lock()
	s.isClosed = true
	for _, c := range s.clients {
		go func() { _ = c.Close() }() // TLS waits for the client
	}
	s.mu.Unlock()
	// The goroutines of the connections end their relays. See client.watchLifetime.
	for end := time.Now().Add(closeTimeout); s.count() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return s.turn.Close()
}

func (s *Server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.relays)
}

// UsersOfOthers returns the number of credentials that have relays in use to media ports of other processes since
// before a time. A participant has one credential for each signaling connection.
func (s *Server) UsersOfOthers(before time.Time) int { return len(s.usersOfOthers(before)) }

// EndUsersOfOthers ends all relays of n of these credentials at most, those first that have had theirs longest.
func (s *Server) EndUsersOfOthers(n int, before time.Time) {
	users := s.usersOfOthers(before)
	users = users[:min(n, len(users))]
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		c.mu.Lock()
		relay := c.relay
		c.mu.Unlock()
		if relay != nil && slices.Contains(users, relay.user) {
			go func() { _ = c.Close() }() // TLS waits for the client
		}
	}
}

// usersOfOthers returns the credentials of UsersOfOthers, in the order of their first relays.
func (s *Server) usersOfOthers(before time.Time) []string {
	unused := time.Now().Add(-s.timeouts.unused).UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	since := make(map[string]time.Time)
	for _, r := range s.relays {
		if r.isOwn || r.received.Load() < unused {
			continue
		}
		if first, known := since[r.user]; !known || r.began.Before(first) {
			since[r.user] = r.began
		}
	}
	maps.DeleteFunc(since, func(_ string, began time.Time) bool { return !began.Before(before) })
	return slices.SortedFunc(maps.Keys(since), func(a, b string) int { return since[a].Compare(since[b]) })
}

// IsRelay reports whether an address belongs to a relay of this process.
func (s *Server) IsRelay(address netip.AddrPort) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, exists := s.locals[address]
	return exists
}

func (s *Server) authenticate(r *turn.RequestAttributes) (user string, key []byte, ok bool) {
	password, until, ok := check(s.config.Secret, r.Username)
	if !ok || r.Method == stun.MethodAllocate && time.Now().After(until) {
		return "", nil, false
	}
	return r.Username, turn.GenerateAuthKey(r.Username, realm, password), true
}

// permits reports whether a client may send to an address. The port is checked for each packet.
func (s *Server) permits(from net.Addr, peer net.IP) bool {
	s.mu.Lock()
	c := s.clients[addrPort(from)]
	s.mu.Unlock()
	return c != nil && c.permits(peer)
}

// begin gives a client its relay.
func (s *Server) begin(from, to net.Addr, announced netip.AddrPort) {
	s.mu.Lock()
	relay := s.relays[announced]
	s.mu.Unlock()
	if c := s.clientAt(from, to); c != nil && relay != nil {
		c.begin(relay)
		s.closeIfIdle(c)
	}
}

// closeIfIdle closes a connection when its relay is idle, now or later.
func (s *Server) closeIfIdle(c *client) {
	c.mu.Lock()
	relay := c.relay
	c.mu.Unlock()
	if relay == nil {
		return
	}
	if left := s.timeouts.idle - time.Since(time.Unix(0, relay.received.Load())); left > 0 {
		c.idle.Reset(left)
		return
	}
	_ = c.Close()
}

// end closes the connection of a relay that has ended, because one connection has one relay.
func (s *Server) end(from, to net.Addr) {
	if c := s.clientAt(from, to); c != nil {
		_ = c.Close()
	}
}

// clientAt returns the client whose connection has these addresses, or nil.
func (s *Server) clientAt(from, to net.Addr) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[addrPort(from)]; c != nil && c.local == addrPort(to) {
		return c
	}
	return nil
}

// addrPort returns an address of TCP or UDP in the form that is the same for equal addresses.
func addrPort(a net.Addr) netip.AddrPort {
	var address netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		address = a.AddrPort()
	case *net.UDPAddr:
		address = a.AddrPort()
	}
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}

// generator makes the relays of a server.
type generator Server

var errRefused = errors.New("relay: refused")

// Validate returns nil, because Serve has checked the configuration.
func (g *generator) Validate() error { return nil }

// AllocateListener refuses relays over TCP (RFC 6062).
func (g *generator) AllocateListener(turn.AllocateListenerConfig) (net.Listener, net.Addr, error) {
	return nil, nil, errRefused
}

// AllocateConn refuses relays over TCP (RFC 6062).
func (g *generator) AllocateConn(turn.AllocateConnConfig) (net.Conn, error) {
	return nil, errRefused
}

// AllocatePacketConn returns a relay to the media port of the user's credential, and its address for the
// client. A request for a reserved port has no user, and is refused.
func (g *generator) AllocatePacketConn(c turn.AllocateListenerConfig) (net.PacketConn, net.Addr, error) {
	peers := peersOf(c.UserID)
	i := slices.IndexFunc(peers, func(p netip.AddrPort) bool { return p.Addr().Is4() == (c.Network == "udp4") })
	if i < 0 {
		return nil, nil, errRefused
	}
	peer := peers[i]
	target, isOwn := g.config.Own[peer]
	if !isOwn {
		target = peer // of another node
	}
	conn, err := net.DialUDP(c.Network, nil, net.UDPAddrFromAddrPort(target))
	if err != nil {
		return nil, nil, err
	}
	p := &packetConn{
		UDPConn: conn,
		server:  (*Server)(g),
		user:    c.UserID,
		began:   time.Now(),
		isOwn:   isOwn,
		local:   addrPort(conn.LocalAddr()),
		peer:    net.UDPAddrFromAddrPort(peer),
	}
	p.announced = netip.AddrPortFrom(peer.Addr(), p.local.Port())
	for own := range g.config.Own {
		if own.Addr().Is4() == peer.Addr().Is4() {
			p.announced = netip.AddrPortFrom(own.Addr(), p.local.Port())
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, exists := g.relays[p.announced] // with the port of another local address
	if exists || g.isClosed || g.users[p.user] >= maxRelaysPerUser {
		return nil, nil, errors.Join(errRefused, conn.Close())
	}
	p.received.Store(p.began.UnixNano())
	g.users[p.user]++
	g.relays[p.announced] = p
	g.locals[p.local] = struct{}{}
	return p, net.UDPAddrFromAddrPort(p.announced), nil
}
