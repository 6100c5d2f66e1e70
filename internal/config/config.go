// Package config holds the server's settings: their defaults, and how a file,
// the environment and the command line change them. Flags take precedence over
// the environment, and the environment over the file.
//
// It imports kong, yaml and the packages seal and validate. It only reads the files of
// settings, plans and the master key, and must not import the server, the store
// or the domain, because it describes the settings and does not apply them.
package config

import "parley/internal/seal"

// Storage contains the settings that say where the data of the server is, for commands
// that read it themselves. Such a command embeds it as it would embed Config.
type Storage struct {
	ConfigFile string `name:"config" setting:"PARLEY_CONFIG" placeholder:"FILE" help:"YAML file with settings, named as the flags with underscores."`
	// DataDir is the directory of the SQLite file, master.key and quickstart.json.
	DataDir string `name:"data-dir" setting:"PARLEY_DATA_DIR" default:"./data" help:"Directory for all data."`
	// DatabaseURL is a PostgreSQL URL, or empty for SQLite in DataDir.
	DatabaseURL seal.Secret `name:"database-url" setting:"PARLEY_DATABASE_URL" placeholder:"URL" help:"URL of a PostgreSQL database, postgres://…. Default: SQLite in the data directory."`
	// MasterKeyFile is the path of the key file, or empty. Read the key
	// through LoadMasterKey.
	MasterKeyFile string `name:"master-key-file" setting:"PARLEY_MASTER_KEY_FILE" placeholder:"FILE" help:"File with the master key; PARLEY_MASTER_KEY may contain the key itself instead. Default: master.key in the data directory."`
	// MasterKey is the value of PARLEY_MASTER_KEY, the key itself. It has no flag
	// and no key in the file. It is empty when the command line names a key file.
	MasterKey seal.Secret `kong:"-"`

	sources map[string]Source // of the settings that are no defaults, by flag
}

