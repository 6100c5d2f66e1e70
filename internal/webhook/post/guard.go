package post

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Guard decides which addresses may be connected to. The zero Guard allows only
// public addresses, so that a webhook_url cannot reach hosts that are only
// reachable from this machine (SSRF).
type Guard struct {
	AllowPrivate bool
	Prefixes     []netip.Prefix // ranges that are always allowed
	Hosts        []string       // host names that are always allowed, in lower case
}

// allowsHost reports whether the host name of a URL is one of Hosts.
func (g Guard) allowsHost(name string) bool {
	return slices.Contains(g.Hosts, strings.ToLower(strings.TrimSuffix(name, ".")))
}

// check returns nil if the address may be connected to, and otherwise an error
// that gives the reason.
func (g Guard) check(a netip.Addr) error {
	plain := a.WithZone("").Unmap()
	if g.AllowPrivate || slices.ContainsFunc(g.Prefixes, func(p netip.Prefix) bool { return p.Contains(plain) }) {
		return nil
	}
	if reason := nonPublicReason(plain); reason != "" {
		return fmt.Errorf("the address %s is refused: it is %s, which the operator can allow with --webhook-allow", plain,
			reason)
	}
	return nil
}

// nonPublicRanges are the ranges that are not globally reachable, from the IANA
// registries of special-purpose addresses (RFC 6890 and later).
var nonPublicRanges = []struct {
	prefix netip.Prefix
	reason string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a carrier (CGNAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::/96"), "unspecified, this machine or IPv4-compatible"},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "translated IPv4"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a local NAT64"},
	{netip.MustParsePrefix("100::/64"), "for discarding"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
	{netip.MustParsePrefix("5f00::/16"), "for segment routing"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
	teredo = netip.MustParsePrefix("2001::/32")
)

// nonPublicReason describes an address that is not public; it returns "" for a
// public one. An IPv6 address with an embedded IPv4 address is public if that
// one is.
func nonPublicReason(a netip.Addr) string {
	for _, s := range nonPublicRanges {
		if s.prefix.Contains(a) {
			return s.reason
		}
	}
	for _, inner := range embeddedIPv4(a) {
		if reason := nonPublicReason(inner); reason != "" {
			return "a way to " + inner.String() + ", which is " + reason
		}
	}
	return ""
}

// embeddedIPv4 returns the IPv4 addresses that are embedded in an IPv6 address.
func embeddedIPv4(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	v4 := func(n uint32) netip.Addr { return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n))) }
	switch {
	case nat64.Contains(a):
		return []netip.Addr{v4(binary.BigEndian.Uint32(b[12:]))}
	case sixTo4.Contains(a):
		return []netip.Addr{v4(binary.BigEndian.Uint32(b[2:]))}
	case teredo.Contains(a): // the server, and the client behind a NAT with all bits inverted
		return []netip.Addr{v4(binary.BigEndian.Uint32(b[4:])), v4(^binary.BigEndian.Uint32(b[12:]))}
	}
	return nil
}
