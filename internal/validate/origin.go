package validate

import (
	"net/netip"
	"net/url"
	"strings"

	"parley/internal/fault"
)

const (
	maxHost  = 253 // characters of a DNS name
	maxLabel = 63  // characters between two dots of it
)

// Origin returns text as a normalized origin, scheme://host[:port] in lower case
// without the default port of the scheme, as browsers write it. It returns an
// error if text is not an origin. The scheme must be https, or http for localhost,
// because browsers give no camera and microphone to a frame in a page
// without https. For the host localhost it may also be the scheme of an app, such as
// capacitor://localhost: that is the origin of the pages inside apps that are made with
// Capacitor, Ionic or Tauri (https://capacitorjs.com/docs/config, iosScheme).
//
// The host must be a name in ASCII or an IPv4 address, because a
// Content-Security-Policy supports no other hosts.
func Origin(name, text string) (string, error) {
	lower := strings.ToLower(text)
	u, err := url.Parse(lower)
	if err != nil || u.Scheme+"://"+u.Host != lower || !isHost(u.Hostname()) ||
		strings.HasSuffix(u.Host, ":") || !isPort(u.Port()) || strings.HasPrefix(u.Port(), "0") {
		return "", fault.Invalidf(
			"%s must contain origins such as https://example.org or https://example.org:8443, not %q",
			name, Truncate(text, 100))
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) && !isAppOrigin(u) {
		return "", fault.Invalidf("%s must contain origins with https, or with http or the scheme of an app "+
			"for localhost, not %q", name, Truncate(text, 100))
	}
	if u.Port() == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		return u.Scheme + "://" + u.Hostname(), nil
	}
	return lower, nil
}

// isAppOrigin reports whether u is the origin of pages inside an app. The schemes of the
// web are excluded: a page of their origins either does not exist or has none.
func isAppOrigin(u *url.URL) bool {
	switch u.Scheme {
	case "http", "ws", "wss", "ftp", "file", "data", "blob", "about", "javascript", "filesystem":
		return false
	}
	return u.Host == "localhost"
}

// isHost reports whether text is a host name in lower-case ASCII, or an IPv4
// address.
func isHost(text string) bool {
	if len(text) > maxHost {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > maxLabel ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}
