// Package connlimit limits the open connections and the requests in progress of the process, in
// total and for each client network.
package connlimit

import (
	"cmp"
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"parley/internal/network"
	"parley/internal/refusal"
)

// reservedFiles is the minimum number of file descriptors that are kept for other
// uses than client connections: the database, media, webhooks.
const reservedFiles = 256

// defaultConnections is the default of --max-connections.
const defaultConnections = 10_000

// Limits limit the number of open connections of the ports for HTTP and for media, in
// total and per address. At a limit a new connection replaces the one that has been idle longest. If
// none is idle, a connection above the limit of its address is closed, and a
// connection above the total limit waits until another one ends. Addresses of
// trusted proxies have no limit of their own, because all clients share them.
type Limits struct {
	max, perAddress int // 0 for no limit
	writeTimeout    time.Duration
	trusted         []netip.Prefix
	refusals        *refusal.Recorder

	created     time.Time
	mu          sync.Mutex
	freed       *sync.Cond
	open        int
	media       int // of them, on the port for media
	connections connectionList
	clients     map[netip.Prefix]*clientConnections
	slots       map[netip.Prefix]*requestSlots // by the networks of clients
}

// limitListener accepts connections within the limits.
//
// It also closes connections whose clients do not read their responses. The
// deadlines are set here and not for each request, because setting one costs as
// much as a small response.
type limitListener struct {
	net.Listener
	*Limits
	closed bool // under the lock of the limits
}

// clientConnections are the connections of one client network.
type clientConnections struct {
	open        int
	connections connectionList
}

// connectionList is a list of connections. Those that are idle are in the order in
// which they became idle, with the active ones between them, so that a request
// neither allocates nor searches.
type connectionList struct {
	list.List     // of *connection
	idle      int // the number of idle connections
}

// longestIdle returns the connection that has been idle longest, or nil.
func (l *connectionList) longestIdle() *connection {
	if l.idle == 0 {
		return nil
	}
	for e := l.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*connection); c.idle {
			return c
		}
	}
	return nil
}

// connection counts against the limits until it is closed.
type connection struct {
	net.Conn
	limits  *Limits
	address netip.Prefix
	limited bool // the limit per address applies to it

	// Under the lock of the listener.
	client       *clientConnections
	inAll, inOwn *list.Element // its list elements; nil when hijacked or closed
	idle         bool
	closed       bool
	media        bool          // on the port for media
	requests     int           // in progress or waiting for a slot
	waiting      int           // of them, waiting for a slot
	request      *heldSlots    // of the request that came last
	gone         chan struct{} // closed with the connection

	hijacked atomic.Bool // a WebSocket sets its own deadlines
	// deadlineSet is when the write deadline was set last, in nanoseconds since the
	// listener was created.
	deadlineSet atomic.Int64

	read readDeadline
}

// New returns limits for at most limit connections, and perAddress connections of one address
// that is not trusted; 0 for no limit.
func New(limit, perAddress int, trusted []netip.Prefix,
	refusals *refusal.Recorder) *Limits {
	c := &Limits{
		max:          limit,
		perAddress:   perAddress,
		trusted:      trusted,
		refusals:     refusals,
		writeTimeout: WriteTimeout,
		created:      time.Now(),
		clients:      map[netip.Prefix]*clientConnections{},
		slots:        map[netip.Prefix]*requestSlots{},
	}
	c.freed = sync.NewCond(&c.mu)
	return c
}

// LimitConnections returns a listener for HTTP whose connections count against the limits.
func (c *Limits) LimitConnections(l net.Listener) net.Listener { return c.limit(l) }

// LimitMediaConnections returns a listener for media whose connections count against the limits.
func (c *Limits) LimitMediaConnections(l net.Listener) net.Listener {
	return c.MediaConnections(c.limit(l))
}

// MediaConnections returns a listener for media. Its connections are those of l, which are counted
// already, also below others.
func (c *Limits) MediaConnections(l net.Listener) net.Listener {
	return c.mediaListener(l, false)
}

