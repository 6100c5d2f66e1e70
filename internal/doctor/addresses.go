package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"parley/internal/config"
	"parley/internal/media"
	"parley/internal/network"
)

func checkMediaAddress(ctx context.Context, cfg config.Config) Result {
	announced, err := media.AnnouncedIPs(cfg.NodeIPs(), IsLocal(cfg))
	if err != nil {
		return noMediaAddress(announced, err)
	}
	host := publicHost(cfg)
	if isLocal(host) {
		return fine("%s, for this machine only", join(announced))
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		addresses = nil
	}
	change := "--rtc-node-ip " + suggestNodeIP(announced, addresses)
	switch browsers := network.Unreachable(announced, addresses); {
	case browsers == network.AllBrowsers:
		return found("node_ip", Error, change, "Browsers that reach %s cannot reach the address for media, %s, so nobody "+
			"hears anybody.", host, join(announced))
	case browsers == network.WithoutIPv6:
		return found("node_ip", Error, change, "Browsers that reach %s over IPv4 only cannot reach the address for media, "+
			"%s, so people there hear nobody.", host, join(announced))
	case browsers == network.WithoutIPv4:
		return found("node_ip", Warning, change, "Browsers that reach %s over IPv6 only cannot reach the address for media, "+
			"%s, so people there hear nobody.", host, join(announced))
	case len(addresses) == 0 && !slices.ContainsFunc(announced, network.IsPublic):
		return unknown("%s, and this machine does not find %s, so it does not know whether browsers reach it",
			join(announced), host)
	}
	if there := foreignAddresses(cfg, announced, addresses); len(there) > 0 {
		suggested := "ADDRESS, with the public IPv4 address of this machine"
		if len(there) == 1 {
			suggested = there[0].String()
		}
		return found("node_ip", Warning, "--rtc-node-ip "+suggested, "%s leads to %s, and the address for media is %s, so "+
			"the media of browsers may go to another machine.", host, join(there), join(announced))
	}
	return fine("%s", join(announced))
}

// foreignAddresses returns the public IPv4 addresses of a host whose only server announces another one for media, which
// no interface of this machine has: an earlier address of the machine, for example, or one with a typing error.
func foreignAddresses(cfg config.Config, announced, host []netip.Addr) (there []netip.Addr) {
	if !cfg.ServesTLS() || cfg.RedisURL != "" { // a proxy or a load balancer may have the addresses of the host
		return nil
	}
	for _, ip := range host {
		if ip = ip.Unmap(); ip.Is4() && network.IsPublic(ip) {
			there = append(there, ip)
		}
	}
	isRight := func(ip netip.Addr) bool { return ip.Is4() && (slices.Contains(there, ip) || isOwn(ip)) }
	if !slices.ContainsFunc(announced, netip.Addr.Is4) || slices.ContainsFunc(announced, isRight) {
		return nil
	}
	return there
}

// noMediaAddress returns the result of a check that failed with an error of media.AnnouncedIPs.
func noMediaAddress(announced []netip.Addr, err error) Result {
	var none *media.AddressError
	switch {
	case !errors.As(err, &none):
		return unknown("%v", err)
	case len(announced) > 0:
		return found("node_ip", Warning, "--rtc-node-ip "+join(announced),
			"The server does not use one of its addresses for media: %s.", none.Reason())
	}
	return found("node_ip", Error,
		"Connect this machine to the network, or --rtc-node-ip ADDRESS, with an address of this machine",
		"This machine has no address for media: %s. Without one, the server does not start, and if it runs already, nobody "+
			"hears anybody.", none.Reason())
}

// suggestNodeIP returns an address of each family for --rtc-node-ip, or what to put there. It takes them from the
// announced addresses and from those of the host in the DNS. The latter may be those of a proxy. If the IPv6 address is
// of this machine, they are not, so a router translates the IPv4 address. An IPv6 address of another machine is left
// out.
func suggestNodeIP(announced, host []netip.Addr) string {
	ipv4, ipv6 := suggestAddress(announced, host, netip.Addr.Is4), suggestAddress(announced, host, netip.Addr.Is6)
	is4 := func(ip netip.Addr) bool { return ip.Unmap().Is4() }
	if !ipv4.IsValid() && ipv6.IsValid() && slices.Contains(host, ipv6) {
		other := func(ip netip.Addr) bool { return !is4(ip) || !network.IsPublic(ip) }
		public4 := slices.DeleteFunc(slices.Clone(host), other)
		if len(public4) == 1 {
			ipv4 = public4[0].Unmap()
		}
	}
	switch {
	case ipv4.IsValid() && ipv6.IsValid():
		return ipv4.String() + "," + ipv6.String()
	case ipv4.IsValid():
		return ipv4.String()
	case ipv6.IsValid() && slices.ContainsFunc(host, is4):
		return "ADDRESS," + ipv6.String() + ", with the public IPv4 address of this machine"
	case ipv6.IsValid():
		return ipv6.String()
	}
	return "ADDRESS, with the public IP address of this machine"
}

