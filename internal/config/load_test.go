package config

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// command is the part of cmd/parley that these tests need.
type command struct {
	Serve struct {
		Config
		Demo bool
	} `cmd:""`
	Other struct {
		Listen string `default:"not a setting"`
	} `cmd:""`
}

// load parses a command line with an environment.
func load(t *testing.T, environ []string, args ...string) (Config, error) {
	t.Helper()
	var c command
	parser, err := kong.New(&c, append(Options(environ), kong.Name("parley"))...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append([]string{"serve"}, args...))
	return c.Serve.Config, err
}

// writeFile returns the path of a new configuration file.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSettings_NamesAndDefaults checks the names and defaults of settings that
// scripts rely on.
func TestSettings_NamesAndDefaults(t *testing.T) {
	want := strings.TrimSpace(`
config PARLEY_CONFIG
data-dir PARLEY_DATA_DIR ./data
database-url PARLEY_DATABASE_URL
master-key-file PARLEY_MASTER_KEY_FILE
listen PARLEY_LISTEN 127.0.0.1:8080
public-url PARLEY_PUBLIC_URL
tls-domain PARLEY_TLS_DOMAIN
tls-cert-file PARLEY_TLS_CERT_FILE
tls-key-file PARLEY_TLS_KEY_FILE
http-listen PARLEY_HTTP_LISTEN
acme-ca PARLEY_ACME_CA https://acme-v02.api.letsencrypt.org/directory
acme-ca-roots PARLEY_ACME_CA_ROOTS
acme-email PARLEY_ACME_EMAIL
rtc-udp-port PARLEY_RTC_UDP_PORT 7882
rtc-tcp-port PARLEY_RTC_TCP_PORT 0
turn PARLEY_TURN true
rtc-node-ip PARLEY_RTC_NODE_IP
trusted-proxies PARLEY_TRUSTED_PROXIES
redis-url PARLEY_REDIS_URL
metrics-listen PARLEY_METRICS_LISTEN
livekit-metrics-enabled PARLEY_LIVEKIT_METRICS_ENABLED false
scheduling-timezone PARLEY_SCHEDULING_TIMEZONE UTC
clock-skew PARLEY_CLOCK_SKEW 5m
gateway-enabled PARLEY_GATEWAY_ENABLED true
diagnostics-enabled PARLEY_DIAGNOSTICS_ENABLED true
plan-provider PARLEY_PLAN_PROVIDER builtin
plans-file PARLEY_PLANS_FILE
rate-limits-enabled PARLEY_RATE_LIMITS_ENABLED true
new-seats-per-minute PARLEY_NEW_SEATS_PER_MINUTE 60
max-connections PARLEY_MAX_CONNECTIONS 10000
max-connections-per-address PARLEY_MAX_CONNECTIONS_PER_ADDRESS 2000
legacy-v3-key-header PARLEY_LEGACY_V3_KEY_HEADER false
legacy-companion-body-signatures PARLEY_LEGACY_COMPANION_BODY_SIGNATURES false
legacy-clients PARLEY_LEGACY_CLIENTS false
webhook-allow-private PARLEY_WEBHOOK_ALLOW_PRIVATE false
webhook-allow PARLEY_WEBHOOK_ALLOW
backup-dir PARLEY_BACKUP_DIR
backup-every PARLEY_BACKUP_EVERY
backup-keep PARLEY_BACKUP_KEEP 0
oidc-issuer PARLEY_OIDC_ISSUER
oidc-client-id PARLEY_OIDC_CLIENT_ID
oidc-client-secret PARLEY_OIDC_CLIENT_SECRET
oidc-client-secret-file PARLEY_OIDC_CLIENT_SECRET_FILE
oidc-allow PARLEY_OIDC_ALLOW
oidc-name PARLEY_OIDC_NAME OpenID Connect
v3-deprecation-date PARLEY_V3_DEPRECATION_DATE
v3-sunset-date PARLEY_V3_SUNSET_DATE
supervise PARLEY_SUPERVISE true
stop-within PARLEY_STOP_WITHIN 10s
retention-rooms PARLEY_RETENTION_ROOMS 365d
retention-people PARLEY_RETENTION_PEOPLE 90d
retention-calls PARLEY_RETENTION_CALLS 7d
retention-deliveries PARLEY_RETENTION_DELIVERIES 30d
retention-audit PARLEY_RETENTION_AUDIT 400d
log-level PARLEY_LOG_LEVEL info
log-format PARLEY_LOG_FORMAT text`)
	var c command
	parser, err := kong.New(&c, Options(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, flag := range parser.Model.Children[0].Flags {
		if env := flag.Tag.Get("setting"); env != "" {
			lines = append(lines, strings.TrimSpace(flag.Name+" "+env+" "+flag.Default))
			if flag.Target.Kind().String() == "bool" && flag.Tag.Negatable == "" {
				t.Errorf("flag --%s: got no --no-%s, want one", flag.Name, flag.Name)
			}
			if !strings.Contains(flag.Help, "$"+env) {
				t.Errorf("help of --%s: got %q, want $%s in it", flag.Name, flag.Help, env)
			}
		}
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("names and defaults differ (-want +got):\n%s", diff)
	}
}

// TestSettings_Precedence checks for every type of setting that flags take
// precedence over the environment, and the environment over the file.
func TestSettings_Precedence(t *testing.T) {
	for _, c := range []struct {
		name, fromFile, fromEnv, fromFlag string // the setting in each source
		get                               func(Config) any
		byDefault, file, env, flag        any // the value of each source
	}{
		{"text", "listen: 127.0.0.1:1", "PARLEY_LISTEN=127.0.0.1:2", "--listen=127.0.0.1:3",
			func(c Config) any { return c.Listen },
			"127.0.0.1:8080", "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
		{"number", "rtc_udp_port: 1", "PARLEY_RTC_UDP_PORT=2", "--rtc-udp-port=3",
			func(c Config) any { return c.RTCUDPPort }, 7882, 1, 2, 3},
		{"number back to its default", "rtc_udp_port: 1", "PARLEY_RTC_UDP_PORT=2", "--rtc-udp-port=7882",
			func(c Config) any { return c.RTCUDPPort }, 7882, 1, 2, 7882},
		{"number zero", "rtc_tcp_port: 1", "PARLEY_RTC_TCP_PORT=2", "--rtc-tcp-port=0",
			func(c Config) any { return c.RTCTCPPort }, 0, 1, 2, 0},
		{"true by default", "gateway_enabled: false", "PARLEY_GATEWAY_ENABLED=true", "--no-gateway-enabled",
			func(c Config) any { return c.GatewayEnabled }, true, false, true, false},
		{"true by default, turned on", "gateway_enabled: false", "PARLEY_GATEWAY_ENABLED=0", "--gateway-enabled",
			func(c Config) any { return c.GatewayEnabled }, true, false, false, true},
		{"false by default", "webhook_allow_private: true", "PARLEY_WEBHOOK_ALLOW_PRIVATE=No", "--webhook-allow-private",
			func(c Config) any { return c.WebhookAllowPrivate }, false, true, false, true},
		{"duration", "clock_skew: 1m", "PARLEY_CLOCK_SKEW=2m", "--clock-skew=3m",
			func(c Config) any { return c.ClockSkew.String() }, "5m", "1m", "2m", "3m"},
		{"date", "v3_deprecation_date: 2027-01-31", "PARLEY_V3_DEPRECATION_DATE=2027-02-01T09:30:00+01:00", "--v3-deprecation-date=2027-03-01",
			func(
				c Config) any {
				return c.V3DeprecationDate.String()
			}, "", "2027-01-31", "2027-02-01T08:30:00Z", "2027-03-01"},
		{"list", "trusted_proxies: [10.0.0.1, 10.0.0.2]", "PARLEY_TRUSTED_PROXIES=10.0.0.3,10.0.0.4", "--trusted-proxies=10.0.0.5",
			func(c Config) any {
				return strings.Join(c.TrustedProxies,
					" ")
			}, "", "10.0.0.1 10.0.0.2", "10.0.0.3 10.0.0.4", "10.0.0.5"},
		{"secret", "redis_url: redis://a", "PARLEY_REDIS_URL=redis://b", "--redis-url=redis://c",
			func(c Config) any { return c.RedisURL.Reveal() }, "", "redis://a", "redis://b", "redis://c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := "--config=" + writeFile(t, c.fromFile)
			for _, step := range []struct {
				sources string
				environ []string
				args    []string
				want    any
			}{
				{"none", nil, nil, c.byDefault},
				{"file", nil, []string{file}, c.file},
				{"environment", []string{c.fromEnv}, nil, c.env},
				{"flag", nil, []string{c.fromFlag}, c.flag},
				{"file, environment", []string{c.fromEnv}, []string{file}, c.env},
				{"file, flag", nil, []string{file, c.fromFlag}, c.flag},
				{"environment, flag", []string{c.fromEnv}, []string{c.fromFlag}, c.flag},
				{"all", []string{c.fromEnv}, []string{file, c.fromFlag}, c.flag},
				{"empty variable", []string{strings.SplitAfter(c.fromEnv, "=")[0]}, []string{file}, c.file},
			} {
				got, err := load(t, step.environ, step.args...)
				if err != nil {
					t.Fatalf("load from %s: got error %v, want none", step.sources, err)
				}
				if c.get(got) != step.want {
					t.Errorf("load from %s: got %v, want %v", step.sources, c.get(got), step.want)
				}
			}
		})
	}
}

func TestConfigFile_Path(t *testing.T) {
	one, two := writeFile(t, "rtc_udp_port: 1"), writeFile(t, "rtc_udp_port: 2")
	c, err := load(t, []string{"PARLEY_CONFIG=" + one})
	if err != nil || c.RTCUDPPort != 1 || c.ConfigFile != one {
		t.Errorf("PARLEY_CONFIG: got port %d from %q, %v, want 1 from %q", c.RTCUDPPort, c.ConfigFile, err, one)
	}
	c, err = load(t, []string{"PARLEY_CONFIG=" + one}, "--config", two)
	if err != nil || c.RTCUDPPort != 2 {
		t.Errorf("--config and PARLEY_CONFIG: got port %d, %v, want 2 from --config", c.RTCUDPPort, err)
	}
	missing := filepath.Join(t.TempDir(), "none.yaml")
	_, err = load(t, nil, "--config", missing)
	if want := "the configuration file cannot be opened: open " + missing +
		": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
	_, err = load(t, nil, "--config", t.TempDir())
	if err == nil || !strings.HasPrefix(err.Error(), "the configuration file cannot be read: ") {
		t.Errorf("a directory: got error %v, want that it cannot be read", err)
	}
	_, err = load(t, nil, "--config", writeFile(t, strings.Repeat("#", maxFileSize+1)))
	if err == nil || !strings.HasSuffix(err.Error(), "is larger than 1 MiB") {
		t.Errorf("a file of more than 1 MiB: got error %v, want its limit", err)
	}
}

// TestConfigFile_AllSettings checks that the file can contain every setting
// except its own path.
func TestConfigFile_AllSettings(t *testing.T) {
	c, err := load(t, nil, "--config", writeFile(t, `
# Everything at once.
listen: 0.0.0.0:9000
public_url: https://meet.example.org
data_dir: /var/lib/parley
tls_cert_file: /etc/parley/cert.pem
tls_key_file: /etc/parley/key.pem
http_listen: :80
rtc_udp_port: 1
rtc_tcp_port: 2
turn: false
rtc_node_ip: 203.0.113.7
trusted_proxies:
  - 10.0.0.0/8
  - "::1"
database_url: postgres://u:p@db/parley
redis_url: redis://cache
master_key_file: /etc/parley/master.key
metrics_listen: 127.0.0.1:9100
livekit_metrics_enabled: true
scheduling_timezone: Europe/Berlin
clock_skew: 90s
gateway_enabled: false
diagnostics_enabled: false
plan_provider: none
rate_limits_enabled: false
new_seats_per_minute: 30
max_connections: 500
max_connections_per_address: 0
legacy_v3_key_header: true
legacy_companion_body_signatures: true
legacy_clients: true
webhook_allow_private: true
webhook_allow: [10.1.0.0/16, hooks.internal]
log_level: debug
log_format: json
supervise: false
stop_within: 1m
retention_rooms: 30d
retention_people: 20d
retention_calls: 1d
retention_deliveries: 0s
retention_audit: 40d
`))
	if err != nil {
		t.Fatal(err)
	}
	c.sources = nil // TestValues_Sources checks them
	want := Config{
		Storage: Storage{ConfigFile: c.ConfigFile, DataDir: "/var/lib/parley",
			DatabaseURL: "postgres://u:p@db/parley", MasterKeyFile: "/etc/parley/master.key"},
		Listen:                        "0.0.0.0:9000",
		PublicURL:                     "https://meet.example.org",
		TLSCertFile:                   "/etc/parley/cert.pem",
		TLSKeyFile:                    "/etc/parley/key.pem",
		HTTPListen:                    ":80",
		ACMECA:                        Default().ACMECA,
		RTCUDPPort:                    1,
		RTCTCPPort:                    2,
		RTCNodeIP:                     "203.0.113.7",
		TrustedProxies:                []string{"10.0.0.0/8", "::1"},
		RedisURL:                      "redis://cache",
		MetricsListen:                 "127.0.0.1:9100",
		LiveKitMetricsEnabled:         true,
		SchedulingTimezone:            "Europe/Berlin",
		ClockSkew:                     Duration(90e9),
		PlanProvider:                  PlanProviderNone,
		NewSeatsPerMinute:             30,
		MaxConnections:                500,
		LegacyV3KeyHeader:             true,
		LegacyCompanionBodySignatures: true,
		LegacyClients:                 true,
		WebhookAllowPrivate:           true,
		WebhookAllow: []string{"10.1.0.0/16",
			"hooks.internal"},
		StopWithin:      Duration(60e9),
		RetentionRooms:  Duration(30 * day),
		RetentionPeople: Duration(20 * day),
		OIDCName:        "OpenID Connect",
		RetentionCalls:  Duration(day),
		RetentionAudit:  Duration(40 * day),
		LogLevel:        "debug",
		LogFormat:       LogFormatJSON,
	}
	if diff := cmp.Diff(dump(want), dump(c)); diff != "" {
		t.Errorf("the configuration differs (-want +got):\n%s", diff)
	}
}

// The address is that of HTTPS if there is a certificate, unless another one is given.
func TestListen_DefaultWithCertificate(t *testing.T) {
	const certificate = "--tls-cert-file=c --tls-key-file=k --public-url=https://meet.example.org"
	for _, c := range []struct {
		environ []string
		args    string
		want    string
	}{
		{nil, certificate, ":443"},
		{[]string{"PARLEY_TLS_CERT_FILE=c"}, "--tls-key-file=k --public-url=https://meet.example.org", ":443"},
		{nil, certificate + " --listen=127.0.0.1:8080", "127.0.0.1:8080"},
		{[]string{"PARLEY_LISTEN=:8443"}, certificate, ":8443"},
		{nil, "--public-url=https://meet.example.org --config=" + writeFile(t, "tls_cert_file: c\ntls_key_file: k\n"), ":443"},
		{nil, certificate + " --config=" + writeFile(t, "listen: :8443\n"), ":8443"},
		{nil, "--tls-domain=meet.example.org", ":443"},
		{[]string{"PARLEY_TLS_CERT_FILE=", "PARLEY_TLS_DOMAIN="}, "", "127.0.0.1:8080"},
		{nil, "--tls-domain= --tls-cert-file=", "127.0.0.1:8080"},
		{nil, "--config=" + writeFile(t, "tls_cert_file: \"\"\ntls_domain: []\n"), "127.0.0.1:8080"},
		{[]string{"PARLEY_TLS_DOMAIN=meet.example.org"}, "--tls-domain=", "127.0.0.1:8080"},
		{nil, "", "127.0.0.1:8080"},
	} {
		got, err := load(t, c.environ, strings.Fields(c.args)...)
		if err != nil || got.Listen != c.want {
			t.Errorf("load %q with %q: got %q, %v, want %q", c.args, c.environ, got.Listen, err, c.want)
		}
	}
}

// A boolean has several spellings in the environment and in a flag, and those of YAML 1.2 in
// a file.
func TestBooleans_Spellings(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "1": true, "yes": true, "Yes": true,
		"false": false, "False": false, "FALSE": false, "0": false, "no": false, "NO": false} {
		for name, load := range map[string]func() (Config, error){
			"environment": func() (Config, error) { return load(t, []string{"PARLEY_GATEWAY_ENABLED=" + text}) },
			"flag":        func() (Config, error) { return load(t, nil, "--gateway-enabled="+text) },
			"file": func() (Config, error) {
				if !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
					return Config{GatewayEnabled: want}, nil
				}
				return load(t, nil, "--config", writeFile(t, "gateway_enabled: "+text+"\n"))
			},
		} {
			if c, err := load(); err != nil || c.GatewayEnabled != want {
				t.Errorf("%s %q: got %t, error %v, want %t", name, text, c.GatewayEnabled, err, want)
			}
		}
	}
}

