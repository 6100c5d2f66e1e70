package validate

import (
	"net/netip"
	"net/url"
	"strings"

	"parley/internal/fault"
)

const (
	maxHost  = 253 // characters of a name, as DNS has it
	maxLabel = 63
)

// Origin holds a text to be an origin, scheme://host[:port] and no more, and
// returns it as browsers write it: in lower case, without the scheme's own
// port. The scheme is https, or http for the machine itself: elsewhere browsers
// give no camera and no microphone to what a page without https shows.
//
// The host is a name in ASCII or an IPv4 address, since a
// Content-Security-Policy can name no other.
func Origin(name, text string) (string, error) {
	lower := strings.ToLower(text)
	u, err := url.Parse(lower)
	if err != nil || u.Scheme+"://"+u.Host != lower || !isHost(u.Hostname()) || strings.HasSuffix(u.Host, ":") || !isPort(u.Port()) || strings.HasPrefix(u.Port(), "0") {
		return "", fault.Invalidf("%s must hold origins such as https://example.org or https://example.org:8443, not %q", name, truncate(text))
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return "", fault.Invalidf("%s must hold origins with https, or http for localhost, not %q", name, truncate(text))
	}
	if u.Port() == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		return u.Scheme + "://" + u.Hostname(), nil
	}
	return lower, nil
}

// isHost reports whether text is a host name in lower-case ASCII, or an IPv4
// address.
func isHost(text string) bool {
	if len(text) > maxHost {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > maxLabel || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// truncate keeps a refusal to a line.
func truncate(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:100]) + "…"
	}
	return text
}
