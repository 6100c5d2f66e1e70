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

// spareFiles is how many files the process keeps open besides connections at
// least: the database, media, webhooks.
const spareFiles = 256

// connections bounds how many connections are open, in all and for each
// address. At a bound a new connection takes the place of the one that has been
// idle for longest, so that idle ones keep nobody out. Where none is idle, one
// above the bound of its address is closed, and one above the bound in all
// waits until another ends. Addresses of trusted proxies have no bound of their
// own: everybody comes from them.
type connections struct {
	net.Listener
	max, perAddress int // 0: no bound
	trusted         []netip.Prefix
	refusals        *refusal.Recorder

	mu      sync.Mutex
	freed   *sync.Cond
	closed  bool
	open    int
	idle    *list.List // of *connection, the longest idle first
	clients map[netip.Prefix]*addressConnections
}

// addressConnections are those of one network.
type addressConnections struct {
	open int
	idle *list.List // of *connection, the longest idle first
}

// connection is one that counts until it is closed.
type connection struct {
	net.Conn
	of       *connections
	client   netip.Prefix
	bounded  bool // its address has a bound
	all, own *list.Element
	hijacked bool
	closed   bool
}

func newConnections(l net.Listener, most, perAddress int, trusted []netip.Prefix, refusals *refusal.Recorder) *connections {
	c := &connections{Listener: l, max: most, perAddress: perAddress, trusted: trusted, refusals: refusals,
		idle: list.New(), clients: map[netip.Prefix]*addressConnections{}}
	c.freed = sync.NewCond(&c.mu)
	return c
}

// allowedConnections lowers a bound to what the limit of open files leaves.
func allowedConnections(most int) int {
	var files syscall.Rlimit
	if most == 0 || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return most
	}
	left := files.Cur - min(files.Cur, max(spareFiles, files.Cur/8))
	return int(max(1, min(uint64(most), left)))
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		limitUnsent(conn)
		if admitted := c.admit(conn); admitted != nil {
			return admitted, nil
		}
		_ = conn.Close()
	}
}

// admit counts a connection; nil when its address has too many.
func (c *connections) admit(conn net.Conn) net.Conn {
	var peer netip.Addr
	if from, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		peer = from.Addr().Unmap()
	}
	added := &connection{Conn: conn, of: c, client: network.Of(peer), bounded: c.perAddress > 0 && peer.IsValid()}
	for _, p := range c.trusted {
		added.bounded = added.bounded && !p.Contains(peer)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	client := c.clients[added.client]
	if client == nil {
		client = &addressConnections{idle: list.New()}
		c.clients[added.client] = client
	}
	client.open++ // so that it is not forgotten meanwhile
	if added.bounded && client.open > c.perAddress && !c.closeIdle(client.idle) {
		c.forget(added.client, client)
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
	c.rest(added)
	return added
}

// closeIdle closes the connection that has been idle for longest.
func (c *connections) closeIdle(idle *list.List) bool {
	first := idle.Front()
	if first == nil {
		return false
	}
	victim := first.Value.(*connection)
	c.remove(victim)
	_ = victim.Conn.Close()
	return true
}

// rest notes that a connection is idle.
func (c *connections) rest(conn *connection) {
	if conn.all == nil && !conn.closed {
		conn.all, conn.own = c.idle.PushBack(conn), c.clients[conn.client].idle.PushBack(conn)
	}
}

// wake notes that it is not.
func (c *connections) wake(conn *connection) {
	if conn.all != nil {
		c.idle.Remove(conn.all)
		c.clients[conn.client].idle.Remove(conn.own)
		conn.all, conn.own = nil, nil
	}
}

// remove counts a connection no more.
func (c *connections) remove(conn *connection) {
	if conn.closed {
		return
	}
	c.wake(conn)
	conn.closed = true
	c.open--
	c.forget(conn.client, c.clients[conn.client])
	c.freed.Signal()
}

func (c *connections) forget(of netip.Prefix, client *addressConnections) {
	if client.open--; client.open == 0 {
		delete(c.clients, of)
	}
}

// state is for http.Server.ConnState.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	counted, ok := conn.(*connection)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateIdle:
		c.rest(counted)
		c.freed.Signal() // its place is to be had
	case http.StateHijacked:
		counted.hijacked = true
		c.wake(counted)
	case http.StateActive:
		c.wake(counted)
	}
}

// Close implements net.Listener; who waits in Accept goes on.
func (c *connections) Close() error {
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
		conn.of.refusals.Record(refusal.SlowReaders, "a response was not read in time", "client", conn.client.Addr())
		if tcp, ok := conn.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	return n, err
}

func (conn *connection) isHijacked() bool {
	conn.of.mu.Lock()
	defer conn.of.mu.Unlock()
	return conn.hijacked
}

// Close implements net.Conn.
func (conn *connection) Close() error {
	conn.of.mu.Lock()
	conn.of.remove(conn)
	conn.of.mu.Unlock()
	return conn.Conn.Close()
}