func TestEnvironment_InvalidValues(t *testing.T) {
	for variable, want := range map[string]string{
		"PARLEY_GATEWAY_ENABLED=maybe": `PARLEY_GATEWAY_ENABLED must be true or false, not "maybe"`,
		"PARLEY_RTC_UDP_PORT=many":     `PARLEY_RTC_UDP_PORT must be a whole number, not "many"`,
		"PARLEY_RTC_TCP_PORT=1.5":      `PARLEY_RTC_TCP_PORT must be a whole number, not "1.5"`,
		"PARLEY_V3_SUNSET_DATE=soon":   `PARLEY_V3_SUNSET_DATE must be a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z, not "soon"`,
		"PARLEY_CLOCK_SKEW=300":        `PARLEY_CLOCK_SKEW must be a duration with its unit, such as 90s, 5m or 1d, not "300"`,
	} {
		if _, err := load(t, []string{variable}); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", variable, err, want)
		}
	}
}

// TestOptions_OtherCommandsUnaffected checks that only commands with settings
// read the environment and the file, and only for their own flags.
func TestOptions_OtherCommandsUnaffected(t *testing.T) {
	var c command
	parser, err := kong.New(&c,
		Options([]string{"PARLEY_LISTEN=:1", "PARLEY_RTC_UDP_PORT=x", "PARLEY_CONFIG=/none"})...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"other"}); err != nil || c.Other.Listen != "not a setting" {
		t.Errorf("parley other: got listen %q, %v, want its own default", c.Other.Listen, err)
	}
}

