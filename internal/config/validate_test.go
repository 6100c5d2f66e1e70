package config

import (
	"strings"
	"testing"
	"time"
)

func TestDefault_Valid(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Errorf("validate the default configuration: got error %v, want none", err)
	}
	if !c.GatewayEnabled || c.ClockSkew.Std() != 5*time.Minute {
		t.Errorf("got gateway enabled %t, clock skew %s, want true, 5m", c.GatewayEnabled, c.ClockSkew)
	}
}

// TestValidate_Errors checks the exact text of every error, because operators
// read it.
func TestValidate_Errors(t *testing.T) {
	const publicURLForm = `--public-url (PARLEY_PUBLIC_URL) must be an absolute URL with http or https, such as https://meet.example.org`
	const publicURLEnd = `--public-url (PARLEY_PUBLIC_URL) must end after the host and port, without a path, query or fragment, not `
	const listenForm = `--listen (PARLEY_LISTEN) must be host:port with a port between 0 and 65535, such as 127.0.0.1:8080 or [::1]:8080, not `
	for _, c := range []struct {
		args string // with spaces between
		want string
	}{
		{`--listen=8080`, listenForm + `"8080"`},
		{`--listen=127.0.0.1:65536`, listenForm + `"127.0.0.1:65536"`},
		{`--listen=127.0.0.1:http`, listenForm + `"127.0.0.1:http"`},
		{`--listen=127.0.0.1:+80`, listenForm + `"127.0.0.1:+80"`},
		{`--listen=::1:80`, listenForm + `"::1:80"`},
		{`--listen=http://127.0.0.1:80`, listenForm + `"http://127.0.0.1:80"`},
		{`--listen=`, listenForm + `""`},
		{`--public-url=meet.example.org`, publicURLForm},
		{`--public-url=ftp://meet.example.org`, publicURLForm},
		{`--public-url=https://`, publicURLForm},
		{`--public-url=https:meet.example.org`, publicURLForm},
		{`--public-url=https://:443`, publicURLForm},
		{`--public-url=https://%zz`, publicURLForm},
		{`--public-url=https://me:secret@meet.example.org`, `--public-url (PARLEY_PUBLIC_URL) must not contain a user name or password`},
		{`--public-url=https://Müller.example:8443`, `--public-url (PARLEY_PUBLIC_URL) must have the ASCII form of the host, xn--mller-kva.example, not "Müller.example"`},
		{`--public-url=https://m%C3%BCller.example`, `--public-url (PARLEY_PUBLIC_URL) must have the ASCII form of the host, xn--mller-kva.example, not "müller.example"`},
		{`--public-url=https://mü_ller.example`, `--public-url (PARLEY_PUBLIC_URL) must have the ASCII form of the host, such as xn--mller-kva.example, not "mü_ller.example"`},
		{`--tls-domain=meet.example,müller.example`, `--tls-domain (PARLEY_TLS_DOMAIN) must have the ASCII form of the host, xn--mller-kva.example, not "müller.example"`},
		{`--webhook-allow=müller.example`, `--webhook-allow (PARLEY_WEBHOOK_ALLOW) must have the ASCII form of the host, xn--mller-kva.example, not "müller.example"`},
		{`--public-url=https://meet.example.org/rooms`, publicURLEnd + `"https://meet.example.org/rooms"`},
		{`--public-url=https://meet.example.org/?a=1`, publicURLEnd + `"https://meet.example.org/?a=1"`},
		{`--public-url=https://meet.example.org?`, publicURLEnd + `"https://meet.example.org?"`},
		{`--public-url=https://meet.example.org#`, publicURLEnd + `"https://meet.example.org#"`},
		{`--public-url=https://meet.example.org:99999`, `--public-url (PARLEY_PUBLIC_URL) must have a port between 1 and 65535 or none, not "https://meet.example.org:99999"`},
		{`--public-url=https://meet.example.org:0`, `--public-url (PARLEY_PUBLIC_URL) must have a port between 1 and 65535 or none, not "https://meet.example.org:0"`},
		{`--public-url=https://meet.example.org:`, `--public-url (PARLEY_PUBLIC_URL) must have a port between 1 and 65535 or none, not "https://meet.example.org:"`},
		{`--data-dir=`, `--data-dir (PARLEY_DATA_DIR) must not be empty`},
		{`--rtc-udp-port=0`, `--rtc-udp-port (PARLEY_RTC_UDP_PORT) must be between 1 and 65535, not 0`},
		{`--rtc-udp-port=65536`, `--rtc-udp-port (PARLEY_RTC_UDP_PORT) must be between 1 and 65535, not 65536`},
		{`--rtc-tcp-port=-1`, `--rtc-tcp-port (PARLEY_RTC_TCP_PORT) must be 0 (off) or between 1 and 65535, not -1`},
		{`--rtc-tcp-port=65536`, `--rtc-tcp-port (PARLEY_RTC_TCP_PORT) must be 0 (off) or between 1 and 65535, not 65536`},
		{`--rtc-tcp-port=8080`, `--rtc-tcp-port (PARLEY_RTC_TCP_PORT) must differ from the port of --listen (8080)`},
		{`--rtc-node-ip=meet.example.org`, `--rtc-node-ip (PARLEY_RTC_NODE_IP) must be the IP address of one machine, such as 203.0.113.7, or one IPv4 and one IPv6 address with a comma between them, not "meet.example.org"`},
		{`--rtc-node-ip=0.0.0.0`, `--rtc-node-ip (PARLEY_RTC_NODE_IP) must be the IP address of one machine, such as 203.0.113.7, or one IPv4 and one IPv6 address with a comma between them, not "0.0.0.0"`},
		{`--rtc-node-ip=203.0.113.7,203.0.113.8`, `--rtc-node-ip (PARLEY_RTC_NODE_IP) must be the IP address of one machine, such as 203.0.113.7, or one IPv4 and one IPv6 address with a comma between them, not "203.0.113.7,203.0.113.8"`},
		{`--rtc-node-ip=224.0.0.1`, `--rtc-node-ip (PARLEY_RTC_NODE_IP) must be the IP address of one machine, such as 203.0.113.7, or one IPv4 and one IPv6 address with a comma between them, not "224.0.0.1"`},
		{`--trusted-proxies=10.0.0.0/8,proxy`, `--trusted-proxies (PARLEY_TRUSTED_PROXIES) must be IP addresses or CIDR ranges such as 10.0.0.0/8, not "proxy"`},
		{`--webhook-allow=10.0.0.0/8,300.0.0.1`, `--webhook-allow (PARLEY_WEBHOOK_ALLOW) must be IP addresses, CIDR ranges or host names such as hooks.internal, not "300.0.0.1"`},
		{`--webhook-allow=http://hooks.internal/`, `--webhook-allow (PARLEY_WEBHOOK_ALLOW) must be IP addresses, CIDR ranges or host names such as hooks.internal, not "http://hooks.internal/"`},
		{`--webhook-allow=*.internal`, `--webhook-allow (PARLEY_WEBHOOK_ALLOW) must be IP addresses, CIDR ranges or host names such as hooks.internal, not "*.internal"`},
		{`--trusted-proxies=10.0.0.0/33`, `--trusted-proxies (PARLEY_TRUSTED_PROXIES) must be IP addresses or CIDR ranges such as 10.0.0.0/8, not "10.0.0.0/33"`},
		{`--trusted-proxies=fe80::1%eth0`, `--trusted-proxies (PARLEY_TRUSTED_PROXIES) must be IP addresses or CIDR ranges such as 10.0.0.0/8, not "fe80::1%eth0"`},
		{`--database-url=mysql://u:secret@db`, `--database-url (PARLEY_DATABASE_URL) must be a URL that begins with postgres:// or postgresql://`},
		{`--database-url=postgres://`, `--database-url (PARLEY_DATABASE_URL) must be a URL that begins with postgres:// or postgresql://`},
		{`--redis-url=cache:6379`, `--redis-url (PARLEY_REDIS_URL) must be a URL that begins with redis:// or rediss://`},
		{`--tls-cert-file=c --public-url=https://meet.example.org`, `--tls-cert-file (PARLEY_TLS_CERT_FILE) needs --tls-key-file`},
		{`--tls-key-file=k`, `--tls-key-file (PARLEY_TLS_KEY_FILE) needs --tls-cert-file`},
		{`--http-listen=:80`, `--http-listen (PARLEY_HTTP_LISTEN) needs --tls-domain or --tls-cert-file: without them, --listen is HTTP`},
		{`--tls-domain=meet.example.org --tls-cert-file=c --tls-key-file=k`, `--tls-domain (PARLEY_TLS_DOMAIN) and --tls-cert-file are both set: unset one of them`},
		{`--tls-domain=*.example.org`, `--tls-domain (PARLEY_TLS_DOMAIN) must be host names such as meet.example.org, without * and not addresses, not "*.example.org"`},
		{`--tls-domain=203.0.113.7`, `--tls-domain (PARLEY_TLS_DOMAIN) must be host names such as meet.example.org, without * and not addresses, not "203.0.113.7"`},
		{`--tls-domain=a.example,b.example --public-url=https://c.example`, `--public-url (PARLEY_PUBLIC_URL) must begin with https:// and a host of --tls-domain (a.example, b.example), not "https://c.example"`},
		{`--tls-domain=a.example --public-url=http://a.example`, `--public-url (PARLEY_PUBLIC_URL) must begin with https:// and a host of --tls-domain (a.example), not "http://a.example"`},
		{`--tls-domain=a.example --http-listen=127.0.0.1:80`, `--http-listen (PARLEY_HTTP_LISTEN) must have the host of --listen (:443) with --tls-domain`},
		{`--tls-domain=a.example --acme-ca=http://ca.example`, `--acme-ca (PARLEY_ACME_CA) must be a URL that begins with https://, not "http://ca.example"`},
		{`--tls-domain=a.example --acme-email=ops`, `--acme-email (PARLEY_ACME_EMAIL) must be an email address such as ops@example.org, not "ops"`},
		{`--acme-email=ops@example.org`, `--acme-email (PARLEY_ACME_EMAIL) needs --tls-domain`},
		{`--acme-ca-roots=r`, `--acme-ca-roots (PARLEY_ACME_CA_ROOTS) needs --tls-domain`},
		{`--tls-cert-file=c --tls-key-file=k`, `--public-url (PARLEY_PUBLIC_URL) must begin with https:// with --tls-cert-file, such as https://meet.example.org, not ""`},
		{`--tls-cert-file=c --tls-key-file=k --public-url=http://meet.example.org`,
			`--public-url (PARLEY_PUBLIC_URL) must begin with https:// with --tls-cert-file, such as https://meet.example.org, not "http://meet.example.org"`},
		{`--tls-cert-file=c --tls-key-file=k --public-url=https://meet.example.org --http-listen=80`,
			`--http-listen (PARLEY_HTTP_LISTEN) must be host:port with a port between 0 and 65535, such as 127.0.0.1:8080 or [::1]:8080, not "80"`},
		{`--tls-cert-file=c --tls-key-file=k --public-url=https://meet.example.org --http-listen=:443`,
			`--http-listen (PARLEY_HTTP_LISTEN) must differ from --listen (:443)`},
		{`--metrics-listen=9100`, `--metrics-listen (PARLEY_METRICS_LISTEN) must be host:port with a port between 0 and 65535, such as 127.0.0.1:8080 or [::1]:8080, not "9100"`},
		{`--scheduling-timezone=CEST`, `--scheduling-timezone (PARLEY_SCHEDULING_TIMEZONE) must be an IANA time zone such as UTC or Europe/Berlin, not "CEST"`},
		{`--scheduling-timezone=Local`, `--scheduling-timezone (PARLEY_SCHEDULING_TIMEZONE) must be an IANA time zone such as UTC or Europe/Berlin, not "Local"`},
		{`--scheduling-timezone=`, `--scheduling-timezone (PARLEY_SCHEDULING_TIMEZONE) must be an IANA time zone such as UTC or Europe/Berlin, not ""`},
		{`--scheduling-timezone=../UTC`, `--scheduling-timezone (PARLEY_SCHEDULING_TIMEZONE) must be an IANA time zone such as UTC or Europe/Berlin, not "../UTC"`},
		{`--clock-skew=999ms`, `--clock-skew (PARLEY_CLOCK_SKEW) must be between 1s and 1h, not 999ms`},
		{`--stop-within=-1s`, `--stop-within (PARLEY_STOP_WITHIN) must be between 0s and 1h, not -1s`},
		{`--stop-within=61m`, `--stop-within (PARLEY_STOP_WITHIN) must be between 0s and 1h, not 1h1m`},
		{`--clock-skew=1d`, `--clock-skew (PARLEY_CLOCK_SKEW) must be between 1s and 1h, not 1d`},
		{`--retention-rooms=23h`, `--retention-rooms (PARLEY_RETENTION_ROOMS) must be 0 (for ever) or between 1d and 3650d, not 23h`},
		{`--retention-people=3651d`, `--retention-people (PARLEY_RETENTION_PEOPLE) must be 0 (for ever) or between 1d and 3650d, not 3651d`},
		{`--retention-calls=-1h`, `--retention-calls (PARLEY_RETENTION_CALLS) must be 0 (for ever) or between 1d and 3650d, not -1h`},
		{`--plan-provider=stripe`, `--plan-provider (PARLEY_PLAN_PROVIDER) must be builtin or none, not "stripe"`},
		{`--v3-sunset-date=2028-01-31`, `--v3-sunset-date (PARLEY_V3_SUNSET_DATE) needs --v3-deprecation-date, at least twelve months earlier`},
		{`--v3-deprecation-date=2027-02-01 --v3-sunset-date=2028-01-31`, `--v3-sunset-date (PARLEY_V3_SUNSET_DATE) must be at least twelve months after --v3-deprecation-date: 2028-02-01 or later, not 2028-01-31`},
		{`--v3-deprecation-date=2027-02-01T00:00:01Z --v3-sunset-date=2028-02-01`, `--v3-sunset-date (PARLEY_V3_SUNSET_DATE) must be at least twelve months after --v3-deprecation-date: 2028-02-01T00:00:01Z or later, not 2028-02-01`},
		{`--new-seats-per-minute=100001`, `--new-seats-per-minute (PARLEY_NEW_SEATS_PER_MINUTE) must be 0 (no limit) or between 1 and 100000, not 100001`},
		{`--max-connections=-1`, `--max-connections (PARLEY_MAX_CONNECTIONS) must be 0 (no limit) or between 1 and 1000000, not -1`},
		{`--max-connections-per-address=1000001`,
			`--max-connections-per-address (PARLEY_MAX_CONNECTIONS_PER_ADDRESS) must be 0 (no limit) or between 1 and 1000000, not 1000001`},
		{`--log-level=loud`, `--log-level (PARLEY_LOG_LEVEL) must be debug, info, warn or error, not "loud"`},
		{`--log-format=xml`, `--log-format (PARLEY_LOG_FORMAT) must be text or json, not "xml"`},
		{`--oidc-issuer=https://login.example.org`, `--oidc-issuer (PARLEY_OIDC_ISSUER) needs --oidc-client-id`},
		{`--oidc-client-id=parley`, `--oidc-client-id (PARLEY_OIDC_CLIENT_ID) needs --oidc-issuer`},
		{`--oidc-client-secret=s`, `--oidc-client-secret (PARLEY_OIDC_CLIENT_SECRET) needs --oidc-issuer and --oidc-client-id`},
		{`--oidc-issuer=http://login.example.org --oidc-client-id=parley`, `--oidc-issuer (PARLEY_OIDC_ISSUER) must be an https URL without a user name, query or fragment, such as https://login.example.org`},
		{`--oidc-client-secret-file=s`, "--oidc-client-secret-file (PARLEY_OIDC_CLIENT_SECRET_FILE) cannot be read: open s: no such file or directory\n" +
			`--oidc-client-secret-file (PARLEY_OIDC_CLIENT_SECRET_FILE) needs --oidc-issuer and --oidc-client-id`},
		{`--oidc-issuer=https://a.example --oidc-client-id=p --oidc-client-secret=s --oidc-client-secret-file=validate.go`,
			`--oidc-client-secret-file (PARLEY_OIDC_CLIENT_SECRET_FILE) and --oidc-client-secret are both set: unset one of them`},
		{`--oidc-issuer=https://a.example --oidc-client-id=p --oidc-client-secret-file=/dev/null`,
			`--oidc-client-secret-file (PARLEY_OIDC_CLIENT_SECRET_FILE) is empty: /dev/null`},
		{`--oidc-allow=@example.org`, `--oidc-allow (PARLEY_OIDC_ALLOW) needs --oidc-issuer and --oidc-client-id`},
		{`--oidc-issuer=https://a.example --oidc-client-id=p --oidc-allow=,`,
			`--oidc-allow (PARLEY_OIDC_ALLOW) must have at least one email address or domain`},
		{`--oidc-issuer=https://a.example --oidc-client-id=p --oidc-allow=@example.org,example.org`,
			`--oidc-allow (PARLEY_OIDC_ALLOW) must be email addresses such as ada@example.org, or domains such as @example.org, not "example.org"`},
		{`--oidc-name=`, `--oidc-name (PARLEY_OIDC_NAME) must have 1 to 50 visible characters on one line`},
		{`--backup-dir=b`, `--backup-dir (PARLEY_BACKUP_DIR) needs --backup-every, such as 6h`},
		{`--backup-every=6h`, `--backup-every (PARLEY_BACKUP_EVERY) needs --backup-dir`},
		{`--backup-keep=5`, `--backup-keep (PARLEY_BACKUP_KEEP) needs --backup-dir and --backup-every`},
		{`--backup-dir=b --backup-every=59s`, `--backup-every (PARLEY_BACKUP_EVERY) must be at least 1m, not 59s`},
		{`--backup-dir=b --backup-every=6h --backup-keep=-1`, `--backup-keep (PARLEY_BACKUP_KEEP) must be 0 (all) or between 1 and 100000, not -1`},
		{`--rtc-udp-port=0 --log-format=xml`, "--rtc-udp-port (PARLEY_RTC_UDP_PORT) must be between 1 and 65535, not 0\n" + `--log-format (PARLEY_LOG_FORMAT) must be text or json, not "xml"`},
	} {
		t.Run(c.args, func(t *testing.T) {
			// kong puts the command in front.
			_, err := load(t, nil, strings.Fields(c.args)...)
			if err == nil || err.Error() != "serve: "+c.want {
				t.Errorf("got error  %v\nwant error serve: %s", err, c.want)
			}
		})
	}
}

