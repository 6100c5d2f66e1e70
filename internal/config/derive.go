package config

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // zone data in the binary, so that every machine has the same

	"parley/internal/seal"
)

// keyFileName is the master key's file in the data directory.
const keyFileName = "master.key"

// BaseURL returns the URL at which browsers reach the server, without a slash
// at its end and without a port that its scheme implies: PublicURL, or
// "http://" and the address bound, which is what the listener says it
// listens on (with --listen's port 0 only the listener knows). With bound
// empty the address is Listen. Where the address is every address of the
// machine, the host is localhost.
func (c *Config) BaseURL(bound string) string {
	if u, err := url.Parse(c.PublicURL); err == nil && c.PublicURL != "" {
		return origin(u.Scheme, u.Hostname(), u.Port())
	}
	if bound == "" {
		bound = c.Listen
	}
	host, port, err := net.SplitHostPort(bound)
	if err != nil {
		return origin("http", "localhost", "")
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return origin("http", host, port)
}

// origin writes a URL as a browser's Origin header writes it.
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

// NodeIP returns the address that browsers send media to: RTCNodeIP, or the
// address in Listen. It is the zero Addr where neither names one address, and
// then it has to be found out.
func (c *Config) NodeIP() netip.Addr {
	if ip, err := netip.ParseAddr(c.RTCNodeIP); err == nil {
		return ip.Unmap()
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return netip.Addr{}
	}
	if host == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.IsUnspecified() {
		return netip.Addr{}
	}
	return ip.Unmap().WithZone("")
}

// TrustedPrefixes returns TrustedProxies as ranges of addresses; a single
// address is a range of one. IPv4 ranges written in IPv6 form become IPv4.
// The error is the sentence that Validate gives.
func (c *Config) TrustedPrefixes() ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for _, text := range c.TrustedProxies {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		prefix, ok := parsePrefix(text)
		if !ok {
			return nil, settingError("trusted-proxies", "must be IP addresses or CIDR ranges such as 10.0.0.0/8, not %q", text)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// WebhookAllowed returns WebhookAllow as ranges of addresses, and as names in
// lower case. The error is the sentence that Validate gives.
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
		if !hostNamePattern.MatchString(text) || len(text) > 253 {
			return nil, nil, settingError("webhook-allow", "must be IP addresses, CIDR ranges or host names such as hooks.internal, not %q", text)
		}
		hosts = append(hosts, strings.ToLower(text))
	}
	return prefixes, hosts, nil
}

// hostNamePattern is a name with at least one letter in its last part: what has none
// is an address that is written wrongly.
var hostNamePattern = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*[A-Za-z0-9-]*[A-Za-z][A-Za-z0-9-]*$`)

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

// Location returns the scheduling zone. The error is the sentence that
// Validate gives.
func (c *Config) Location() (*time.Location, error) {
	name := c.SchedulingTimezone
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, settingError("scheduling-timezone", "must be an IANA time zone such as UTC or Europe/Berlin, not %q", name)
	}
	return zone, nil
}

// Level returns LogLevel for slog; info when Validate would refuse it.
func (c *Config) Level() slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(c.LogLevel)) != nil {
		return slog.LevelInfo
	}
	return level
}

// KeyFile returns the path of the master key's file: MasterKeyFile, or
// master.key in DataDir.
func (c *Config) KeyFile() string {
	if c.MasterKeyFile != "" {
		return c.MasterKeyFile
	}
	return filepath.Join(c.DataDir, keyFileName)
}

// LoadMasterKey returns the master key: the one in PARLEY_MASTER_KEY, or the
// one in the key file. With create, a missing file is made with a new key;
// give it only while nothing is sealed yet.
func (c *Config) LoadMasterKey(create bool) (seal.Key, error) {
	if c.MasterKey != "" {
		return seal.ParseKey(c.MasterKey.Reveal())
	}
	return seal.LoadOrCreateKeyFile(c.KeyFile(), create)
}
