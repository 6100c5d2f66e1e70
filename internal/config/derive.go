package config

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // so that the zone data is the same on every machine

	"parley/internal/seal"
)

// keyFileName is the default name of the master key file in the data directory.
const keyFileName = "master.key"

// BaseURL returns the URL at which browsers reach the server, without a trailing
// slash and without the default port of its scheme. It is PublicURL, or "http://"
// and bound, the address of the listener, because with port 0 only the listener
// knows the port. If bound is empty, the address is Listen. If the address is
// unspecified, the host is localhost. With TLSDomain it is "https://", the first domain and the
// port of the address.
func (c *Config) BaseURL(bound string) string {
	if u, err := url.Parse(c.PublicURL); err == nil && c.PublicURL != "" {
		return origin(u.Scheme, u.Hostname(), u.Port())
	}
	if bound == "" {
		bound = c.Listen
	}
	host, port, err := net.SplitHostPort(bound)
	if domains := c.TLSDomains(); len(domains) > 0 {
		return origin("https", domains[0], port)
	}
	if err != nil {
		return origin("http", "localhost", "")
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return origin("http", host, port)
}

// DrainTime returns how long a node that is asked to stop may continue to serve while it hands over its meetings. It is
// StopWithin, or 0 for a single process, which has no other node.
func (c *Config) DrainTime() time.Duration {
	if c.RedisURL == "" {
		return 0
	}
	return c.StopWithin.Std()
}

// origin returns a URL in the form of a browser's Origin header.
func origin(scheme, host, port string) string {
	u := url.URL{Scheme: scheme, Host: strings.ToLower(host)}
	switch {
	case port == "", scheme == "http" && port == "80", scheme == "https" && port == "443":
		if strings.Contains(host, ":") {
			u.Host = "[" + u.Host + "]"
		}
	default:
		u.Host = net.JoinHostPort(u.Host, port)
	}
	return u.String()
}

// NodeIPs returns the addresses that browsers send media to, at most one of each family:
// RTCNodeIP, or the address in Listen. If neither has an address it returns none, and the
// caller has to detect the address.
func (c *Config) NodeIPs() []netip.Addr {
	if ips, err := parseNodeIPs(c.RTCNodeIP); err == nil && len(ips) > 0 {
		return ips
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil
	}
	if host == "localhost" {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.IsUnspecified() {
		return nil
	}
	return []netip.Addr{ip.Unmap().WithZone("")}
}

var errNodeIP = errors.New("not one address of each family")

// parseNodeIPs parses a list of at most one IPv4 and one IPv6 address of a machine.
func parseNodeIPs(text string) ([]netip.Addr, error) {
	if text == "" {
		return nil, nil
	}
	var ips []netip.Addr
	for part := range strings.SplitSeq(text, ",") {
		ip, err := netip.ParseAddr(strings.TrimSpace(part))
		if err != nil || ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" {
			return nil, errNodeIP
		}
		ips = append(ips, ip.Unmap())
	}
	if len(ips) > 2 || len(ips) == 2 && ips[0].Is4() == ips[1].Is4() {
		return nil, errNodeIP
	}
	return ips, nil
}

// TrustedPrefixes returns TrustedProxies as address ranges; a single address is a
// range of one. IPv4-mapped IPv6 ranges become IPv4. The error is the same as
// that of Validate.
func (c *Config) TrustedPrefixes() ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for _, text := range c.TrustedProxies {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		prefix, ok := parsePrefix(text)
		if !ok {
			return nil, settingError("trusted-proxies",
				"must be IP addresses or CIDR ranges such as 10.0.0.0/8, not %q", text)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// WebhookAllowed returns WebhookAllow as address ranges and as host names in lower
// case. The error is the same as that of Validate.
func (c *Config) WebhookAllowed() (prefixes []netip.Prefix, hosts []string, err error) {
	for _, text := range c.WebhookAllow {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if prefix, ok := parsePrefix(text); ok {
			prefixes = append(prefixes, prefix)
			continue
		}
		if err := checkASCII("webhook-allow", text); err != nil {
			return nil, nil, err
		}
		if !hostNamePattern.MatchString(text) || len(text) > 253 {
			return nil, nil, settingError("webhook-allow",
				"must be IP addresses, CIDR ranges or host names such as hooks.internal, not %q", text)
		}
		hosts = append(hosts, strings.ToLower(text))
	}
	return prefixes, hosts, nil
}

// hostNamePattern matches a host name whose last label has at least one letter,
// because a name without one is a malformed address.
var hostNamePattern = regexp.MustCompile(
	`^([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*[A-Za-z0-9-]*[A-Za-z][A-Za-z0-9-]*$`)

func parsePrefix(text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	if addr := prefix.Addr(); addr.Is4In6() && prefix.Bits() >= 96 {
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked(), true
}

// Location returns the scheduling zone. The error is the same as that of
// Validate.
func (c *Config) Location() (*time.Location, error) {
	name := c.SchedulingTimezone
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, settingError("scheduling-timezone",
			"must be an IANA time zone such as UTC or Europe/Berlin, not %q", name)
	}
	return zone, nil
}

// Level returns LogLevel as a slog.Level; info if it is invalid.
func (c *Config) Level() slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(c.LogLevel)) != nil {
		return slog.LevelInfo
	}
	return level
}

// KeyFile returns the path of the master key file: MasterKeyFile, or master.key in
// DataDir.
func (c *Storage) KeyFile() string {
	if c.MasterKeyFile != "" {
		return c.MasterKeyFile
	}
	return filepath.Join(c.DataDir, keyFileName)
}

// LoadMasterKey returns the master key from PARLEY_MASTER_KEY or from the key
// file. With create it creates a missing file with a new key; use that only while
// nothing is sealed yet.
func (c *Storage) LoadMasterKey(create bool) (seal.Key, error) {
	if c.MasterKey != "" {
		return seal.ParseKey(c.MasterKey.Reveal())
	}
	return seal.LoadOrCreateKeyFile(c.KeyFile(), create)
}
