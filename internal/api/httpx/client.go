package httpx

import (
	"net/http"
	"net/netip"
	"strings"
)

// clientAddr returns the nearest address that is not a trusted proxy. If the
// peer is not a trusted proxy, it returns the peer and ignores the headers.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap()
	if len(trusted) == 0 || !inPrefixes(addr, trusted) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := strings.TrimSpace(hops[i])
		if hop == "" {
			continue // RFC 9110, section 5.6.1: empty elements of a list count for nothing
		}
		a, err := parseHop(hop)
		if err != nil {
			return addr
		}
		addr = a
		if !inPrefixes(addr, trusted) {
			return addr
		}
	}
	return addr
}

// HasUntrustedProxy reports whether a request came through a proxy that is not trusted, so that the
// server takes the proxy for its client.
func HasUntrustedProxy(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && r.Header.Get("X-Forwarded-For") != "" && !inPrefixes(peer.Addr().Unmap(), trusted)
}

// LacksClientAddr reports whether a request came through a trusted proxy that does not say for whom, so that the server
// takes the proxy for its client.
func LacksClientAddr(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && inPrefixes(peer.Addr().Unmap(), trusted) &&
		strings.Trim(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ", \t") == ""
}

func inPrefixes(a netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