func TestMasterKey_FromEnvironment(t *testing.T) {
	const key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
	c, err := load(t, []string{"PARLEY_MASTER_KEY=" + key})
	if err != nil || c.MasterKey.Reveal() != key {
		t.Fatalf("load PARLEY_MASTER_KEY: got error %v, want the key", err)
	}
	if k, err := c.LoadMasterKey(false); err != nil || k.Reveal() != key {
		t.Errorf("LoadMasterKey: got error %v, want the key of the environment", err)
	}
	c, err = load(t, []string{"PARLEY_MASTER_KEY=" + key}, "--master-key-file=other.key")
	if err != nil || c.MasterKey != "" || c.KeyFile() != "other.key" {
		t.Errorf("--master-key-file and PARLEY_MASTER_KEY: got key file %q, %v, want other.key", c.KeyFile(), err)
	}
	c, err = load(t, []string{"PARLEY_MASTER_KEY=" + key}, "--config", writeFile(t, "master_key_file: other.key"))
	if err != nil || c.MasterKey.Reveal() != key {
		t.Errorf("PARLEY_MASTER_KEY and a key file in the configuration: got error %v, want the key", err)
	}
	_, err = load(t, []string{"PARLEY_MASTER_KEY=" + key, "PARLEY_MASTER_KEY_FILE=other.key"})
	if want := "PARLEY_MASTER_KEY and PARLEY_MASTER_KEY_FILE are both set: unset one of them"; err == nil ||
		err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
	_, err = load(t, nil, "--master-key="+key)
	if err == nil {
		t.Error("--master-key on the command line: got no error, want one, because every user of the host sees it")
	}
	_, err = load(t, nil, "--config", writeFile(t, "master_key: "+key))
	if err == nil || !strings.HasSuffix(err.Error(), `line 1: unknown setting "master_key"`) {
		t.Errorf("the master key in the file: got error %v, want an unknown setting", err)
	}
}

