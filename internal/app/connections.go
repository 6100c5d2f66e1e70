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

// reservedFiles is how many files the process keeps open besides connections at
// least: the database, media, webhooks.
const reservedFiles = 256

// limitListener bounds how many connections are open, in all and for each
// address. At a bound a new connection takes the place of the one that has been
// idle for longest, so that idle ones keep nobody out. Where none is idle, one
// above the bound of its address is closed, and one above the bound in all
// waits until another ends. Addresses of trusted proxies have no bound of their
// own: everybody comes from them.
type limitListener struct {
	net.Listener
	max, perAddress int // 0: no bound
	trusted         []netip.Prefix
	refusals        *refusal.Recorder

	mu      sync.Mutex
	freed   *sync.Cond
	closed  bool
	open    int
	idle    *list.List // of *connection, the longest idle first
	clients map[netip.Prefix]*clientConnections
}

// clientConnections are those of one network.
type clientConnections struct {
	open int
	idle *list.List // of *connection, the longest idle first
}

// connection is one that counts until it is closed.
type connection struct {
	net.Conn
	listener                       *limitListener
	client                         netip.Prefix
	limited                        bool // its address has a bound
	idleElement, clientIdleElement *list.Element
	hijacked                       bool
	closed                         bool
}

func newLimitListener(l net.Listener, most, perAddress int, trusted []netip.Prefix, refusals *refusal.Recorder) *limitListener {
	c := &limitListener{Listener: l, max: most, perAddress: perAddress, trusted: trusted, refusals: refusals,
		idle: list.New(), clients: map[netip.Prefix]*clientConnections{}}
	c.freed = sync.NewCond(&c.mu)
	return c
}

// clampToFileLimit lowers a bound to what the limit of open files leaves.
func clampToFileLimit(most int) int {
	var files syscall.Rlimit
	if most == 0 || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return most
	}
	left := files.Cur - min(files.Cur, max(reservedFiles, files.Cur/8))
	return int(max(1, min(uint64(most), left)))
}

// Accept implements net.Listener.
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

// admit counts a connection; nil when its address has too many.
func (c *limitListener) admit(conn net.Conn) net.Conn {
	var peer netip.Addr
	if from, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		peer = from.Addr().Unmap()
	}
	added := &connection{Conn: conn, listener: c, client: network.ClientPrefix(peer), limited: c.perAddress > 0 && peer.IsValid()}
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
	client.open++ // so that it is not forgotten meanwhile
	if added.limited && client.open > c.perAddress && !c.closeIdle(client.idle) {
		c.releaseClient(added.client, client)
		c.refusals.Record(refusal.AddressConnections, "too many open connections of one address", "client", peer, "bound", c.perAddress)
		return nil
	}
	waited := false
	for c.max > 0 && c.open >= c.max && !c.closed && !c.closeIdle(c.idle) {
		if !waited {
			c.refusals.Record(refusal.Connections, "too many open connections, new ones wait", "bound", c.max)
		}
		waited = true
		c.freed.Wait()
	}
	c.open++
	c.markIdle(added)
	return added
}

// closeIdle closes the connection that has been idle for longest.
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

// markIdle notes that a connection is idle.
func (c *limitListener) markIdle(conn *connection) {
	if conn.idleElement == nil && !conn.closed {
		conn.idleElement, conn.clientIdleElement = c.idle.PushBack(conn), c.clients[conn.client].idle.PushBack(conn)
	}
}

// markActive notes that it is not.
func (c *limitListener) markActive(conn *connection) {
	if conn.idleElement != nil {
		c.idle.Remove(conn.idleElement)
		c.clients[conn.client].idle.Remove(conn.clientIdleElement)
		conn.idleElement, conn.clientIdleElement = nil, nil
	}
}

// remove counts a connection no more.
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

func (c *limitListener) releaseClient(of netip.Prefix, client *clientConnections) {
	if client.open--; client.open == 0 {
		delete(c.clients, of)
	}
}

// connState is for http.Server.ConnState.
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
		c.freed.Signal() // its place is to be had
	case http.StateHijacked:
		counted.hijacked = true
		c.markActive(counted)
	case http.StateActive:
		c.markActive(counted)
	}
}

// Close implements net.Listener; who waits in Accept goes on.
func (c *limitListener) Close() error {
	c.mu.Lock()
	c.closed = true
	c.freed.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Write implements net.Conn. What a reader did not take in time is dropped
// with its connection, instead of waiting in the kernel.
func (conn *connection) Write(b []byte) (int, error) {
	n, err := conn.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && !conn.isHijacked() {
		conn.listener.refusals.Record(refusal.SlowReaders, "a response was not read in time", "client", conn.client.Addr())
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

// Close implements net.Conn.
func (conn *connection) Close() error {
	conn.listener.mu.Lock()
	conn.listener.remove(conn)
	conn.listener.mu.Unlock()
	return conn.Conn.Close()
}