// Config contains all settings of the server. A kong command embeds it and needs
// the kong options that Options returns. The tag "setting" is the environment
// variable; the key in the file is the flag's name with underscores.
type Config struct {
	Storage

	// Listen is the address of HTTP and WebSocket, host:port. Port 0 selects a free
	// port. An empty host means all addresses of the machine.
	Listen string `name:"listen" setting:"PARLEY_LISTEN" default:"127.0.0.1:8080" help:"Address to listen on."`
	// PublicURL is the URL at which browsers reach the server, or empty. Read it
	// through BaseURL.
	PublicURL string `name:"public-url" setting:"PARLEY_PUBLIC_URL" placeholder:"URL" help:"URL at which browsers reach the server, such as https://meet.example.org. Default: derived from --tls-domain or --listen."`

	// TLSDomain lists host names and excludes TLSCertFile; read it through TLSDomains. TLSCertFile
	// and TLSKeyFile are both set or both empty. With one of them, Listen is ":443" by default.
	TLSDomain   []string `name:"tls-domain" setting:"PARLEY_TLS_DOMAIN" placeholder:"HOST" help:"Host names for which the server obtains a certificate by itself, to serve HTTPS at --listen, which is :443 then; separated by commas. Default: none, HTTP."`
	TLSCertFile string   `name:"tls-cert-file" setting:"PARLEY_TLS_CERT_FILE" placeholder:"FILE" help:"PEM file with a certificate and its chain, to serve HTTPS with it instead of --tls-domain. It is loaded again when it changes. Default: none."`
	TLSKeyFile  string   `name:"tls-key-file" setting:"PARLEY_TLS_KEY_FILE" placeholder:"FILE" help:"PEM file with the key of that certificate."`
	// HTTPListen is an address, host:port, or empty.
	HTTPListen string `name:"http-listen" setting:"PARLEY_HTTP_LISTEN" placeholder:"HOST:PORT" help:"Separate address for HTTP, usually :80, that redirects browsers to HTTPS. Default: none."`

	// ACMECA, ACMECARoots and ACMEEmail are for TLSDomain.
	ACMECA      string `name:"acme-ca" setting:"PARLEY_ACME_CA" default:"https://acme-v02.api.letsencrypt.org/directory" placeholder:"URL" help:"URL of the directory of the ACME authority that issues the certificate of --tls-domain."`
	ACMECARoots string `name:"acme-ca-roots" setting:"PARLEY_ACME_CA_ROOTS" placeholder:"FILE" help:"PEM file with the certificates with which the authority's own server is checked. Default: those of the system."`
	ACMEEmail   string `name:"acme-email" setting:"PARLEY_ACME_EMAIL" placeholder:"EMAIL" help:"Email address at which the authority can reach the operator. Default: none."`

	// RTCUDPPort is 1 to 65535.
	RTCUDPPort int `name:"rtc-udp-port" setting:"PARLEY_RTC_UDP_PORT" default:"7882" help:"UDP port for media."`
	// RTCTCPPort is 1 to 65535, or 0: off, and with TLS the port of Listen. Read it through
	// SeparateTCPPort.
	RTCTCPPort int `name:"rtc-tcp-port" setting:"PARLEY_RTC_TCP_PORT" default:"0" help:"TCP port for media on networks that block UDP; usually 7881. 0 is the port of --listen with --tls-domain or --tls-cert-file, and off without them."`
	// TURN has an effect with TLS only.
	TURN bool `name:"turn" setting:"PARLEY_TURN" default:"true" negatable:"" help:"TURN server at --listen for people whose network blocks UDP, with --tls-domain or --tls-cert-file. It relays to the media ports of the service only."`
	// RTCNodeIP is an IP address, one of each family, or empty. Read it through NodeIPs.
	RTCNodeIP string `name:"rtc-node-ip" setting:"PARLEY_RTC_NODE_IP" placeholder:"IP" help:"IP address that browsers send media to, or one IPv4 and one IPv6 address with a comma. Default: the address of --listen, or detected."`

	// TrustedProxies lists the addresses whose forwarding headers are trusted. Read
	// it through TrustedPrefixes.
	TrustedProxies []string `name:"trusted-proxies" setting:"PARLEY_TRUSTED_PROXIES" placeholder:"CIDR" help:"Proxies whose forwarding headers are trusted: addresses or CIDR ranges, separated by commas. Default: none."`

	// RedisURL is a Redis URL, or empty for a single process.
	RedisURL seal.Secret `name:"redis-url" setting:"PARLEY_REDIS_URL" placeholder:"URL" help:"URL of the Redis server, redis://…, that connects several processes on one PostgreSQL database. Default: none, a single process."`

	MetricsListen         string `name:"metrics-listen" setting:"PARLEY_METRICS_LISTEN" placeholder:"HOST:PORT" help:"Separate address for /metrics without a token. Default: none."`
	LiveKitMetricsEnabled bool   `name:"livekit-metrics-enabled" setting:"PARLEY_LIVEKIT_METRICS_ENABLED" default:"false" negatable:"" help:"LiveKit's own metrics in /metrics, in addition to those of Parley."`
	// SchedulingTimezone is an IANA name. Read it through Location.
	SchedulingTimezone string `name:"scheduling-timezone" setting:"PARLEY_SCHEDULING_TIMEZONE" default:"UTC" help:"IANA time zone of start times without an offset."`
	// ClockSkew is 1s to 1h.
	ClockSkew Duration `name:"clock-skew" setting:"PARLEY_CLOCK_SKEW" default:"5m" help:"Maximum difference between a signed timestamp and the server's clock, in either direction."`

	GatewayEnabled     bool   `name:"gateway-enabled" setting:"PARLEY_GATEWAY_ENABLED" default:"true" negatable:"" help:"Version 5 of the API."`
	DiagnosticsEnabled bool   `name:"diagnostics-enabled" setting:"PARLEY_DIAGNOSTICS_ENABLED" default:"true" negatable:"" help:"Record of API calls, for parley calls and GET /api/v5/requests."`
	PlanProvider       string `name:"plan-provider" setting:"PARLEY_PLAN_PROVIDER" default:"builtin" help:"Provider of plans: builtin or none."`
	// PlansFile is the path of a YAML file with plans, or empty. Read it
	// through Plans.
	PlansFile         string `name:"plans-file" setting:"PARLEY_PLANS_FILE" placeholder:"FILE" help:"YAML file with the plans of the builtin provider. Default: none, only the plan named default."`
	RateLimitsEnabled bool   `name:"rate-limits-enabled" setting:"PARLEY_RATE_LIMITS_ENABLED" default:"true" negatable:"" help:"Rate limits per key and per address."`

	// NewSeatsPerMinute is 0 (no limit) to 100000.
	NewSeatsPerMinute int `name:"new-seats-per-minute" setting:"PARLEY_NEW_SEATS_PER_MINUTE" default:"60" help:"Maximum number of guests a minute who join from one address for the first time; 0 is no limit."`
	// MaxConnections and MaxConnectionsPerAddress are 0 (no limit) to 1000000.
	MaxConnections           int `name:"max-connections" setting:"PARLEY_MAX_CONNECTIONS" default:"10000" help:"Maximum number of open connections; lowered if the limit of open files is too low. 0 is no limit."`
	MaxConnectionsPerAddress int `name:"max-connections-per-address" setting:"PARLEY_MAX_CONNECTIONS_PER_ADDRESS" default:"2000" help:"Maximum number of open connections from one address that is not a trusted proxy; 0 is no limit."`

	LegacyV3KeyHeader             bool `name:"legacy-v3-key-header" setting:"PARLEY_LEGACY_V3_KEY_HEADER" default:"false" negatable:"" help:"Version 3 calls with an API key and without a signature."`
	LegacyCompanionBodySignatures bool `name:"legacy-companion-body-signatures" setting:"PARLEY_LEGACY_COMPANION_BODY_SIGNATURES" default:"false" negatable:"" help:"Body signatures on the companion routes, in addition to version 5 signatures."`
	LegacyClients                 bool `name:"legacy-clients" setting:"PARLEY_LEGACY_CLIENTS" default:"false" negatable:"" help:"Unchanged clients of other servers of this API family: both older ways to sign, and what else these clients need."`
	WebhookAllowPrivate           bool `name:"webhook-allow-private" setting:"PARLEY_WEBHOOK_ALLOW_PRIVATE" default:"false" negatable:"" help:"Webhooks to private addresses."`
	// WebhookAllow lists private address ranges and host names that webhooks may
	// be sent to. Read it through WebhookAllowed.
	WebhookAllow []string `name:"webhook-allow" setting:"PARLEY_WEBHOOK_ALLOW" placeholder:"CIDR|HOST" help:"Private targets that webhooks may be sent to: addresses, CIDR ranges or host names, separated by commas. Default: none."`

	// BackupDir, BackupEvery and BackupKeep schedule backups. Dir and Every are both set
	// or both empty. Keep is 1 to 100000, or 0 (all).
	BackupDir   string   `name:"backup-dir" setting:"PARLEY_BACKUP_DIR" placeholder:"DIR" help:"Directory for scheduled backups, which must exist. Default: none, no scheduled backups."`
	BackupEvery Duration `name:"backup-every" setting:"PARLEY_BACKUP_EVERY" placeholder:"DURATION" help:"Time between two scheduled backups, at least 1m. Default: none."`
	BackupKeep  int      `name:"backup-keep" setting:"PARLEY_BACKUP_KEEP" default:"0" help:"Number of scheduled backups to keep; 0 keeps all."`

	// OIDCIssuer and OIDCClientID are both set, or both empty.
	OIDCIssuer       string      `name:"oidc-issuer" setting:"PARLEY_OIDC_ISSUER" placeholder:"URL" help:"URL of the OpenID Connect provider with which users sign in to the console. Default: none."`
	OIDCClientID     string      `name:"oidc-client-id" setting:"PARLEY_OIDC_CLIENT_ID" placeholder:"ID" help:"ID of this server at the OpenID Connect provider."`
	OIDCClientSecret seal.Secret `name:"oidc-client-secret" setting:"PARLEY_OIDC_CLIENT_SECRET" placeholder:"SECRET" help:"Secret of this server at the OpenID Connect provider. Default: none, for a provider that needs none with PKCE."`
	// OIDCClientSecretFile is the path of a file with the secret, or empty. Read the secret through
	// OIDCSecret.
	OIDCClientSecretFile string `name:"oidc-client-secret-file" setting:"PARLEY_OIDC_CLIENT_SECRET_FILE" placeholder:"FILE" help:"File with the secret of this server at the OpenID Connect provider, instead of --oidc-client-secret."`
	// OIDCAllow lists email addresses and domains. Read it through OIDCAllowed.
	OIDCAllow []string `name:"oidc-allow" setting:"PARLEY_OIDC_ALLOW" placeholder:"EMAIL|@DOMAIN" help:"Users who may sign in with OpenID Connect: email addresses or domains such as @example.org, separated by commas. Default: all users."`
	OIDCName  string   `name:"oidc-name" setting:"PARLEY_OIDC_NAME" default:"OpenID Connect" help:"Name of the OpenID Connect provider on the sign-in page, 1 to 50 characters."`

	// V3DeprecationDate and V3SunsetDate announce the end of version 3; the zero
	// Date announces nothing.
	V3DeprecationDate Date `name:"v3-deprecation-date" setting:"PARLEY_V3_DEPRECATION_DATE" placeholder:"DATE" help:"Date from which version 3 is deprecated, such as 2027-01-31. Default: none."`
	V3SunsetDate      Date `name:"v3-sunset-date" setting:"PARLEY_V3_SUNSET_DATE" placeholder:"DATE" help:"Date from which version 3 is no longer served; at least twelve months after its deprecation. Default: none."`

	// Supervise makes serve run the service as a child process and restart it after
	// a crash.
	Supervise bool `name:"supervise" setting:"PARLEY_SUPERVISE" default:"true" negatable:"" help:"Supervisor that runs the service as a child process and restarts it after a crash."`

	// StopWithin is 0 to 1h. Read it through DrainTime.
	StopWithin Duration `name:"stop-within" setting:"PARLEY_STOP_WITHIN" default:"10s" help:"Maximum time in which a node hands over its meetings to other nodes before it stops, with --redis-url."`

	// The retention periods are 1d to 3650d, or 0 (for ever). A project can shorten those
	// of RetentionRooms, RetentionPeople, RetentionCalls and RetentionDeliveries.
	RetentionRooms      Duration `name:"retention-rooms" setting:"PARLEY_RETENTION_ROOMS" default:"365d" help:"Period for which ended rooms are kept, with their events and attendance; 0 is for ever."`
	RetentionPeople     Duration `name:"retention-people" setting:"PARLEY_RETENTION_PEOPLE" default:"90d" help:"Period for which names and IDs of people are kept after the end of a room; 0 is as long as the room."`
	RetentionCalls      Duration `name:"retention-calls" setting:"PARLEY_RETENTION_CALLS" default:"7d" help:"Period for which records of API calls are kept; 0 is for ever."`
	RetentionDeliveries Duration `name:"retention-deliveries" setting:"PARLEY_RETENTION_DELIVERIES" default:"30d" help:"Period for which webhook deliveries are kept; 0 is as long as names."`
	RetentionAudit      Duration `name:"retention-audit" setting:"PARLEY_RETENTION_AUDIT" default:"400d" help:"Period for which entries of the audit log are kept; 0 is for ever."`

	// LogLevel is debug, info, warn or error. Read it through Level.
	LogLevel  string `name:"log-level" setting:"PARLEY_LOG_LEVEL" default:"info" help:"Level of the log: debug, info, warn or error."`
	LogFormat string `name:"log-format" setting:"PARLEY_LOG_FORMAT" default:"text" help:"Format of the log: text or json."`
}

// The values of PlanProvider and LogFormat.
const (
	PlanProviderBuiltin = "builtin"
	PlanProviderNone    = "none"
	LogFormatText       = "text"
	LogFormatJSON       = "json"
)
