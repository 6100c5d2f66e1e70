// Package network says which addresses count as one client wherever something
// is limited per address.
package network

import "net/netip"

// ClientPrefix returns the network that an address is limited as: an IPv4 address alone,
// an IPv6 address with its /64, because one customer commonly has all of it.
// IPv4 in IPv6 form is IPv4. ClientPrefix an invalid address it returns the zero prefix.
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
