// Package config holds the server's settings: their defaults, and how a file,
// the environment and the command line change them. Flags beat the
// environment, and the environment beats the file.
//
// It imports kong, yaml and the packages seal and validate. It opens nothing but the files of
// settings, plans and the master key, and must not import the server, the
// store or any part of the domain: it says what was asked for, and others do
// it.
package config

import "parley/internal/seal"

// Config is every setting of the server. A kong command embeds it; Options
// gives the kong options that this needs. The tag "setting" is the
// environment variable; the key in the file is the flag's name with
// underscores.
type Config struct {
	ConfigFile string `name:"config" setting:"PARLEY_CONFIG" placeholder:"FILE" help:"YAML file with settings, named as the flags with underscores."`

	// Listen is the address of HTTP and WebSocket, host:port. Port 0 takes
	// any free one. An empty host means every address of the machine.
	Listen string `name:"listen" setting:"PARLEY_LISTEN" default:"127.0.0.1:8080" help:"Address to listen on."`
	// PublicURL is where browsers reach the server, or empty. Read it
	// through BaseURL.
	PublicURL string `name:"public-url" setting:"PARLEY_PUBLIC_URL" placeholder:"URL" help:"URL at which browsers reach the server, such as https://meet.example.org. Default: from --listen."`
	// DataDir is the directory of the SQLite file, master.key and quickstart.json.
	DataDir string `name:"data-dir" setting:"PARLEY_DATA_DIR" default:"./data" help:"Directory for everything that is kept."`

	// RTCUDPPort is 1 to 65535.
	RTCUDPPort int `name:"rtc-udp-port" setting:"PARLEY_RTC_UDP_PORT" default:"7882" help:"UDP port for media."`
	// RTCTCPPort is 1 to 65535, or 0 for none.
	RTCTCPPort int `name:"rtc-tcp-port" setting:"PARLEY_RTC_TCP_PORT" default:"0" help:"TCP port for media, for networks that block UDP; usually 7881, 0 is off."`
	// RTCNodeIP is an IP address, or empty. Read it through NodeIP.
	RTCNodeIP string `name:"rtc-node-ip" setting:"PARLEY_RTC_NODE_IP" placeholder:"IP" help:"IP address that browsers send media to. Default: the address of --listen, or found out."`

	// TrustedProxies lists the addresses whose forwarding headers are
	// believed. Read it through TrustedPrefixes.
	TrustedProxies []string `name:"trusted-proxies" setting:"PARLEY_TRUSTED_PROXIES" placeholder:"CIDR" help:"Proxies whose forwarding headers are believed: addresses or CIDR ranges, with commas between them. Default: none."`

	// DatabaseURL is a PostgreSQL URL, or empty for SQLite in DataDir. It
	// may contain a password.
	DatabaseURL seal.Secret `name:"database-url" setting:"PARLEY_DATABASE_URL" placeholder:"URL" help:"postgres://… for PostgreSQL. Default: SQLite in the data directory."`
	// RedisURL is a Redis URL, or empty for a single process. It may contain
	// a password.
	RedisURL seal.Secret `name:"redis-url" setting:"PARLEY_REDIS_URL" placeholder:"URL" help:"redis://… makes several processes on one PostgreSQL one service. Default: none, one process."`

	// MasterKeyFile is the path of the key file, or empty. Read the key
	// through LoadMasterKey.
	MasterKeyFile string `name:"master-key-file" setting:"PARLEY_MASTER_KEY_FILE" placeholder:"FILE" help:"File with the master key; PARLEY_MASTER_KEY may hold the key itself instead. Default: master.key in the data directory."`
	// MasterKey is what PARLEY_MASTER_KEY holds, the key itself. It has no
	// flag and no key in the file. It is empty when the command line names a
	// key file.
	MasterKey seal.Secret `kong:"-"`

	MetricsListen string `name:"metrics-listen" setting:"PARLEY_METRICS_LISTEN" placeholder:"HOST:PORT" help:"Separate address for /metrics without a token. Default: none."`
	// SchedulingTimezone is an IANA name. Read it through Location.
	SchedulingTimezone string `name:"scheduling-timezone" setting:"PARLEY_SCHEDULING_TIMEZONE" default:"UTC" help:"IANA time zone of start times that name none."`
	// ClockSkew is 1s to 1h.
	ClockSkew Duration `name:"clock-skew" setting:"PARLEY_CLOCK_SKEW" default:"5m" help:"How far a signed timestamp may be off, either way."`

	GatewayEnabled     bool   `name:"gateway-enabled" setting:"PARLEY_GATEWAY_ENABLED" default:"true" negatable:"" help:"Serve version 5."`
	DiagnosticsEnabled bool   `name:"diagnostics-enabled" setting:"PARLEY_DIAGNOSTICS_ENABLED" default:"true" negatable:"" help:"Keep a record of version 5 calls for GET /api/v5/requests."`
	PlanProvider       string `name:"plan-provider" setting:"PARLEY_PLAN_PROVIDER" default:"builtin" help:"Who knows plans: builtin or none."`
	// PlansFile is the path of a YAML file with plans, or empty. Read it
	// through Plans.
	PlansFile         string `name:"plans-file" setting:"PARLEY_PLANS_FILE" placeholder:"FILE" help:"YAML file with the plans that the builtin provider knows. Default: none, the plan named default alone."`
	RateLimitsEnabled bool   `name:"rate-limits-enabled" setting:"PARLEY_RATE_LIMITS_ENABLED" default:"true" negatable:"" help:"Limit how often keys and addresses may call."`

	// NewSeatsPerMinute is 0 (no limit) to 100000.
	NewSeatsPerMinute int `name:"new-seats-per-minute" setting:"PARLEY_NEW_SEATS_PER_MINUTE" default:"60" help:"Number of guests a minute who may join from one address for the first time; 0 is no limit."`
	// MaxConnections and MaxConnectionsPerAddress are 0 (no limit) to 1000000.
	MaxConnections           int `name:"max-connections" setting:"PARLEY_MAX_CONNECTIONS" default:"10000" help:"Number of open connections at once; lowered to what the limit of open files allows. 0 is no limit."`
	MaxConnectionsPerAddress int `name:"max-connections-per-address" setting:"PARLEY_MAX_CONNECTIONS_PER_ADDRESS" default:"2000" help:"Number of open connections at once from one address that is no trusted proxy; 0 is no limit."`

	LegacyV3KeyHeader             bool `name:"legacy-v3-key-header" setting:"PARLEY_LEGACY_V3_KEY_HEADER" default:"false" negatable:"" help:"Let version 3 calls through with a key and no signature."`
	LegacyCompanionBodySignatures bool `name:"legacy-companion-body-signatures" setting:"PARLEY_LEGACY_COMPANION_BODY_SIGNATURES" default:"false" negatable:"" help:"Also accept body signatures on the companion routes."`
	WebhookAllowPrivate           bool `name:"webhook-allow-private" setting:"PARLEY_WEBHOOK_ALLOW_PRIVATE" default:"false" negatable:"" help:"Deliver webhooks to private addresses too."`
	// WebhookAllow lists ranges and host names that webhooks may go to
	// although they are private. Read it through WebhookAllowed.
	WebhookAllow []string `name:"webhook-allow" setting:"PARLEY_WEBHOOK_ALLOW" placeholder:"CIDR|HOST" help:"Private addresses that webhooks may go to all the same: addresses, CIDR ranges or host names, with commas between them. Default: none."`

	// V3DeprecationDate and V3SunsetDate announce the end of version 3; none
	// unless set.
	V3DeprecationDate Date `name:"v3-deprecation-date" setting:"PARLEY_V3_DEPRECATION_DATE" placeholder:"DATE" help:"From when version 3 should not be used any more, such as 2027-01-31. Default: none."`
	V3SunsetDate      Date `name:"v3-sunset-date" setting:"PARLEY_V3_SUNSET_DATE" placeholder:"DATE" help:"From when version 3 is not served any more; twelve months after its deprecation or later. Default: none."`

	// Supervise is whether serve runs the service as a child process that is
	// started again after a crash.
	Supervise bool `name:"supervise" setting:"PARLEY_SUPERVISE" default:"true" negatable:"" help:"Run the service as a child process and restart it after a crash."`

	// LogLevel is debug, info, warn or error. Read it through Level.
	LogLevel  string `name:"log-level" setting:"PARLEY_LOG_LEVEL" default:"info" help:"What to log: debug, info, warn or error."`
	LogFormat string `name:"log-format" setting:"PARLEY_LOG_FORMAT" default:"text" help:"How to log: text or json."`
}

// The values of PlanProvider and LogFormat.
const (
	PlanProviderBuiltin = "builtin"
	PlanProviderNone    = "none"
	LogFormatText       = "text"
	LogFormatJSON       = "json"
)
