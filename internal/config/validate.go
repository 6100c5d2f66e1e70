package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna" // names the ASCII form of a host, whose tables the standard library does not export

	"parley/internal/seal"
	"parley/internal/validate"
)

// Bounds of ClockSkew.
const (
	minClockSkew = time.Second
	maxClockSkew = time.Hour
)

const maxPort = 65535

// maxStopWithin is the upper bound of StopWithin.
const maxStopWithin = time.Hour

// Maximum values of the limits.
const (
	maxNewSeatsPerMinute = 100_000
	maxConnections       = 1_000_000
	maxBackupKeep        = 100_000
)

// minBackupEvery is the lower bound of BackupEvery.
const minBackupEvery = time.Minute

// Validate returns an error with one sentence for each invalid setting, or nil.
// Each sentence names the flag, the variable and the bound. None repeats the
// master key or a URL that may contain a password.
func (c *Config) Validate() error {
	_, timezoneErr := c.Location()
	_, proxiesErr := c.TrustedPrefixes()
	_, _, webhookErr := c.WebhookAllowed()
	_, plansErr := c.Plans()
	return errors.Join(
		checkAddress("listen", c.Listen),
		c.checkPublicURL(),
		c.checkTLS(),
		check(strings.TrimSpace(c.DataDir) != "", "data-dir", "must not be empty"),
		check(1 <= c.RTCUDPPort && c.RTCUDPPort <= maxPort, "rtc-udp-port",
			"must be between 1 and 65535, not %d", c.RTCUDPPort),
		c.checkTCPPort(),
		c.checkNodeIP(),
		proxiesErr,
		checkScheme("database-url", c.DatabaseURL, "postgres", "postgresql"),
		checkScheme("redis-url", c.RedisURL, "redis", "rediss"),
		c.checkMasterKey(),
		c.checkMetricsListen(),
		timezoneErr,
		check(minClockSkew <= c.ClockSkew.Std() && c.ClockSkew.Std() <= maxClockSkew, "clock-skew",
			"must be between 1s and 1h, not %s", c.ClockSkew),
		checkChoice("plan-provider", c.PlanProvider, PlanProviderBuiltin, PlanProviderNone),
		plansErr,
		webhookErr,
		c.checkV3Dates(),
		c.checkBackups(),
		c.checkOIDC(),
		checkLimit("new-seats-per-minute", c.NewSeatsPerMinute, maxNewSeatsPerMinute),
		checkLimit("max-connections", c.MaxConnections, maxConnections),
		checkLimit("max-connections-per-address", c.MaxConnectionsPerAddress, maxConnections),
		check(0 <= c.StopWithin && c.StopWithin.Std() <= maxStopWithin, "stop-within",
			"must be between 0s and 1h, not %s", c.StopWithin),
		checkRetention("retention-rooms", c.RetentionRooms),
		checkRetention("retention-people", c.RetentionPeople),
		checkRetention("retention-calls", c.RetentionCalls),
		checkRetention("retention-deliveries", c.RetentionDeliveries),
		checkRetention("retention-audit", c.RetentionAudit),
		checkChoice("log-level", c.LogLevel, "debug", "info", "warn", "error"),
		checkChoice("log-format", c.LogFormat, LogFormatText, LogFormatJSON),
	)
}

// settingError returns an error that begins with the flag and the variable.
func settingError(flag, format string, args ...any) error {
	env := ""
	for _, s := range settings() {
		if s.flag == flag {
			env = s.env
		}
	}
	return fmt.Errorf("--%s (%s) %w", flag, env, fmt.Errorf(format, args...))
}

// check returns nil if ok, and the error of settingError otherwise.
func check(ok bool, flag, format string, args ...any) error {
	if ok {
		return nil
	}
	return settingError(flag, format, args...)
}

func checkChoice(flag, value string, choices ...string) error {
	last := len(choices) - 1
	all := strings.Join(choices[:last], ", ") + " or " + choices[last]
	return check(slices.Contains(choices, value), flag, "must be %s, not %q", all, value)
}

func checkRetention(flag string, d Duration) error {
	const longest = validate.MaxRetentionDays * day
	ok := d == 0 || d.Std() >= day && d.Std() <= longest
	return check(ok, flag, "must be 0 (for ever) or between 1d and %dd, not %s", validate.MaxRetentionDays, d)
}

func checkLimit(flag string, value, highest int) error {
	return check(0 <= value && value <= highest, flag, "must be 0 (no limit) or between 1 and %d, not %d", highest,
		value)
}

func checkAddress(flag, value string) error {
	host, port, err := net.SplitHostPort(value)
	if err != nil || strings.ContainsAny(host, " /@") || !isPort(port) {
		return settingError(flag,
			"must be host:port with a port between 0 and 65535, such as 127.0.0.1:8080 or [::1]:8080, not %q", value)
	}
	return nil
}

// isPort reports whether text is a port number, 0 included.
func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && isDigits(text) && n <= maxPort
}

func (c *Config) checkMetricsListen() error {
	if c.MetricsListen == "" {
		return nil
	}
	return checkAddress("metrics-listen", c.MetricsListen)
}