func TestValidate_InvalidMasterKey(t *testing.T) {
	_, err := load(t, []string{"PARLEY_MASTER_KEY=secret"})
	want := "serve: PARLEY_MASTER_KEY: the master key must be 32 bytes in standard Base64 (44 characters), not 6 characters"
	if err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
}

func TestValidate_AcceptedValues(t *testing.T) {
	for _, args := range []string{
		"--listen=:8080", "--listen=0.0.0.0:0", "--listen=[::1]:8080", "--listen=localhost:8080", "--listen=[fe80::1%eth0]:80",
		"--public-url=http://localhost:8080", "--public-url=https://meet.example.org/", "--public-url=HTTPS://[::1]:8443",
		"--rtc-udp-port=65535", "--rtc-tcp-port=7881", "--listen=127.0.0.1:0 --rtc-tcp-port=0",
		"--rtc-node-ip=2001:db8::1", "--rtc-node-ip=203.0.113.7,2001:db8::1", "--trusted-proxies=", "--trusted-proxies=::1,10.0.0.1", "--webhook-allow=10.0.0.0/8,hooks.internal,fd00::1",
		"--database-url=postgresql:///parley?host=/run/postgresql", "--database-url=postgres://a:1,b:2/parley",
		"--redis-url=rediss://:p@cache:6380/0", "--metrics-listen=", "--metrics-listen=:9100",
		"--scheduling-timezone=America/Argentina/Buenos_Aires", "--clock-skew=1s", "--clock-skew=1h", "--plan-provider=none",
		"--stop-within=0s", "--stop-within=1h",
		"--log-level=error", "--log-format=json", "--no-rate-limits-enabled --legacy-v3-key-header",
	} {
		if _, err := load(t, nil, strings.Fields(args)...); err != nil {
			t.Errorf("parley serve %s: got error %v, want none", args, err)
		}
	}
}
