package app

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/api/httpx"
	"parley/internal/certificate"
	"parley/internal/edge"
	"parley/internal/media"
	"parley/internal/overview"
)

const (
	// certificateWarning is the longest time before its expiry that a certificate is reported. One
	// with a short validity is reported in the last fifth of it.
	certificateWarning = 14 * 24 * time.Hour
	// certificateInterval is the time between two looks at its end.
	certificateInterval = 12 * time.Hour
)

// loadCertificate loads the certificate of --tls-cert-file. If it cannot be used, the service starts without it.
func (a *App) loadCertificate() {
	if a.cfg.TLSCertFile == "" {
		return
	}
	host, _ := a.publicAddress()
	files := certificate.NewFiles(a.cfg.TLSCertFile, a.cfg.TLSKeyFile, host, a.log)
	if err := files.Load(); err != nil {
		a.missing = append(a.missing, err.Error()+
			".\nBrowsers cannot connect until the files are correct. The server reads them every five seconds.")
	}
	a.certificate = files
	a.registerCertificateMetrics()
}

// wireACME prepares the certificate of --tls-domain. It needs the database.
func (a *App) wireACME(renewalCheck time.Duration) error {
	if len(a.cfg.TLSDomains()) == 0 {
		return nil
	}
	roots, err := a.cfg.ACMERoots()
	if err != nil {
		return err
	}
	listen := a.Listener.Addr().(*net.TCPAddr)
	c := certificate.ACMEConfig{
		Domains:      a.cfg.TLSDomains(),
		CA:           a.cfg.ACMECA,
		Roots:        roots,
		Email:        a.cfg.ACMEEmail,
		ListenHost:   listen.IP.String(),
		Port:         listen.Port,
		RenewalCheck: renewalCheck,
		Store:        a.db,
		Now:          time.Now,
		Log:          a.log,
	}
	if l, ok := a.HTTPListener.(*net.TCPListener); ok { // not one that may open later
		c.HTTPPort = l.Addr().(*net.TCPAddr).Port
	}
	a.certificate = certificate.NewACME(c)
	a.registerCertificateMetrics()
	return nil
}

func (a *App) registerCertificateMetrics() {
	gauge := func(name, help string, of func(first *x509.Certificate, missing []string) float64) {
		a.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			return of(a.certificate.Leaf())
		}))
	}
	ofFirst := func(of func(*x509.Certificate) time.Duration) func(*x509.Certificate, []string) float64 {
		return func(first *x509.Certificate, _ []string) float64 {
			if first == nil {
				return 0
			}
			return of(first).Seconds()
		}
	}
	gauge("parley_certificate_expires_seconds",
		"Time until the TLS certificate that expires first expires; negative after that, and 0 without one.",
		ofFirst(func(leaf *x509.Certificate) time.Duration { return time.Until(leaf.NotAfter) }))
	gauge("parley_certificate_validity_seconds",
		"Time for which that TLS certificate was issued; 0 without one.", ofFirst(validity))
	gauge("parley_certificates_missing", "Host names that have no TLS certificate.",
		func(_ *x509.Certificate, missing []string) float64 { return float64(len(missing)) })
}

// wireEdge prepares the sorting of the connections of --listen if it serves TLS.
func (a *App) wireEdge() {
	if a.certificate == nil {
		return
	}
	_, port := a.publicAddress()
	a.edge = edge.New(a.connections.LimitConnections(a.Listener), port, a.certificate.TLSConfig(),
		func(kind edge.Kind) { a.metrics.Connections.Accepted(string(kind)) }, a.log)
}

// publicAddress returns the host and the port of the public URL, which the settings have checked.
func (a *App) publicAddress() (host string, port int) {
	public, err := url.Parse(a.baseURL)
	if err != nil {
		return "", 0
	}
	port, err = strconv.Atoi(public.Port())
	if err != nil {
		port = 443 // the URL has none
	}
	return public.Hostname(), port
}

// mediaListener returns the listener for media over TCP on the port of --listen, or nil.
func (a *App) mediaListener() net.Listener {
	if a.edge == nil {
		return nil
	}
	if a.cfg.SeparateTCPPort() != 0 {
		_ = a.edge.ICE().Close()
		return nil
	}
	return a.connections.MediaConnections(a.edge.ICE())
}

// turn returns the TURN server on the port of --listen, or nil.
func (a *App) turn() *media.TURN {
	if a.edge == nil {
		return nil
	}
	if !a.cfg.TURN {
		_ = a.edge.TURN().Close()
		return nil
	}
	host, port := a.publicAddress()
	address := net.JoinHostPort(host, strconv.Itoa(port))
	urls := []string{"turn:" + address + "?transport=tcp"}
	// Firefox accepts TURN over TLS only with a name, and otherwise refuses the whole connection.
	if _, err := netip.ParseAddr(host); err != nil {
		urls = append(urls, "turns:"+address+"?transport=tcp")
	}
	return &media.TURN{Listener: a.connections.RelayConnections(a.edge.TURN()), URLs: urls}
}