func (c *Config) checkPublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return settingError("public-url",
			"must be an absolute URL with http or https, such as https://meet.example.org")
	}
	if u.User != nil {
		return settingError("public-url", "must not contain a user name or password")
	}
	if err := checkASCII("public-url", u.Hostname()); err != nil {
		return err
	}
	hasQuery := u.RawQuery != "" || u.ForceQuery
	if strings.TrimSuffix(u.EscapedPath(), "/") != "" || hasQuery || strings.Contains(c.PublicURL, "#") {
		return settingError("public-url",
			"must end after the host and port, without a path, query or fragment, not %q", c.PublicURL)
	}
	if port := u.Port(); strings.HasSuffix(u.Host, ":") || port != "" && (!isPort(port) || port == "0") {
		return settingError("public-url", "must have a port between 1 and 65535 or none, not %q", c.PublicURL)
	}
	return nil
}

// checkASCII refuses a host name with other letters. Browsers send the ASCII form, and links and certificates have it.
func checkASCII(flag, host string) error {
	if !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	form, err := idna.Lookup.ToASCII(host)
	if err != nil {
		form = "such as xn--mller-kva.example"
	}
	return settingError(flag, "must have the ASCII form of the host, %s, not %q", form, host)
}

func (c *Config) checkTCPPort() error {
	if c.RTCTCPPort < 0 || c.RTCTCPPort > maxPort {
		return settingError("rtc-tcp-port", "must be 0 (off) or between 1 and 65535, not %d", c.RTCTCPPort)
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if err == nil && c.RTCTCPPort != 0 && port == strconv.Itoa(c.RTCTCPPort) && !c.ServesTLS() {
		return settingError("rtc-tcp-port", "must differ from the port of --listen (%s)", port)
	}
	return nil
}

func (c *Config) checkNodeIP() error {
	if _, err := parseNodeIPs(c.RTCNodeIP); err != nil {
		return settingError("rtc-node-ip", "must be the IP address of one machine, such as 203.0.113.7, "+
			"or one IPv4 and one IPv6 address with a comma between them, not %q", c.RTCNodeIP)
	}
	return nil
}

// checkScheme checks only the scheme of a URL, because its driver checks the rest
// and the error must not repeat the value.
func checkScheme(flag string, value seal.Secret, schemes ...string) error {
	if value == "" {
		return nil
	}
	for _, scheme := range schemes {
		if rest, ok := strings.CutPrefix(value.Reveal(), scheme+"://"); ok && rest != "" {
			return nil
		}
	}
	return settingError(flag, "must be a URL that begins with %s", strings.Join(schemes, ":// or ")+"://")
}

// CheckPostgresURL returns an error that names the flag unless value is the URL of a
// PostgreSQL database. It does not contain the value.
func CheckPostgresURL(flag string, value seal.Secret) error {
	for _, scheme := range []string{"postgres", "postgresql"} {
		if strings.HasPrefix(value.Reveal(), scheme+"://") {
			return nil
		}
	}
	return fmt.Errorf("--%s must be a URL that begins with postgres:// or postgresql://", flag)
}

// checkV3Dates checks that the sunset is at least twelve months after the
// deprecation, which is the notice that clients are promised.
func (c *Config) checkV3Dates() error {
	deprecation, sunset := c.V3DeprecationDate.Std(), c.V3SunsetDate.Std()
	if sunset.IsZero() {
		return nil
	}
	if deprecation.IsZero() {
		return settingError("v3-sunset-date", "needs --v3-deprecation-date, at least twelve months earlier")
	}
	if earliest := deprecation.AddDate(1, 0, 0); sunset.Before(earliest) {
		return settingError("v3-sunset-date",
			"must be at least twelve months after --v3-deprecation-date: %s or later, not %s",
			Date(earliest), c.V3SunsetDate)
	}
	return nil
}

func (c *Config) checkBackups() error {
	keep := check(0 <= c.BackupKeep && c.BackupKeep <= maxBackupKeep, "backup-keep",
		"must be 0 (all) or between 1 and %d, not %d", maxBackupKeep, c.BackupKeep)
	switch {
	case c.BackupDir == "" && c.BackupEvery == 0:
		return errors.Join(keep, check(c.BackupKeep == 0, "backup-keep", "needs --backup-dir and --backup-every"))
	case c.BackupDir == "":
		return errors.Join(keep, settingError("backup-every", "needs --backup-dir"))
	case c.BackupEvery == 0:
		return errors.Join(keep, settingError("backup-dir", "needs --backup-every, such as 6h"))
	}
	return errors.Join(keep, check(c.BackupEvery.Std() >= minBackupEvery, "backup-every",
		"must be at least 1m, not %s", c.BackupEvery))
}

// isLoopback reports whether a host name or address is that of the machine itself.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (c *Config) checkMasterKey() error {
	if c.MasterKey == "" {
		return nil
	}
	if _, err := seal.ParseKey(c.MasterKey.Reveal()); err != nil {
		return fmt.Errorf("%s: %w", envMasterKey, err)
	}
	return nil
}
