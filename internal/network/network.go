// Package network defines which addresses count as one client in limits for each
// address, and which addresses browsers reach. It also accepts connections.
package network

import "net/netip"

// ClientPrefix returns the prefix that counts as one client: the /32 of an IPv4
// address and the /64 of an IPv6 address, because one customer commonly has a
// whole /64. An IPv4 address that is mapped to IPv6 counts as IPv4. For an
// invalid address ClientPrefix returns the zero prefix.
func ClientPrefix(a netip.Addr) netip.Prefix { return prefix(a, 64) }

// SitePrefix returns the prefix that counts as one site, such as a household: the /32 of
// an IPv4 address and the /48 of an IPv6 address, the largest network that a customer of
// a provider commonly has (https://www.rfc-editor.org/rfc/rfc6177). Otherwise it is like
// ClientPrefix.
func SitePrefix(a netip.Addr) netip.Prefix { return prefix(a, 48) }

func prefix(a netip.Addr, bits6 int) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = bits6
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