// validity returns the time for which a certificate was issued.
func validity(leaf *x509.Certificate) time.Duration { return leaf.NotAfter.Sub(leaf.NotBefore) }

// expiresSoon reports whether a certificate has to be reported. It may have expired.
func expiresSoon(leaf *x509.Certificate, now time.Time) bool {
	return leaf.NotAfter.Sub(now) < min(certificateWarning, validity(leaf)/5)
}

// certificateFindings returns what is wrong with the certificates: why there is none, and what to change.
func (a *App) certificateFindings(now time.Time) (found []overview.Finding) {
	if a.certificate == nil {
		return nil
	}
	first, missing := a.certificate.Leaf()
	for _, names := range a.sameFailure(missing) {
		text := "The node has no TLS certificate yet, so browsers cannot connect"
		if first != nil || len(names) < len(missing) {
			text = fmt.Sprintf("The node has no TLS certificate yet for %s, so browsers cannot connect there",
				strings.Join(names, ", "))
		}
		f := a.certificate.Failure(names[0])
		if f.Cause != "" {
			text += ": " + f.Cause
		}
		found = append(found, overview.Finding{
			ID:    "certificate_missing",
			Level: overview.Error,
			Text:  text + ".",
			Action: cmp.Or(f.Remedy, "Wait some seconds for the authority. If another node asks it, parley doctor there says "+
				"why that fails."),
		})
	}
	if first == nil || !expiresSoon(first, now) {
		return found
	}
	expires := overview.Finding{ID: "certificate_expires", Level: overview.Warning}
	at := first.NotAfter.UTC().Format(time.RFC3339)
	expires.Text = fmt.Sprintf("The TLS certificate%s expires at %s", ofName(first), at)
	if now.After(first.NotAfter) {
		expires.Level = overview.Error
		expires.Text = fmt.Sprintf("The TLS certificate%s expired at %s, so browsers refuse the pages", ofName(first), at)
	}
	f := a.certificate.Failure(strings.Join(first.DNSNames, ","))
	if f.Cause != "" {
		expires.Text += ", and it could not be replaced: " + f.Cause
	}
	expires.Text += "."
	switch {
	case f.Remedy != "":
		expires.Action = f.Remedy
	case a.cfg.TLSCertFile != "":
		expires.Action = fmt.Sprintf("Replace the files %s and %s. The node reads them again without a restart.",
			a.cfg.TLSCertFile, a.cfg.TLSKeyFile)
	default:
		expires.Action = "Let the node run, because it renews the certificate. If another node does that, parley doctor " +
			"there says why it fails."
	}
	return append(found, expires)
}

// sameFailure returns host names in groups that have the same failure.
func (a *App) sameFailure(names []string) (groups [][]string) {
	for _, name := range names {
		i := slices.IndexFunc(groups, func(g []string) bool {
			return a.certificate.Failure(g[0]) == a.certificate.Failure(name)
		})
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], name)
	}
	return groups
}

// ofName says of which host name a certificate is, if it is of one only, like each of --tls-domain.
func ofName(leaf *x509.Certificate) string {
	if len(leaf.DNSNames) != 1 {
		return ""
	}
	return " of " + leaf.DNSNames[0]
}

// watchCertificate logs a warning while a certificate is about to expire, until ctx ends.
func (a *App) watchCertificate(ctx context.Context) {
	tick := time.NewTicker(certificateInterval)
	defer tick.Stop()
	for {
		if leaf, _ := a.certificate.Leaf(); leaf != nil && expiresSoon(leaf, time.Now()) {
			a.log.Warn("the TLS certificate expires soon or has expired: browsers then refuse the pages",
				"names", leaf.DNSNames, "expires", leaf.NotAfter)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// redirectToHTTPS returns the handler of HTTP that is not encrypted. It redirects pages to the same path of the
// public URL. It refuses calls, because a client that sends its keys in plain text must notice that.
func (a *App) redirectToHTTPS() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
		isCall := strings.HasPrefix(path, "/api/") || path == "/metrics" || r.Header.Get("Authorization") != "" ||
			slices.Contains(media.SignalingPaths(), path)
		if !isRead || isCall || !strings.HasPrefix(path, "/") {
			httpx.WriteJSON(w, http.StatusForbidden, plainError{Error: "this server needs HTTPS: use " + a.baseURL})
			return
		}
		target := a.baseURL + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, target, http.StatusPermanentRedirect)
	})
}
