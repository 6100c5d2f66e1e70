// Package network defines which addresses count as one client in limits for each
// address.
package network

import "net/netip"

// ClientPrefix returns the prefix that counts as one client: the /32 of an IPv4
// address and the /64 of an IPv6 address, because one customer commonly has a
// whole /64. An IPv4 address that is mapped to IPv6 counts as IPv4. For an
// invalid address ClientPrefix returns the zero prefix.
func ClientPrefix(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
