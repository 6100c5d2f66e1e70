package network

import (
	"net/netip"
	"slices"
)

// Browsers are some of the browsers that reach a host.
type Browsers int

// The browsers that Unreachable returns.
const (
	NoBrowsers  Browsers = iota
	WithoutIPv6          // browsers that have IPv4 only
	WithoutIPv4          // browsers that have IPv6 only
	AllBrowsers
)

// Unreachable returns the browsers that reach a host at its addresses and cannot reach any of the announced addresses.
// No browser of another machine reaches loopback addresses. If the addresses of the host in one family (IPv4 or IPv6)
// are public, its announced address must be, too. A host without an announced IPv6 address is reachable, because
// browsers with IPv6 have IPv4, too. The addresses of the host are empty if its name is not known here.
func Unreachable(announced, host []netip.Addr) Browsers {
	if all(announced, netip.Addr.IsLoopback) {
		if len(host) == 0 || !all(host, netip.Addr.IsLoopback) {
			return AllBrowsers
		}
		return NoBrowsers
	}
	announced4, announced6 := split(announced)
	host4, host6 := split(host)
	fails := func(announced, host []netip.Addr) bool {
		return len(host) > 0 && all(host, IsPublic) && all(announced, isLocal)
	}
	fails4, fails6 := fails(announced4, host4), fails(announced6, host6)
	switch {
	case all(announced, isLocal) && (fails4 || fails6 && len(host4) == 0):
		return AllBrowsers
	case fails4:
		return WithoutIPv6
	case fails6 && len(announced6) > 0:
		return WithoutIPv4
	}
	return NoBrowsers
}

// IsPublic reports whether an address can be reached from other networks.
func IsPublic(ip netip.Addr) bool { return !isLocal(ip.Unmap()) }

func isLocal(ip netip.Addr) bool { return IsPrivate(ip) || ip.IsLoopback() || ip.IsLinkLocalUnicast() }

// carrierPrefix has the addresses behind the NAT of a provider (RFC 6598).
var carrierPrefix = netip.MustParsePrefix("100.64.0.0/10")

// IsPrivate reports whether an address is one of a private network, or one behind the NAT of a provider.
func IsPrivate(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsPrivate() || carrierPrefix.Contains(ip)
}

// all reports whether all addresses are of a kind.
func all(ips []netip.Addr, is func(netip.Addr) bool) bool {
	return !slices.ContainsFunc(ips, func(ip netip.Addr) bool { return !is(ip.Unmap()) })
}

// split returns the addresses of each family.
func split(ips []netip.Addr) (ipv4, ipv6 []netip.Addr) {
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is4() {
			ipv4 = append(ipv4, ip)
		} else {
			ipv6 = append(ipv6, ip)
		}
	}
	return ipv4, ipv6
}
