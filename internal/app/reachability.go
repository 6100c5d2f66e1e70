package app

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// lookupTimeout bounds the look-up of the public host name at the start.
const lookupTimeout = 3 * time.Second

// warnOfUnreachableMedia logs one warning if the pages are reached under another address than
// this machine's, and media is announced at an address that browsers there cannot reach.
func (a *App) warnOfUnreachableMedia(ctx context.Context) {
	public, err := url.Parse(a.BaseURL())
	if err != nil {
		return
	}
	host := strings.ToLower(public.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		addresses = nil
	}
	announced := a.engine.AnnouncedIPs()
	if !isUnreachable(announced, addresses) {
		return
	}
	a.log.Warn("browsers cannot reach the media address: set --rtc-node-ip (PARLEY_RTC_NODE_IP) to the address at "+
		"which browsers reach this machine, because otherwise nobody hears or sees anybody",
		"media_address", announced, "url", a.BaseURL())
}

// isUnreachable reports whether browsers that reach a host at its addresses cannot reach any of
// the announced addresses: all are of this machine only, or all are private while the host is
// public. The addresses of the host are empty if its name is not known here.
func isUnreachable(announced, host []netip.Addr) bool {
	all := func(ips []netip.Addr, is func(netip.Addr) bool) bool {
		return !slices.ContainsFunc(ips, func(ip netip.Addr) bool { return !is(ip.Unmap()) })
	}
	if all(announced, netip.Addr.IsLoopback) {
		return len(host) == 0 || !all(host, netip.Addr.IsLoopback)
	}
	isLocal := func(ip netip.Addr) bool { return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() }
	return len(host) > 0 && all(announced, isLocal) && all(host, func(ip netip.Addr) bool { return !isLocal(ip) })
}
