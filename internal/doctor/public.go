package doctor

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/internal/certificate"
	"parley/internal/config"
	"parley/internal/media"
	"parley/internal/network"
)

// LivePath is the path below the signaling at which a server responds with Live. Proxies forward
// WebSockets there.
const LivePath = "/rtc/livez"

// Live is the response of LivePath and of /livez.
type Live struct {
	Status         string `json:"status"`
	Upgrade        bool   `json:"upgrade"`         // the request asked for a WebSocket
	UntrustedProxy bool   `json:"untrusted_proxy"` // it came through a proxy that is not trusted
	// Installation and Node are hashes of the IDs of the database and of the process (HashID). The installation is
	// empty while the server starts.
	Installation string `json:"installation,omitempty"`
	Node         string `json:"node,omitempty"`
}

// HashID returns a text that differs for different IDs, from which nobody learns the ID.
func HashID(id string) string {
	sum := sha256.Sum256([]byte("parley live " + id))
	return hex.EncodeToString(sum[:8])
}

// publicHost returns the host of the public URL.
func publicHost(cfg config.Config) string {
	u, err := url.Parse(cfg.BaseURL(""))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// isLocal reports whether a host is always this machine (RFC 6761, section 6.3).
func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

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
	isPublic := slices.ContainsFunc(announced, func(ip netip.Addr) bool { return !ip.IsPrivate() && !ip.IsLoopback() })
	switch {
	case network.IsUnreachable(announced, addresses):
		return found("node_ip", Error, "--rtc-node-ip "+suggestNodeIP(addresses), "Browsers that reach %s cannot reach the "+
			"address for media, %s, so nobody hears anybody.", host, join(announced))
	case len(addresses) == 0 && !isPublic:
		return unknown("%s, and this machine does not find %s, so it does not know whether browsers reach it",
			join(announced), host)
	}
	return fine("%s", join(announced))
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
		"This machine has no address for media, so nobody hears anybody, and the server would not start now: %s.",
		none.Reason())
}

// suggestNodeIP returns those of the public addresses that this machine has, or what to put there. The
// others may be those of a proxy.
func suggestNodeIP(addresses []netip.Addr) string {
	var suggested []string
	for _, ip := range addresses {
		if isOwn(ip) {
			suggested = append(suggested, ip.Unmap().String())
		}
	}
	if len(suggested) == 0 {
		return "ADDRESS, with the public IP address of this machine"
	}
	return strings.Join(suggested, ",")
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

// publicURLTimeout bounds one request to a public URL. It is less than half of checkTimeout, because another one to
// the other hosts may follow.
const publicURLTimeout = 4 * time.Second

// checkPublicURL checks what responds at the public URL. It reports whether that is a Parley server, or may be a proxy
// in front of one. renewal says how the certificate there is renewed. A server that serves TLS knows that itself.
func checkPublicURL(
	ctx context.Context, client *http.Client, cfg config.Config, renewal string,
) (result Result, answered bool) {
	base := cfg.BaseURL("")
	live, response, err := getLive(ctx, client, base)
	status := 0
	if response != nil {
		status = response.StatusCode
	}
	result, answered = checkLive(ctx, client, cfg, live, status, err)
	if leaf := seenLeaf(response, err); leaf != nil && result.Unknown == "" && !cfg.ServesTLS() {
		result.sawCertificate = true
		result.addExpiry(leaf, "The certificate at "+base, renewal)
		if len(result.Findings) > 0 {
			result.Detail = ""
		}
	}
	return result, answered
}

// seenLeaf returns the certificate with which a server responded, also if this machine does not trust its authority. It
// returns nil without one, and for one that is refused for another reason.
func seenLeaf(response *http.Response, err error) *x509.Certificate {
	var untrusted *tls.CertificateVerificationError
	var unknownAuthority x509.UnknownAuthorityError
	switch {
	case response != nil && response.TLS != nil:
		return response.TLS.PeerCertificates[0]
	case errors.As(err, &untrusted) && errors.As(err, &unknownAuthority):
		return untrusted.UnverifiedCertificates[0]
	}
	return nil
}

// checkLive is checkPublicURL with the response of getLive, without the end of the certificate.
func checkLive(
	ctx context.Context, client *http.Client, cfg config.Config, live Live, status int, err error,
) (result Result, answered bool) {
	base := cfg.BaseURL("")
	mayBeProxy := status != 0 && !cfg.ServesTLS()
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return untrustedCertificate(base, untrusted.Err), isForHost(untrusted.Err)
	}
	switch {
	case status == 0:
		return unknown("%s does not respond here, so the server does not run, has no certificate yet, or is reached only "+
			"from elsewhere: %v", base, err), false
	case status == http.StatusForbidden || status >= http.StatusInternalServerError:
		return unknown("a proxy responds at %s with status %d: it refuses the request, or the server behind it does not "+
			"run", base, status), true
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return unknown("%s redirects to another address, so --public-url may be wrong", base), mayBeProxy
	case err != nil || live.Status == "":
		return found("public_url", Error, "Send "+base+" to Parley in the proxy or the DNS, or correct --public-url.",
			"Another program than Parley responds at %s, with status %d.", base, status), mayBeProxy
	}
	if own := ownLive(ctx, cfg); isOtherServer(own, live, cfg.RedisURL.Reveal() != "") {
		return found("public_other_server", Error,
			"Point the DNS record or the proxy of "+publicHost(cfg)+" to this machine, or correct --public-url.",
			"%s leads to a different Parley server than the one on this machine, so people meet there.", base), true
	}
	if !live.Upgrade {
		result.add("proxy_upgrade", Error, "In nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; "+
			`proxy_set_header Connection "upgrade";`, "The proxy at %s does not forward WebSockets, so nobody can join.", base)
	}
	if live.UntrustedProxy {
		result.addUntrustedProxy(base)
	}
	var health map[string]string
	if _, err := getJSON(ctx, client, base+"/healthz", &health); err != nil ||
		!slices.Contains([]string{"ok", "draining"}, health["status"]) {
		result.add("server_unavailable", Error, "parley status", "The server at %s cannot take work.", base)
	}
	if len(result.Findings) == 0 {
		return fine("%s responds", base), true
	}
	return result, true
}

