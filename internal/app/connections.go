package app

import (
	"container/list"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"parley/internal/network"
	"parley/internal/refusal"
)

// reservedFiles is the minimum number of file descriptors that are kept for other
// uses than client connections: the database, media, webhooks.
const reservedFiles = 256

// limitListener limits the number of open connections, in total and per address.
// At a limit a new connection replaces the one that has been idle longest. If
// none is idle, a connection above the limit of its address is closed, and a
// connection above the total limit waits until another one ends. Addresses of
// trusted proxies have no limit of their own, because all clients share them.
type limitListener struct {
	net.Listener
	max, perAddress int // 0 for no limit
	trusted         []netip.Prefix
	refusals        *refusal.Recorder

	mu      sync.Mutex
	freed   *sync.Cond
	closed  bool
	open    int
	idle    *list.List // of *connection, the longest idle first
	clients map[netip.Prefix]*clientConnections
}

// clientConnections are the connections of one client network.
type clientConnections struct {
	open int
	idle *list.List // of *connection, the longest idle first
}

// connection counts against the limits until it is closed.
type connection struct {
	net.Conn
	listener                       *limitListener
	client                         netip.Prefix
	limited                        bool // the limit per address applies to it
	idleElement, clientIdleElement *list.Element
	hijacked                       bool
	closed                         bool
}

func newLimitListener(l net.Listener, limit, perAddress int, trusted []netip.Prefix,
	refusals *refusal.Recorder) *limitListener {
	c := &limitListener{Listener: l, max: limit, perAddress: perAddress, trusted: trusted, refusals: refusals,
		idle: list.New(), clients: map[netip.Prefix]*clientConnections{}}
	c.freed = sync.NewCond(&c.mu)
	return c
}

// clampToFileLimit lowers a connection limit to what the process's limit of open
// files allows, at least 1. 0 (no limit) stays 0.
func clampToFileLimit(limit int) int {
	var files syscall.Rlimit
	if limit == 0 || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return limit
	}
	available := files.Cur - min(files.Cur, max(reservedFiles, files.Cur/8))
	return int(max(1, min(uint64(limit), available)))
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
func (c *limitListener) admit(conn net.Conn) net.Conn {
	var peer netip.Addr
	if remote, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		peer = remote.Addr().Unmap()
	}
	added := &connection{Conn: conn, listener: c, client: network.ClientPrefix(peer),
		limited: c.perAddress > 0 && peer.IsValid()}
	for _, p := range c.trusted {
		added.limited = added.limited && !p.Contains(peer)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	client := c.clients[added.client]
	if client == nil {
		client = &clientConnections{idle: list.New()}
		c.clients[added.client] = client
	}
	client.open++ // so that the entry is not deleted while this connection waits
	if added.limited && client.open > c.perAddress && !c.closeIdle(client.idle) {
		c.releaseClient(added.client, client)
		c.refusals.Record(refusal.AddressConnections, "too many open connections of one address",
			"client", peer, "limit", c.perAddress)
		return nil
	}
	waited := false
	for c.max > 0 && c.open >= c.max && !c.closed && !c.closeIdle(c.idle) {
		if !waited {
			c.refusals.Record(refusal.Connections, "too many open connections, new ones wait", "limit", c.max)
		}
		waited = true
		c.freed.Wait()
	}
	c.open++
	c.markIdle(added)
	return added
}

// closeIdle closes the connection that has been idle longest. It reports whether
// there was one.
func (c *limitListener) closeIdle(idle *list.List) bool {
	first := idle.Front()
	if first == nil {
		return false
	}
	victim := first.Value.(*connection)
	c.remove(victim)
	_ = victim.Conn.Close()
	return true
}

// markIdle adds a connection to the idle lists.
func (c *limitListener) markIdle(conn *connection) {
	if conn.idleElement == nil && !conn.closed {
		conn.idleElement = c.idle.PushBack(conn)
		conn.clientIdleElement = c.clients[conn.client].idle.PushBack(conn)
	}
}

// markActive removes a connection from the idle lists.
func (c *limitListener) markActive(conn *connection) {
	if conn.idleElement != nil {
		c.idle.Remove(conn.idleElement)
		c.clients[conn.client].idle.Remove(conn.clientIdleElement)
		conn.idleElement, conn.clientIdleElement = nil, nil
	}
}

// remove stops counting a connection. It may be called more than once.
func (c *limitListener) remove(conn *connection) {
	if conn.closed {
		return
	}
	c.markActive(conn)
	conn.closed = true
	c.open--
	c.releaseClient(conn.client, c.clients[conn.client])
	c.freed.Signal()
}

func (c *limitListener) releaseClient(prefix netip.Prefix, client *clientConnections) {
	if client.open--; client.open == 0 {
		delete(c.clients, prefix)
	}
}

// connState tracks idle connections; it is the ConnState hook of the http.Server.
func (c *limitListener) connState(conn net.Conn, state http.ConnState) {
	counted, ok := conn.(*connection)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateIdle:
		c.markIdle(counted)
		c.freed.Signal() // a waiting connection may replace it
	case http.StateHijacked:
		counted.hijacked = true
		c.markActive(counted)
	case http.StateActive:
		c.markActive(counted)
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

// Write writes to the client. After a write timeout the kernel discards unsent
// data when the connection is closed, instead of buffering it for a client that
// does not read.
func (conn *connection) Write(b []byte) (int, error) {
	n, err := conn.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && !conn.isHijacked() {
		conn.listener.refusals.Record(refusal.SlowReaders, "a response was not read in time",
			"client", conn.client.Addr())
		if tcp, ok := conn.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	return n, err
}

func (conn *connection) isHijacked() bool {
	conn.listener.mu.Lock()
	defer conn.listener.mu.Unlock()
	return conn.hijacked
}

// Close closes the connection and frees its slot.
func (conn *connection) Close() error {
	conn.listener.mu.Lock()
	conn.listener.remove(conn)
	conn.listener.mu.Unlock()
	return conn.Conn.Close()
}
