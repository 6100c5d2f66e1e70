package doctor

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/internal/certificate"
	"parley/internal/config"
)

// LivePath is the path below the signaling at which a server responds with Live. Proxies forward
// WebSockets there.
const LivePath = "/rtc/livez"

// Live is the response of LivePath and of /livez.
type Live struct {
	Status         string `json:"status"`
	Upgrade        bool   `json:"upgrade"`         // the request asked for a WebSocket
	UntrustedProxy bool   `json:"untrusted_proxy"` // it came through a proxy that is not trusted
	// LacksClientAddr says that it came through a trusted proxy that does not say for whom.
	LacksClientAddr bool `json:"lacks_client_address"`
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
		return found("public_url", Error,
			"Point the DNS record or the proxy of "+publicHost(cfg)+" to Parley, or correct --public-url.",
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
	if live.LacksClientAddr {
		result.add("proxy_client_address", Warning, "In nginx: proxy_set_header X-Forwarded-For $remote_addr;",
			"The proxy at %s does not send X-Forwarded-For, so all visitors share the limits of one address.", base)
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