// RelayConnections is MediaConnections for a TURN server, which sets no deadlines.
func (c *Limits) RelayConnections(l net.Listener) net.Listener {
	return c.mediaListener(l, true)
}

func (c *Limits) mediaListener(l net.Listener, writesExpire bool) *mediaListener {
	m := &mediaListener{Listener: l, limits: c, writesExpire: writesExpire}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

func (c *Limits) limit(l net.Listener) *limitListener { return &limitListener{Listener: l, Limits: c} }

// ClampToFileLimit lowers a connection limit to what the process's limit of open
// files allows, at least 1. 0 (no limit) stays 0. With relays, each connection for media, which are at
// most half of all, may have a second file.
func ClampToFileLimit(limit int, withRelays bool) int {
	var files syscall.Rlimit
	if limit == 0 || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return limit
	}
	available := files.Cur - min(files.Cur, max(reservedFiles, files.Cur/8))
	if withRelays {
		available = available * 2 / 3
	}
	return int(max(1, min(uint64(limit), available)))
}

// FilesFor returns the limit of open files that allows a number of connections; see ClampToFileLimit.
// 0 (no limit) counts as the most that the settings allow by default.
func FilesFor(connections int, withRelays bool) uint64 {
	files := uint64(cmp.Or(connections, defaultConnections))
	if withRelays {
		files = (files*3 + 1) / 2
	}
	return max(files+reservedFiles, (files*8+6)/7)
}

// Accept returns the next connection within the limits.
func (c *limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		setTCPUserTimeout(conn)
		if admitted := c.admit(conn); admitted != nil {
			return admitted, nil
		}
		_ = conn.Close()
	}
}

// admit counts a connection, after waiting for a free slot if necessary. It
// returns nil if the address of the connection is at its limit.
func (c *limitListener) admit(conn net.Conn) *connection {
	var peer netip.Addr
	if remote, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		peer = remote.Addr().Unmap()
	}
	added := &connection{
		Conn:    conn,
		limits:  c.Limits,
		address: network.ClientPrefix(peer),
		limited: c.perAddress > 0 && peer.IsValid(),
		gone:    make(chan struct{}),
	}
	for _, p := range c.trusted {
		added.limited = added.limited && !p.Contains(peer)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	client := c.clients[added.address]
	if client == nil {
		client = &clientConnections{}
		c.clients[added.address] = client
	}
	added.client = client
	client.open++ // so that the entry is not deleted while this connection waits
	if added.limited && client.open > c.perAddress && !c.closeIdle(&client.connections) {
		c.releaseClient(added)
		c.refusals.Record(refusal.AddressConnections, "too many open connections of one address",
			"client", peer, "limit", c.perAddress)
		return nil
	}
	waited := false
	for c.max > 0 && c.open >= c.max && !c.closed && !c.closeIdle(&c.connections) {
		if !waited {
			c.refusals.Record(refusal.Connections, "too many open connections, new ones wait", "limit", c.max)
		}
		waited = true
		c.freed.Wait()
	}
	c.open++
	added.inAll, added.inOwn = c.connections.PushBack(added), client.connections.PushBack(added)
	c.markIdle(added)
	return added
}

// closeIdle closes the connection that has been idle longest. It reports whether
// there was one.
func (c *Limits) closeIdle(connections *connectionList) bool {
	victim := connections.longestIdle()
	if victim == nil {
		return false
	}
	c.remove(victim)
	_ = victim.Conn.Close()
	return true
}

func (c *Limits) markIdle(conn *connection) {
	if conn.inAll == nil || conn.idle {
		return
	}
	conn.idle = true
	c.connections.idle++
	c.connections.MoveToBack(conn.inAll)
	conn.client.connections.idle++
	conn.client.connections.MoveToBack(conn.inOwn)
}

func (c *Limits) markActive(conn *connection) {
	if conn.idle {
		conn.idle = false
		c.connections.idle--
		conn.client.connections.idle--
	}
}

// unlist removes a connection that cannot become idle again from the lists.
func (c *Limits) unlist(conn *connection) {
	c.markActive(conn)
	if conn.inAll != nil {
		c.connections.Remove(conn.inAll)
		conn.client.connections.Remove(conn.inOwn)
		conn.inAll, conn.inOwn = nil, nil
	}
}

