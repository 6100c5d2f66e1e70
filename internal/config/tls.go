package config

import (
	"crypto/x509"
	"errors"
	"net"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// defaultTLSListen is the default of --listen with --tls-domain or --tls-cert-file.
const defaultTLSListen = ":443"

// ServesTLS reports whether the server serves HTTPS at Listen.
func (c *Config) ServesTLS() bool { return len(c.TLSDomains()) > 0 || c.TLSCertFile != "" }

// SeparateTCPPort returns RTCTCPPort, or 0 if media over TCP shares the port of Listen or is off.
func (c *Config) SeparateTCPPort() int {
	_, port, err := net.SplitHostPort(c.Listen)
	if c.ServesTLS() && err == nil && port == strconv.Itoa(c.RTCTCPPort) {
		return 0
	}
	return c.RTCTCPPort
}

// TLSDomains returns TLSDomain in lower case, without empty values.
func (c *Config) TLSDomains() (domains []string) {
	for _, text := range c.TLSDomain {
		if domain := strings.ToLower(strings.TrimSpace(text)); domain != "" {
			domains = append(domains, domain)
		}
	}
	return domains
}

func (c *Config) checkTLS() error {
	if !c.ServesTLS() {
		return errors.Join(
			check(c.TLSKeyFile == "", "tls-key-file", "needs --tls-cert-file"),
			check(c.HTTPListen == "", "http-listen",
				"needs --tls-domain or --tls-cert-file: without them, --listen is HTTP"),
			c.checkACMEUnused(),
		)
	}
	errs := []error{c.checkHTTPListen()}
	if len(c.TLSDomains()) > 0 {
		errs = append(errs,
			check(c.TLSCertFile == "" && c.TLSKeyFile == "", "tls-domain",
				"and --tls-cert-file are both set: unset one of them"),
			c.checkTLSDomain(), c.checkACME())
	} else {
		errs = append(errs, check(c.TLSKeyFile != "", "tls-cert-file", "needs --tls-key-file"), c.checkACMEUnused(),
			check(strings.HasPrefix(strings.ToLower(c.PublicURL), "https://"), "public-url",
				"must begin with https:// with --tls-cert-file, such as https://meet.example.org, not %q", c.PublicURL))
	}
	return errors.Join(errs...)
}

func (c *Config) checkHTTPListen() error {
	if c.HTTPListen == "" {
		return nil
	}
	differs := c.HTTPListen != c.Listen || strings.HasSuffix(c.Listen, ":0")
	host, _, err := net.SplitHostPort(c.Listen)
	httpHost, _, httpErr := net.SplitHostPort(c.HTTPListen)
	// The client of the authority knows one address for both.
	sameHost := len(c.TLSDomains()) == 0 || err != nil || httpErr != nil || host == httpHost
	return errors.Join(checkAddress("http-listen", c.HTTPListen),
		check(differs, "http-listen", "must differ from --listen (%s)", c.Listen),
		check(sameHost, "http-listen", "must have the host of --listen (%s) with --tls-domain", c.Listen))
}

// checkTLSDomain checks the domains, and that the public URL has one of them.
func (c *Config) checkTLSDomain() error {
	for _, domain := range c.TLSDomains() {
		if err := checkASCII("tls-domain", domain); err != nil {
			return err
		}
		if !hostNamePattern.MatchString(domain) || len(domain) > 253 {
			return settingError("tls-domain",
				"must be host names such as meet.example.org, without * and not addresses, not %q", domain)
		}
	}
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return nil // checkPublicURL reports it
	}
	isDomain := slices.Contains(c.TLSDomains(), strings.ToLower(u.Hostname()))
	return check(u.Scheme == "https" && isDomain, "public-url",
		"must begin with https:// and a host of --tls-domain (%s), not %q", strings.Join(c.TLSDomains(), ", "), c.PublicURL)
}

func (c *Config) checkACME() error {
	u, err := url.Parse(c.ACMECA)
	ca := check(err == nil && u.Scheme == "https" && u.Host != "", "acme-ca",
		"must be a URL that begins with https://, not %q", c.ACMECA)
	_, rootsErr := c.ACMERoots()
	ca = errors.Join(ca, rootsErr)
	if c.ACMEEmail == "" {
		return ca
	}
	address, err := mail.ParseAddress(c.ACMEEmail)
	return errors.Join(ca, check(err == nil && address.Address == c.ACMEEmail, "acme-email",
		"must be an email address such as ops@example.org, not %q", c.ACMEEmail))
}

// ACMERoots returns the certificates of ACMECARoots, or nil for those of the system.
func (c *Config) ACMERoots() (*x509.CertPool, error) {
	if c.ACMECARoots == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.ACMECARoots)
	if err != nil {
		return nil, settingError("acme-ca-roots", "cannot be read: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, settingError("acme-ca-roots", "must be a file with certificates in PEM: %s", c.ACMECARoots)
	}
	return roots, nil
}

// checkACMEUnused refuses --acme-ca-roots and --acme-email, which have no effect without --tls-domain.
func (c *Config) checkACMEUnused() error {
	return errors.Join(
		check(c.ACMECARoots == "", "acme-ca-roots", "needs --tls-domain"),
		check(c.ACMEEmail == "", "acme-email", "needs --tls-domain"),
	)
}
