package connlimit

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/network"
	"parley/internal/refusal"
)

const (
	// maxRequestsPerAddress is the number of requests of one address, or of one IPv6 network
	// of 64 bits, that are in progress at once. Further ones wait.
	maxRequestsPerAddress = 256
	// maxRequestsPerSite is the same for the IPv6 network of a site (network.SitePrefix).
	maxRequestsPerSite = 4 * maxRequestsPerAddress
	// slotTimeout is how long a request waits. Then it is served nevertheless, because the others
	// may be those of a school on a slow line.
	slotTimeout = 30 * time.Second
	// bodyTimeout is the time in which a body of at most httpx.MaxBodySize has to arrive.
	bodyTimeout = 10 * time.Second
)

// requestSlots are the requests in progress of one network.
type requestSlots struct {
	network netip.Prefix
	max     int
	used    int
	waiting list.List // of chan struct{}, closed when the request has a slot
}

// heldSlots are the slots that a request has: one in each of its networks.
type heldSlots struct {
	slots [2]*requestSlots
	n     int
}

func (h *heldSlots) add(s *requestSlots) {
	h.slots[h.n] = s
	h.n++
}

type connectionKey struct{}

// WithConnection gives the requests of a connection access to it; it is the ConnContext hook of
// the http.Server.
func WithConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, countedOf(conn))
}

// LimitRequests limits the requests in progress of each client network. A connection whose
// request waits gives way to new connections like an idle one, so that one network can neither
// take all connections with requests that it does not finish nor harm others that share its
// address when the server has room.
func (c *Limits) LimitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(*connection)
		if conn != nil && conn.limited {
			held := &heldSlots{}
			defer c.endRequest(conn, held)
			if !c.beginRequest(r.Context(), conn, held) {
				return
			}
		}
		if r.ProtoMajor == 2 {
			stream := newStreamWriter(w, c)
			defer stream.extendDeadline() // net/http sends the rest of the response after that
			w = stream
		}
		if r.ContentLength != 0 && r.ContentLength <= httpx.MaxBodySize {
			// The error is ignored because it means that the connection is closed.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// beginRequest waits until the request of a connection has a slot in each of its networks, or has
// waited for slotTimeout. It returns false if the client does not wait any more, or if the
// connection gave way to others meanwhile.
func (c *Limits) beginRequest(ctx context.Context, conn *connection, held *heldSlots) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.request = held
	conn.requests++
	if c.acquireSlots(ctx, conn, held) && ctx.Err() == nil {
		c.markActive(conn)
		return true
	}
	if conn.closed {
		c.refusals.Record(refusal.AddressConnections, "too many requests in progress of one address",
			"client", conn.address.Addr(), "limit", maxRequestsPerAddress)
	}
	return false
}

// endRequest releases the slots of a request.
func (c *Limits) endRequest(conn *connection, held *heldSlots) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releaseSlots(held)
	conn.requests--
	c.markIdleIfWaiting(conn)
}

// markIdleIfWaiting marks a connection as idle if it has requests and all of them wait.
func (c *Limits) markIdleIfWaiting(conn *connection) {
	if conn.requests > 0 && conn.requests == conn.waiting {
		c.markIdle(conn)
		c.freed.Signal() // a waiting connection may replace it
	}
}

func (c *Limits) acquireSlots(ctx context.Context, conn *connection, held *heldSlots) bool {
	acquired := c.acquireSlot(ctx, conn, held, conn.address, maxRequestsPerAddress)
	if address := conn.address.Addr(); acquired && address.Is6() {
		acquired = c.acquireSlot(ctx, conn, held, network.SitePrefix(address), maxRequestsPerSite)
	}
	return acquired
}

func (c *Limits) acquireSlot(
	ctx context.Context, conn *connection, held *heldSlots, network netip.Prefix, limit int,
) bool {
	s := c.slots[network]
	if s == nil {
		s = &requestSlots{network: network, max: limit}
		c.slots[network] = s
	}
	if s.used < s.max {
		s.used++
		held.add(s)
		return true
	}
	turn := make(chan struct{})
	place := s.waiting.PushBack(turn)
	conn.waiting++
	c.markIdleIfWaiting(conn)
	c.mu.Unlock()
	timeout := time.NewTimer(slotTimeout)
	defer timeout.Stop()
	select {
	case <-turn:
	case <-conn.gone:
	case <-ctx.Done():
	case <-timeout.C:
	}
	c.mu.Lock()
	select {
	case <-turn:
		held.add(s)
	default:
		s.waiting.Remove(place)
		c.forgetUnused(s)
	}
	conn.waiting--
	return !conn.closed && ctx.Err() == nil
}

// releaseSlots gives the slots of a request to others that wait for them. It does nothing if the
// request has released them before, and accepts nil.
func (c *Limits) releaseSlots(held *heldSlots) {
	if held == nil {
		return
	}
	for _, s := range held.slots[:held.n] {
		if next := s.waiting.Front(); next != nil {
			close(s.waiting.Remove(next).(chan struct{}))
			continue
		}
		s.used--
		c.forgetUnused(s)
	}
	held.n = 0
}

func (c *Limits) forgetUnused(s *requestSlots) {
	if s.used == 0 && s.waiting.Len() == 0 {
		delete(c.slots, s.network)
	}
}
