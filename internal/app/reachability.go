package app

import (
	"context"
	"net"
	"net/url"
	"strings"
	"time"

	"parley/internal/network"
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
	if !network.IsUnreachable(announced, addresses) {
		return
	}
	a.log.Warn("browsers cannot reach the media address: set --rtc-node-ip (PARLEY_RTC_NODE_IP) to the address at "+
		"which browsers reach this machine, because otherwise nobody hears or sees anybody",
		"media_address", announced, "url", a.BaseURL())
}
