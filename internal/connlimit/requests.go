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

type connectionKey struct{}

// WithConnection gives the requests of a connection access to it; it is the ConnContext hook of
// the http.Server.
func WithConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// LimitRequests limits the requests in progress of each client network. A connection whose
// request waits gives way to new connections like an idle one, so that one network can neither
// take all connections with requests that it does not finish nor harm others that share its
// address when the server has room.
func (c *Limits) LimitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, ok := r.Context().Value(connectionKey{}).(*connection)
		if ok && conn.limited {
			if !c.acquireSlots(r.Context(), conn) {
				c.refusals.Record(refusal.AddressConnections, "too many requests in progress of one address",
					"client", conn.address.Addr(), "limit", maxRequestsPerAddress)
				return // the connection is closed
			}
			defer func() {
				c.mu.Lock()
				c.releaseSlots(conn)
				c.mu.Unlock()
			}()
		}
		if r.ContentLength != 0 && r.ContentLength <= httpx.MaxBodySize {
			// The error is ignored because it means that the connection is closed.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// acquireSlots waits until the request of a connection has a slot in each of its networks, or has
// waited for slotTimeout. It returns false if the connection was closed meanwhile.
func (c *Limits) acquireSlots(ctx context.Context, conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	acquired := c.acquireSlot(ctx, conn, conn.address, maxRequestsPerAddress)
	if address := conn.address.Addr(); acquired && address.Is6() {
		acquired = c.acquireSlot(ctx, conn, network.SitePrefix(address), maxRequestsPerSite)
	}
	if !acquired {
		c.releaseSlots(conn)
	}
	return acquired
}

func (c *Limits) acquireSlot(
	ctx context.Context, conn *connection, network netip.Prefix, limit int,
) bool {
	s := c.slots[network]
	if s == nil {
		s = &requestSlots{network: network, max: limit}
		c.slots[network] = s
	}
	if s.used < s.max {
		s.used++
		conn.holds = append(conn.holds, s)
		return true
	}
	turn := make(chan struct{})
	place := s.waiting.PushBack(turn)
	c.markIdle(conn)
	c.freed.Signal() // a waiting connection may replace it
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
		conn.holds = append(conn.holds, s)
	default:
		s.waiting.Remove(place)
		c.forgetUnused(s)
	}
	c.markActive(conn)
	return !conn.closed && ctx.Err() == nil
}

// releaseSlots gives the slots of a connection to requests that wait for them.
func (c *Limits) releaseSlots(conn *connection) {
	for _, s := range conn.holds {
		if next := s.waiting.Front(); next != nil {
			close(s.waiting.Remove(next).(chan struct{}))
			continue
		}
		s.used--
		c.forgetUnused(s)
	}
	conn.holds = nil
}

func (c *Limits) forgetUnused(s *requestSlots) {
	if s.used == 0 && s.waiting.Len() == 0 {
		delete(c.slots, s.network)
	}
}