// isForHost reports whether a certificate that is not trusted is for the host, so that it may be that of the server.
func isForHost(untrusted error) bool {
	var otherHost x509.HostnameError
	return !errors.As(untrusted, &otherHost)
}

// getLive returns what responds at the public URL of a server, and the response without its body; nil without one.
func getLive(ctx context.Context, client *http.Client, base string) (live Live, response *http.Response, err error) {
	ctx, cancel := context.WithTimeout(ctx, publicURLTimeout)
	defer cancel()
	response, err = getJSON(ctx, client, base+LivePath, &live)
	return live, response, err
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

// urlOf returns the public URL with another host.
func urlOf(cfg config.Config, host string) string {
	u, err := url.Parse(cfg.BaseURL(""))
	if err != nil {
		return ""
	}
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	u.Host = host
	return u.String()
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
	isPublic := slices.ContainsFunc(addresses, func(ip netip.Addr) bool { return !ip.Unmap().IsPrivate() })
	var records []string
	for _, ip := range announced {
		record := "A"
		if ip.Is6() {
			record = "AAAA"
		}
		if !ip.IsLoopback() && (!isPublic || !ip.IsPrivate()) {
			records = append(records, fmt.Sprintf("the %s record of %s to %s", record, host, ip))
		}
	}
	if len(records) == 0 {
		return fmt.Sprintf("Set the A or AAAA record of %s to the public address of this machine.", host)
	}
	return "Set " + strings.Join(records, " and ") + "."
}

// ownLive returns what the server with these settings says on this machine, without names and proxies between; the zero
// value if it does not run.
func ownLive(ctx context.Context, cfg config.Config) (live Live) {
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil || port == "0" {
		return Live{}
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	client, scheme := newClient(), "http"
	transport := client.Transport.(*http.Transport)
	transport.Proxy = nil
	if cfg.ServesTLS() {
		scheme = "https"
		// The request has no secret, so the certificate does not matter.
		transport.TLSClientConfig = &tls.Config{ServerName: publicHost(cfg), InsecureSkipVerify: true}
	}
	ctx, cancel := context.WithTimeout(ctx, ownLiveTimeout)
	defer cancel()
	if _, err := getJSON(ctx, client, scheme+"://"+net.JoinHostPort(host, port)+LivePath, &live); err != nil {
		return Live{}
	}
	return live
}

// ownLiveTimeout is how long the server on this machine may take to say who it is.
const ownLiveTimeout = 3 * time.Second

// isOtherServer reports whether a server belongs to another installation, or is another process although there is only
// one.
func isOtherServer(own, other Live, severalNodes bool) bool {
	if own.Node == "" || other.Node == "" {
		return false // one does not respond, or is of a release that does not say it
	}
	if own.Installation != "" && other.Installation != "" && own.Installation != other.Installation {
		return true
	}
	return !severalNodes && own.Node != other.Node
}

// untrustedCertificate returns why this machine does not accept the certificate at a URL.
func untrustedCertificate(base string, err error) Result {
	if leaf := certificate.NotYetValid(err); leaf != nil {
		return clockBehind("at "+base, leaf)
	}
	var unknownAuthority x509.UnknownAuthorityError
	if errors.As(err, &unknownAuthority) {
		return found("public_certificate", Warning, "Use a certificate of an authority that browsers trust, with its chain.",
			"This machine does not trust the authority of the certificate at %s, and probably browsers do not either.", base)
	}
	return found("public_certificate", Error, "Renew the certificate for the host of --public-url.",
		"Browsers refuse the certificate at %s: %v.", base, err)
}

// clockBehind returns the result of a check that saw a certificate whose validity has not begun. place says where it
// is.
func clockBehind(place string, leaf *x509.Certificate) Result {
	return found("clock_behind", Error, "timedatectl set-ntp true",
		"The certificate %s is valid only from %s on. The clock of this machine is behind, or the certificate was issued "+
			"for a later time.", place, leaf.NotBefore.UTC().Format(time.RFC3339))
}

func (r *Result) addUntrustedProxy(base string) {
	r.add("trusted_proxies", Warning, "--trusted-proxies ADDRESS, with the address from which the proxy connects",
		"The server does not trust the proxy at %s, so all visitors share the limits of one address.", base)
}

// checkProxy finds a proxy that the settings do not name. One that adds no header is not seen otherwise.
func checkProxy(_ context.Context, cfg config.Config) Result {
	base := cfg.BaseURL("")
	trusted, err := cfg.TrustedPrefixes()
	switch {
	case err != nil:
		return unknown("%v", err)
	case !strings.HasPrefix(base, "https://") || cfg.ServesTLS():
		return fine("none")
	case len(trusted) > 0:
		return fine("trusted")
	}
	var result Result
	result.addUntrustedProxy(base)
	return result
}

const (
	// QuietPath is the path of WebSockets in which a server sends nothing.
	QuietPath = "/rtc/quiet"
	// QuietTime is how long a proxy has to leave a quiet WebSocket open. The streams of the management API, which the
	// console uses, are quiet for 14 seconds at most.
	QuietTime = 15 * time.Second
	// quietMeeting is how long the signaling of a meeting is quiet at most, with some time to spare: LiveKit sends
	// something every 10 seconds or more often in each direction.
	quietMeeting = 11 * time.Second
)

func checkQuiet(ctx context.Context, cfg config.Config) Result {
	return CheckQuiet(ctx, cfg, QuietTime)
}

// CheckQuiet checks whether a proxy in front of the server leaves a quiet WebSocket open for a time.
func CheckQuiet(ctx context.Context, cfg config.Config, hold time.Duration) Result {
	base := cfg.BaseURL("")
	r, err := newUpgrade(ctx, base+QuietPath)
	if err != nil {
		return unknown("%v", err)
	}
	res, err := newClient().Do(r)
	if err != nil {
		return unknown("%s does not respond here: %v", base, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusSwitchingProtocols {
		return unknown("%s opens no WebSocket for this check (status %d)", base, res.StatusCode)
	}
	began := time.Now()
	var over atomic.Bool
	end := time.AfterFunc(hold, func() {
		over.Store(true)
		_ = res.Body.Close()
	})
	defer end.Stop()
	_, err = res.Body.Read(make([]byte, 1))
	switch {
	case over.Load():
		return fine("a quiet WebSocket stays open for %s", hold)
	case err == nil:
		return unknown("%s sends something in a quiet WebSocket, as a server does that stops: try again", base)
	}
	return idleResult(base, time.Since(began))
}

// idleResult returns the finding about a proxy that closes a WebSocket in which nothing was sent for a time.
func idleResult(base string, after time.Duration) Result {
	level, interrupted := Warning, "the pages of the console are interrupted"
	if after < quietMeeting {
		level, interrupted = Error, "meetings are interrupted"
	}
	return found("proxy_idle", level, "In nginx: proxy_read_timeout 1h; proxy_send_timeout 1h;",
		"The proxy at %s closes a WebSocket in which nothing is sent for %s, so %s.", base,
		after.Round(100*time.Millisecond), interrupted)
}

// newClient returns a client for HTTP/1.1, in which browsers open WebSockets. It follows no redirect.
func newClient() *http.Client {
	return &http.Client{
		CheckRedirect: doNotFollow,
		Transport: &http.Transport{
			Proxy:             http.ProxyFromEnvironment,
			DisableKeepAlives: true,
			TLSNextProto:      map[string]func(string, *tls.Conn) http.RoundTripper{},
		},
	}
}

// doNotFollow makes a client return a redirect as the response.
func doNotFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// newUpgrade returns a request for a WebSocket.
func newUpgrade(ctx context.Context, url string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
	return r, nil
}

// maxResponseBytes bounds a response.
const maxResponseBytes = 64 << 10

// getJSON asks for a WebSocket and decodes the response into out. The response, without its body, is nil if there is
// none.
func getJSON(ctx context.Context, client *http.Client, url string, out any) (res *http.Response, err error) {
	r, err := newUpgrade(ctx, url)
	if err != nil {
		return nil, err
	}
	if res, err = client.Do(r); err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return res, json.NewDecoder(io.LimitReader(res.Body, maxResponseBytes)).Decode(out)
}
