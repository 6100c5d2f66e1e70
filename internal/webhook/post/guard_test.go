package post

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

func TestGuard_Addresses(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.168.1.1", "198.18.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::ffff:0:127.0.0.1",
		"fe80::1", "fe80::1%eth0", "fc00::1", "fdff::1", "fec0::1", "ff02::1", "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::1", "64:ff9b:1:2::8.8.8.8",
		"2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::", "2001:0:a00:1::", "2001:0:808:808:0:0:80ff:fffe", "100::1", "2001:db8::1",
	} {
		if err := (Guard{}).check(netip.MustParseAddr(refused)); err == nil {
			t.Errorf("check %s: got no error, want it refused", refused)
		}
		if err := (Guard{AllowPrivate: true}).check(netip.MustParseAddr(refused)); err != nil {
			t.Errorf("check %s with private addresses allowed: got error %v, want none", refused, err)
		}
	}
	for _, public := range []string{"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255",
		"100.128.0.0", "172.15.255.255", "172.32.0.0",
		"192.167.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
		"2001:0:808:808:0:0:f7f7:f7f7"} {
		if err := (Guard{}).check(netip.MustParseAddr(public)); err != nil {
			t.Errorf("check the public address %s: got error %v, want none", public, err)
		}
	}
	some := Guard{Prefixes: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}}
	for address, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false,
		"fd00::1": true, "127.0.0.1": false, "64:ff9b::10.1.2.3": false} {
		if err := some.check(netip.MustParseAddr(address)); (err == nil) != want {
			t.Errorf("check %s: got error %v, want allowed %t", address, err, want)
		}
	}
}

// FuzzGuard checks that an IPv6 address with an embedded non-public IPv4 address
// is refused, and that every allowed address is public according to the standard
// library.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"\x7f\x00\x00\x01", "\x08\x08\x08\x08", "\xa9\xfe\xa9\xfe", "0123456789abcdef",
		"\x20\x02\x0a\x00\x00\x010123456789"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		err := (Guard{}).check(a)
		plain := a.Unmap()
		if err == nil && (!plain.IsGlobalUnicast() || plain.IsPrivate() || plain.IsLoopback()) {
			t.Fatalf("check %s: got no error, want it refused", a)
		}
		if !plain.Is4() {
			return
		}
		v4 := plain.As4()
		n := binary.BigEndian.Uint32(v4[:])
		turned := binary.BigEndian.AppendUint32(nil, ^n)
		for _, written := range [][]byte{
			append([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"), v4[:]...),
			append([]byte("\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00"), v4[:]...),
			append(append([]byte("\x20\x02"), v4[:]...), "0123456789"...),
			append([]byte("\x20\x01\x00\x00\x08\x08\x08\x08\x00\x00\x00\x00"), turned...),
			append(append([]byte("\x20\x01\x00\x00"), v4[:]...), "\x00\x00\x00\x00\xf7\xf7\xf7\xf7"...),
		} {
			b, _ := netip.AddrFromSlice(written)
			if got := (Guard{}).check(b); (got == nil) != (err == nil) {
				t.Fatalf("check %s: got error %v, want the result of %s: %v", b, got, a, err)
			}
		}
	})
}
