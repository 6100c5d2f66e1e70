package network

import (
	"net/netip"
	"slices"
)

// IsUnreachable reports whether browsers that reach a host at its addresses cannot reach any of
// the announced addresses: all are of this machine only, or all are private while the host is
// public. The addresses of the host are empty if its name is not known here.
func IsUnreachable(announced, host []netip.Addr) bool {
	all := func(ips []netip.Addr, is func(netip.Addr) bool) bool {
		return !slices.ContainsFunc(ips, func(ip netip.Addr) bool { return !is(ip.Unmap()) })
	}
	if all(announced, netip.Addr.IsLoopback) {
		return len(host) == 0 || !all(host, netip.Addr.IsLoopback)
	}
	isLocal := func(ip netip.Addr) bool { return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() }
	return len(host) > 0 && all(announced, isLocal) && all(host, func(ip netip.Addr) bool { return !isLocal(ip) })
}