// suggestAddress returns the announced address of one family if it is public, or else the one of the DNS that this
// machine has. It returns the zero Addr if there is neither.
func suggestAddress(announced, host []netip.Addr, ofFamily func(netip.Addr) bool) netip.Addr {
	for _, ip := range announced {
		if ip = ip.Unmap(); ofFamily(ip) && network.IsPublic(ip) {
			return ip
		}
	}
	for _, ip := range host {
		if ip = ip.Unmap(); ofFamily(ip) && !ip.IsLoopback() && isOwn(ip) {
			return ip
		}
	}
	return netip.Addr{}
}

func join(ips []netip.Addr) string {
	texts := make([]string, len(ips))
	for i, ip := range ips {
		texts[i] = ip.String()
	}
	return strings.Join(texts, ", ")
}

func checkPublicAddress(ctx context.Context, cfg config.Config) Result {
	hosts := publicHosts(cfg)
	if host := missingHost(ctx, hosts); host != "" {
		return noRecord(host, withSetting(cfg, host), "this machine")
	}
	client := newClient()
	result, answered := checkPublicURL(ctx, client, cfg, "Renew the certificate of "+publicHost(cfg)+
		" in the proxy, and let the proxy load it (in nginx: nginx -s reload).")
	result.addElsewhere(ctx, cfg, hosts, func(host string) bool {
		if host == publicHost(cfg) {
			return answered
		}
		live, _, err := getLive(ctx, client, urlOf(cfg, host))
		var untrusted *tls.CertificateVerificationError
		return live.Status != "" || errors.As(err, &untrusted) && isForHost(untrusted.Err)
	})
	return result
}

// missingHost returns the first of the hosts that the DNS does not have, or an empty string.
func missingHost(ctx context.Context, hosts []string) string {
	for _, host := range hosts {
		var failure *net.DNSError
		if _, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host); errors.As(err, &failure) && failure.IsNotFound {
			return host
		}
	}
	return ""
}

// noRecord returns the finding about a host that the DNS does not have. name is the host in its sentence. server is the
// machine to which the host belongs: "this machine" or "the server".
func noRecord(host, name, server string) Result {
	return found("public_dns", Error, fmt.Sprintf("Add an A or AAAA record of %s with the address of %s.", host, server),
		"This machine does not find the host name %s in the DNS, and probably browsers do not find it either.", name)
}

// withSetting returns a host of publicHosts with the setting that has it. A server puts the first --tls-domain into its
// public URL, so a host in both is that of --tls-domain.
func withSetting(cfg config.Config, host string) string {
	if slices.Contains(cfg.TLSDomains(), host) {
		return host + " (--tls-domain)"
	}
	return host + " (--public-url)"
}

// publicHosts returns the names that browsers look up in the DNS.
func publicHosts(cfg config.Config) (hosts []string) {
	for _, host := range append([]string{publicHost(cfg)}, cfg.TLSDomains()...) {
		if _, err := netip.ParseAddr(host); err != nil && !isLocal(host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// addElsewhere adds a finding for each host that the DNS leads to another machine and that does not answer as a Parley
// server. With a router or a load balancer that forwards to this machine, it usually answers.
func (r *Result) addElsewhere(ctx context.Context, cfg config.Config, hosts []string, answers func(host string) bool) {
	announced, err := media.AnnouncedIPs(cfg.NodeIPs(), IsLocal(cfg))
	if err != nil && len(announced) == 0 {
		return // another check reports it
	}
	elsewhere := make([][]netip.Addr, len(hosts))
	var work sync.WaitGroup
	for i, host := range hosts {
		work.Go(func() {
			addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
			here := func(ip netip.Addr) bool { return isHere(ip, announced, cfg) }
			if err == nil && !slices.ContainsFunc(addresses, here) && !answers(host) {
				elsewhere[i] = addresses
			}
		})
	}
	work.Wait()
	for i, addresses := range elsewhere {
		if len(addresses) == 0 {
			continue
		}
		r.Detail, r.Unknown = "", ""
		r.add("public_dns_elsewhere", Warning, suggestRecord(hosts[i], addresses, announced),
			"%s resolves to %s. This machine does not have or announce these addresses, and no Parley server responds there.",
			withSetting(cfg, hosts[i]), join(addresses))
	}
}

// isHere reports whether an address leads to this machine: it has the address, announces it for media, or trusts
// the proxy there.
func isHere(ip netip.Addr, announced []netip.Addr, cfg config.Config) bool {
	ip = ip.Unmap()
	trusted, err := cfg.TrustedPrefixes()
	return ip.IsLoopback() || isOwn(ip) || slices.Contains(announced, ip) ||
		err == nil && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// isOwn reports whether a network interface of this machine has an address.
func isOwn(ip netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip.AsSlice())
	})
}

// suggestRecord returns the DNS records that lead a host to the announced addresses. The private ones among them are of
// no use for a host with public addresses.
func suggestRecord(host string, addresses, announced []netip.Addr) string {
	hasPublic := slices.ContainsFunc(addresses, network.IsPublic)
	var records []string
	for _, ip := range announced {
		record := "A"
		if ip.Is6() {
			record = "AAAA"
		}
		if !ip.IsLoopback() && (!hasPublic || network.IsPublic(ip)) {
			records = append(records, fmt.Sprintf("the %s record of %s to %s", record, host, ip))
		}
	}
	if len(records) == 0 {
		return fmt.Sprintf("Set the A or AAAA record of %s to the public address of this machine.", host)
	}
	return "Set " + strings.Join(records, " and ") + "."
}