func TestHelp_NoSecrets(t *testing.T) {
	var c command
	var out strings.Builder
	environ := []string{"PARLEY_MASTER_KEY=very-secret", "PARLEY_DATABASE_URL=postgres://u:very-secret@db/x",
		"PARLEY_REDIS_URL=redis://:very-secret@r"}
	parser, err := kong.New(&c, append(Options(environ), kong.Writers(&out, io.Discard), kong.Exit(func(int) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	parser.Parse([]string{"serve", "--help"}) // ignores its error, because Exit does not exit here
	if !strings.Contains(out.String(), "--[no-]gateway-enabled") || strings.Contains(out.String(), "very-secret") {
		t.Errorf("got the help %s, want the flags without secrets", out.String())
	}
}

func TestConfig_PrintsNoSecrets(t *testing.T) {
	c, err := load(t, []string{"PARLEY_MASTER_KEY=AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
		"PARLEY_DATABASE_URL=postgres://u:very-secret@db/x", "PARLEY_REDIS_URL=redis://:very-secret@r"})
	if err != nil {
		t.Fatal(err)
	}
	if text := dump(c); strings.Contains(text, "very-secret") || strings.Contains(text, "AQEB") {
		t.Errorf("got %s, want no secret", text)
	}
}

func TestUnknownEnv_OtherPrefixes(t *testing.T) {
	got := UnknownEnv([]string{
		"PARLEY_LISTN=x", "PARLEY_LISTEN=x", "PARLEY_URL=x", "PARLEY_ADMIN_TOKEN=x", "PARLEY_CONFIG=x", "PARLEY_MASTER_KEY=x",
		"PARLEY_MASTER_KEY_FILE=x", "PARLEY_API_KEY=x", "PARLEY_SUPERVISED=x", "PARLEY_A", "HOME=/", "PARLEYS=1", "parley_listen=x",
		// Of the Services parley and parley-web in Kubernetes.
		"PARLEY_SERVICE_HOST=x", "PARLEY_SERVICE_PORT=x", "PARLEY_PORT=x", "PARLEY_PORT_80_TCP_ADDR=x",
		"PARLEY_WEB_SERVICE_HOST=x", "PARLEY_WEB_PORT=x", "PARLEY_RTC_UPD_PORT=1",
	}, "PARLEY_SUPERVISED")
	if want := "PARLEY_A PARLEY_LISTN PARLEY_RTC_UPD_PORT"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