// remove stops counting a connection. It may be called more than once.
func (c *Limits) remove(conn *connection) {
	if conn.closed {
		return
	}
	c.unlist(conn)
	if conn.media {
		c.media--
	}
	conn.closed = true
	close(conn.gone)
	c.open--
	c.releaseClient(conn)
	c.freed.Signal()
}

func (c *Limits) releaseClient(conn *connection) {
	if conn.client.open--; conn.client.open == 0 {
		delete(c.clients, conn.address)
	}
}

// countedOf returns the connection that a listener of this package has accepted, also below others,
// such as TLS; nil if another listener has accepted it.
func countedOf(conn net.Conn) *connection {
	for {
		upper, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			counted, _ := conn.(*connection)
			return counted
		}
		conn = upper.NetConn()
	}
}

// ConnState tracks idle connections; it is the ConnState hook of the http.Server.
func (c *Limits) ConnState(conn net.Conn, state http.ConnState) {
	counted := countedOf(conn)
	if counted == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateIdle:
		c.markIdle(counted)
		c.freed.Signal() // a waiting connection may replace it
	case http.StateActive:
		c.markActive(counted)
	case http.StateHijacked:
		c.unlist(counted)
		c.releaseSlots(counted.request) // HTTP/2, with more than one request, cannot be hijacked
		counted.hijacked.Store(true)
	}
}

// Close closes the listener and ends a waiting Accept.
func (c *limitListener) Close() error {
	c.mu.Lock()
	c.closed = true
	c.freed.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close closes the connection and frees its slot.
func (conn *connection) Close() error {
	conn.limits.mu.Lock()
	conn.limits.remove(conn)
	conn.limits.mu.Unlock()
	return conn.Conn.Close()
}

// mediaListener accepts media connections within the limits. A connection counts as idle
// until it has sent a packet, so that connections that send nothing give way to others. Media has
// at most half of all connections, because its connections never become idle again.
type mediaListener struct {
	net.Listener
	limits       *Limits
	writesExpire bool            // as those of HTTP
	ctx          context.Context // ends with Close
	cancel       context.CancelFunc
}

// Accept returns the next connection within the limits. It waits after an error that passes, because the media engine
// accepts no connection any more after an error.
func (l *mediaListener) Accept() (net.Conn, error) {
	failed := func(err error) {
		l.limits.refusals.Record(refusal.Connections, "accept a connection for media failed, trying again", "error", err)
	}
	for {
		conn, err := network.Accept(l.ctx, l.Listener, failed)
		if err != nil {
			return nil, err
		}
		counted := countedOf(conn)
		counted.hijacked.Store(!l.writesExpire)
		if l.limits.countMedia(counted) {
			return &mediaConnection{Conn: conn, counted: counted}, nil
		}
		l.limits.refusals.Record(refusal.Connections, "too many open connections for media", "limit", l.limits.max/2)
		_ = conn.Close()
	}
}

// Close closes the listener and ends a waiting Accept.
func (l *mediaListener) Close() error {
	l.cancel()
	return l.Listener.Close()
}

// countMedia counts a media connection. It reports whether it is within the share of media.
func (c *Limits) countMedia(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.max > 0 && c.media >= c.max/2 || conn.closed {
		return false
	}
	c.media++
	conn.media = true
	return true
}

type mediaConnection struct {
	net.Conn
	counted  *connection
	received int // bytes, up to minPacketBytes
}

// minPacketBytes is the length of the shortest packet that begins a media connection: two bytes
// of framing (RFC 4571) and the header of STUN (RFC 8489, section 5).
const minPacketBytes = 2 + 20

// Read reads from the connection, which counts as active from its first packet on.
func (c *mediaConnection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.received < minPacketBytes {
		if c.received += n; c.received >= minPacketBytes {
			limits := c.counted.limits
			limits.mu.Lock()
			limits.unlist(c.counted)
			limits.mu.Unlock()
		}
	}
	return n, err
}
