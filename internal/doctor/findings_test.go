package doctor

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/config"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// Each finding is caused for real, and is gone after its line was applied.
func TestFindings(t *testing.T) {
	serveDNS(t, "meet.example.test", "203.0.113.7")
	good, other := testkit.NewCertificate(t, 1), testkit.NewCertificate(t, 2)
	goodCert, goodKey := good.Write(t, t.TempDir())
	otherCert, _ := other.Write(t, t.TempDir())
	soon := testkit.NewCertificateUntil(t, 3, time.Now().Add(120*time.Hour))
	soonCert, soonKey := soon.Write(t, t.TempDir())
	old := testkit.NewCertificateUntil(t, 4, time.Now().Add(-time.Hour))
	oldCert, oldKey := old.Write(t, t.TempDir())
	keyFile := filepath.Join(t.TempDir(), "master.key")
	ofOther := otherCertificate(t)
	healthy := func(t *testing.T, cfg *config.Config) { cfg.PublicURL = startSite(t, nil, healthyText).URL }
	withFiles := func(url, cert, key string) func(*testing.T, *config.Config) {
		return func(_ *testing.T, cfg *config.Config) {
			cfg.PublicURL, cfg.TLSCertFile, cfg.TLSKeyFile = url, cert, key
		}
	}
	replaced := func(_ *testing.T, cfg *config.Config, _ string) { cfg.TLSCertFile, cfg.TLSKeyFile = goodCert, goodKey }
	addRecord := func(t *testing.T, _ *config.Config, _ string) { serveDNS(t, "nobody.example.test", "127.0.0.1") }
	backups := t.TempDir()
	var public *site // of the public URL
	open := func(certificate *tls.Certificate, text string) func(*testing.T, *config.Config) {
		return func(t *testing.T, cfg *config.Config) {
			public = startSite(t, certificate, text)
			cfg.PublicURL = public.URL
		}
	}
	serve := func(*testing.T, *config.Config, string) { public.text.Store(new(healthyText)) }
	renew := func(*testing.T, *config.Config, string) { public.certificate.Store(&trusted.Pair) }
	for _, c := range []struct {
		check  check
		id     string
		level  Level
		change string // that the finding must have; empty for any
		cause  func(t *testing.T, cfg *config.Config)
		apply  func(t *testing.T, cfg *config.Config, change string)
	}{
		{checkEnvironment, "unknown_variable", Warning, "unset PARLEY_LISTNE, where the server gets its environment",
			func(t *testing.T, _ *config.Config) { t.Setenv("PARLEY_LISTNE", ":80") },
			func(t *testing.T, _ *config.Config, _ string) {
				if err := os.Unsetenv("PARLEY_LISTNE"); err != nil {
					t.Fatal(err)
				}
			}},
		{checkQuickstart, "quickstart_secrets", Error, "", // readable for other users
			func(t *testing.T, cfg *config.Config) { writeQuickstart(t, cfg, 0o644) }, runLine},
		{checkQuickstart, "quickstart_secrets", Note, "", // for a long time
			func(t *testing.T, cfg *config.Config) {
				cfg.PublicURL = "https://meet.example.test"
				writeQuickstart(t, cfg, 0o600)
				old := time.Now().Add(-quickstartAge - time.Hour)
				if err := os.Chtimes(filepath.Join(cfg.DataDir, quickstart.FileName), old, old); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, cfg *config.Config, change string) {
				_, command, _ := strings.Cut(change, "and then: ")
				runLine(t, cfg, command)
			}},
		{checkPorts, "port", Error, "--listen HOST:PORT, with a port that is free",
			func(t *testing.T, cfg *config.Config) { cfg.Listen = occupied(t, "tcp") },
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.Listen = "127.0.0.1:0" }},
		{checkPorts, "port", Warning, "--metrics-listen HOST:PORT, with a port that is free",
			func(t *testing.T, cfg *config.Config) { cfg.MetricsListen = occupied(t, "tcp") },
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.MetricsListen = "127.0.0.1:0" }},
		{checkPorts, "port", Error, "--rtc-udp-port PORT, with a port that is free", occupyUDP, freeUDP},
		{checkPorts, "port", Warning, "--rtc-udp-port PORT, with a port that is free",
			func(t *testing.T, cfg *config.Config) {
				cfg.PublicURL, cfg.TLSCertFile, cfg.TLSKeyFile = "https://localhost", goodCert, goodKey
				occupyUDP(t, cfg)
			}, freeUDP},
		{checkPorts, "port", Warning, "--rtc-tcp-port PORT, with a port that is free",
			func(t *testing.T, cfg *config.Config) {
				_, port, err := net.SplitHostPort(occupied(t, "tcp"))
				if err == nil {
					cfg.RTCNodeIP = "203.0.113.7" // the port is off on loopback
					cfg.RTCTCPPort, err = strconv.Atoi(port)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, cfg *config.Config, _ string) { cfg.RTCTCPPort = testkit.FreeTCPPort(t) }},
		{checkPorts, "port", Error, "--rtc-udp-port PORT, with a port that is free", // without the other port, too
			func(t *testing.T, cfg *config.Config) {
				cfg.RTCNodeIP = ownAddress(t)
				udp, err := net.ListenPacket("udp", net.JoinHostPort(cfg.RTCNodeIP, strconv.Itoa(cfg.RTCUDPPort)))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = udp.Close() })
				_, port, err := net.SplitHostPort(occupied(t, "tcp"))
				if err == nil {
					cfg.RTCTCPPort, err = strconv.Atoi(port)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, cfg *config.Config, change string) {
				freeUDP(t, cfg, change)
				cfg.RTCTCPPort = testkit.FreeTCPPort(t)
			}},
		{checkMediaAddress, "node_ip", Error, "--rtc-node-ip ADDRESS, with the public IP address of this machine",
			func(_ *testing.T, cfg *config.Config) { cfg.PublicURL = "https://meet.example.test" },
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.RTCNodeIP = "203.0.113.7" }},
		{checkMediaAddress, "node_ip", Error, "", // with an IPv6 address, too
			func(t *testing.T, cfg *config.Config) {
				serveDNS(t, "both.example.test", "203.0.113.7", "2001:db8::7")
				cfg.PublicURL = "https://both.example.test"
			},
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.RTCNodeIP = "203.0.113.7" }},
		{checkPublicAddress, "public_dns", Error,
			"Add an A or AAAA record of nobody.example.test with the address of this machine.",
			func(t *testing.T, cfg *config.Config) {
				cfg.PublicURL = strings.Replace(startSite(t, nil, healthyText).URL, "localhost", "nobody.example.test", 1)
			}, addRecord},
		{checkPublicAddress, "public_dns", Error, // of a second name for the certificate
			"Add an A or AAAA record of nobody.example.test with the address of this machine.",
			func(t *testing.T, cfg *config.Config) {
				healthy(t, cfg)
				cfg.TLSDomain = []string{"localhost", "nobody.example.test"}
			}, addRecord},
		{checkRemoteAddress, "public_dns", Error,
			"Add an A or AAAA record of nobody.example.test with the address of the server.",
			func(t *testing.T, cfg *config.Config) {
				cfg.PublicURL = strings.Replace(startSite(t, nil, healthyText).URL, "localhost", "nobody.example.test", 1)
			}, addRecord},
		{checkPublicAddress, "public_dns_elsewhere", Warning, "Set the A record of meet.example.test to 192.0.2.10.",
			func(_ *testing.T, cfg *config.Config) {
				cfg.PublicURL, cfg.RTCNodeIP = "https://meet.example.test:9", "192.0.2.10"
			},
			func(t *testing.T, _ *config.Config, _ string) { serveDNS(t, "meet.example.test", "192.0.2.10") }},
		{checkPublicAddress, "public_dns_elsewhere", Warning, // of a second name for the certificate
			"Set the A or AAAA record of meet.example.test to the public address of this machine.",
			func(t *testing.T, cfg *config.Config) {
				healthy(t, cfg)
				cfg.TLSDomain = []string{"localhost", "meet.example.test"}
			},
			func(t *testing.T, _ *config.Config, _ string) { serveDNS(t, "meet.example.test", "127.0.0.1") }},
		{checkPublicAddress, "public_url", Error, "", open(nil, "It works!"), serve},
		{checkPublicAddress, "public_other_server", Error, "", // that of an earlier machine, with the same database
			func(t *testing.T, cfg *config.Config) {
				own := living(t, Live{Status: "ok", Upgrade: true, Installation: "i", Node: "new"})
				cfg.Listen = strings.TrimPrefix(own, "http://")
				cfg.PublicURL = living(t, Live{Status: "ok", Upgrade: true, Installation: "i", Node: "old"})
			},
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.PublicURL = "http://" + cfg.Listen }},
		{checkPublicAddress, "public_other_server", Error, "", // of another installation, with several nodes
			func(t *testing.T, cfg *config.Config) {
				own := living(t, Live{Status: "ok", Upgrade: true, Installation: "i", Node: "1"})
				cfg.Listen, cfg.RedisURL = strings.TrimPrefix(own, "http://"), "redis://127.0.0.1"
				cfg.PublicURL = living(t, Live{Status: "ok", Upgrade: true, Installation: "other", Node: "2"})
			},
			func(t *testing.T, cfg *config.Config, _ string) {
				cfg.PublicURL = living(t, Live{Status: "ok", Upgrade: true, Installation: "i", Node: "2"})
			}},
		{checkPublicAddress, "server_unavailable", Error, "parley status", open(nil, `{"status":"unavailable"}`), serve},
		{checkPublicAddress, "public_certificate", Warning, // of an unknown authority
			"Use a certificate of an authority that browsers trust, with its chain.", open(&good.Pair, healthyText), renew},
		{checkPublicAddress, "public_certificate", Error, // has expired
			"Renew the certificate for the host of --public-url.", open(&old.Pair, healthyText), renew},
		{checkPublicAddress, "public_certificate", Error, // for another host
			"Renew the certificate for the host of --public-url.", open(&ofOther, healthyText), renew},
		{checkProxy, "trusted_proxies", Warning, "",
			func(_ *testing.T, cfg *config.Config) { cfg.PublicURL = "https://meet.example.test" },
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.TrustedProxies = []string{"127.0.0.1"} }},
		{checkCertificate, "certificate_file", Error, "", withFiles("https://localhost", otherCert, goodKey), replaced},
		{checkCertificate, "certificate_name", Error, "--public-url https://localhost:8443",
			withFiles("https://meet.example.test:8443", goodCert, goodKey),
			func(_ *testing.T, cfg *config.Config, change string) {
				cfg.PublicURL = strings.TrimPrefix(change, "--public-url ")
			}},
		{checkCertificate, "certificate_expires", Warning, "", withFiles("https://localhost", soonCert, soonKey), replaced},
		{checkCertificate, "certificate_expires", Error, "", withFiles("https://localhost", oldCert, oldKey), replaced},
		{checkPublicAddress, "certificate_expires", Warning, // of a proxy
			"Renew the certificate of localhost in the proxy, and let the proxy load it (in nginx: nginx -s reload).",
			open(&trustedSoon.Pair, healthyText), renew},
		{checkPublicAddress, "certificate_expires", Warning, "", // of an unknown authority
			open(&soon.Pair, healthyText), renew},
		{checkRemoteAddress, "certificate_expires", Warning, "Renew the certificate of localhost in the proxy, or on the " +
			"server if it has no proxy (parley doctor there says why that fails).", open(&trustedSoon.Pair, healthyText), renew},
		{checkMasterKey, "master_key_mode", Error, "chmod 600 " + keyFile,
			func(t *testing.T, cfg *config.Config) {
				cfg.MasterKeyFile = keyFile
				_, err := cfg.LoadMasterKey(true)
				if err := errors.Join(err, os.Chmod(keyFile, 0o644)); err != nil {
					t.Fatal(err)
				}
			}, runLine},
		{checkMasterKey, "master_key_missing", Error, "",
			func(t *testing.T, cfg *config.Config) {
				if err := os.WriteFile(filepath.Join(cfg.DataDir, "parley.db"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.MasterKeyFile = keyFile }},
		{checkMasterKey, "master_key_invalid", Error, "--master-key-file FILE",
			func(t *testing.T, cfg *config.Config) {
				cfg.MasterKeyFile = filepath.Join(t.TempDir(), "not.a.key")
				if err := os.WriteFile(cfg.MasterKeyFile, []byte("not a key"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			func(_ *testing.T, cfg *config.Config, _ string) { cfg.MasterKeyFile = keyFile }},
		{checkMasterKey, "master_key_wrong", Error, "", newSealedDatabase,
			func(t *testing.T, cfg *config.Config, change string) {
				cfg.MasterKeyFile = filepath.Join(cfg.DataDir, "right.key")
				if right, err := cfg.LoadMasterKey(false); err != nil || !strings.HasSuffix(change, "with the key "+right.ID()) {
					t.Errorf("got the change %q, %v, want one with the fingerprint of the right key", change, err)
				}
			}},
		{checkMasterKey, "master_key_in_backups", Warning, "--backup-dir DIRECTORY, on another disk and without the master key",
			func(t *testing.T, cfg *config.Config) {
				cfg.BackupDir = t.TempDir()
				cfg.MasterKeyFile = filepath.Join(cfg.BackupDir, "keys", "master.key")
				err := os.Mkdir(filepath.Dir(cfg.MasterKeyFile), 0o700)
				if _, keyErr := cfg.LoadMasterKey(true); errors.Join(err, keyErr) != nil {
					t.Fatal(err, keyErr)
				}
			},
			func(t *testing.T, cfg *config.Config, _ string) { cfg.BackupDir = t.TempDir() }},
		{checkDatabaseFile, "database_damaged", Error, "", damageDatabase, restoreDatabase},
		{checkDatabaseFile, "database_log", Warning, "Restart the server, which empties the log.", growLog, endLogReader},
		{checkDisk, "disk_space", Warning, "",
			func(t *testing.T, cfg *config.Config) { mountDisk(t, cfg.DataDir, 0, "512m") },
			func(t *testing.T, cfg *config.Config, _ string) {
				mountDisk(t, cfg.DataDir, syscall.MS_REMOUNT, "20g")
			}},
		{checkDisk, "data_dir_read_only", Error,
			"Mount the file system again so that it can be written, or change --data-dir.",
			func(t *testing.T, cfg *config.Config) { mountDisk(t, cfg.DataDir, syscall.MS_RDONLY, "20g") },
			func(t *testing.T, cfg *config.Config, _ string) { mountDisk(t, cfg.DataDir, syscall.MS_REMOUNT, "20g") }},
		{checkBackups, "backup_dir", Error, "",
			func(_ *testing.T, cfg *config.Config) {
				cfg.BackupDir, cfg.BackupEvery = backups+"/new", config.Duration(24*time.Hour)
			},
			func(t *testing.T, cfg *config.Config, _ string) {
				if err := os.Mkdir(cfg.BackupDir, 0o700); err != nil {
					t.Fatal(err)
				}
			}},
		{checkBackups, "backup_overdue", Warning, "",
			func(t *testing.T, cfg *config.Config) {
				cfg.BackupDir, cfg.BackupEvery = backups, config.Duration(24*time.Hour)
				writeBackup(t, backups, time.Now().Add(-72*time.Hour))
			},
			func(t *testing.T, _ *config.Config, _ string) { writeBackup(t, backups, time.Now()) }},
		{checkOpenFiles, "open_files", Warning, "LimitNOFILE=11429 in the unit of systemd, or ulimit -n 11429",
			func(t *testing.T, cfg *config.Config) {
				cfg.MaxConnections = 10_000
				setOpenFiles(t, 1000)
			},
			func(t *testing.T, _ *config.Config, _ string) { setOpenFiles(t, 11_429) }},
	} {
		t.Run(c.id, func(t *testing.T) {
			cfg := newConfig(t)
			c.cause(t, &cfg)
			found, ok := c.check.findings(t, cfg)[c.id]
			if !ok || found.Level != c.level || c.change != "" && found.Change != c.change {
				t.Fatalf("got the findings %v, want %s, %s, with the change %q", c.check.findings(t, cfg), c.id, c.level,
					c.change)
			}
			c.apply(t, &cfg, found.Change)
			if after := c.check.findings(t, cfg); len(after) > 0 {
				t.Errorf("after the change: got the findings %v, want none", after)
			}
		})
	}
}

// A finding about a host of the DNS says which setting has the host. On another machine there is no setting.
func TestFindings_NameTheSettingOfAHost(t *testing.T) {
	serveDNS(t, "meet.example.test", "203.0.113.7")
	for _, c := range []struct {
		name   string
		check  check
		url    string
		domain []string
		id     string
		want   string
	}{
		{"a public URL", checkPublicAddress, "http://nobody.example.test", nil, "public_dns",
			"host name nobody.example.test (--public-url) in"},
		{"a second name", checkPublicAddress, "http://localhost:1", []string{"localhost", "Nobody.example.test"}, "public_dns",
			"host name nobody.example.test (--tls-domain) in"},
		{"a name without a public URL", checkPublicAddress, "", []string{"nobody.example.test"}, "public_dns",
			"host name nobody.example.test (--tls-domain) in"},
		{"a public URL of another machine", checkPublicAddress, "https://meet.example.test:9", nil, "public_dns_elsewhere",
			"meet.example.test (--public-url) resolves"},
		{"a second name of another machine", checkPublicAddress, "http://localhost:1",
			[]string{"localhost", "meet.example.test"}, "public_dns_elsewhere", "meet.example.test (--tls-domain) resolves"},
		{"from another machine", checkRemoteAddress, "http://nobody.example.test", nil, "public_dns",
			"host name nobody.example.test in"},
	} {
		cfg := newConfig(t)
		cfg.PublicURL, cfg.TLSDomain = c.url, c.domain
		if f := c.check.findings(t, cfg)[c.id]; !strings.Contains(f.Text, c.want) {
			t.Errorf("%s: got the finding %+v, want %s with %q", c.name, f, c.id, c.want)
		}
	}
}

// A clock that is behind is found with each certificate that is valid later, and not found after the clock was set. The
// clock is that of synctest, which begins in the year 2000.
func TestFindings_ClockBehind(t *testing.T) {
	certFile, keyFile := trusted.Write(t, t.TempDir())
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(testkit.FreeTCPPort(t)))
	cfg := newConfig(t)
	cfg.PublicURL, cfg.TLSCertFile, cfg.TLSKeyFile = "https://"+address, certFile, keyFile
	behindProxy := cfg
	behindProxy.TLSCertFile, behindProxy.TLSKeyFile = "", ""
	synctest.Test(t, func(t *testing.T) {
		findings := func() (all [3]map[string]Finding) {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			s := httptest.NewUnstartedServer(http.HandlerFunc(respondHealthy))
			_ = s.Listener.Close()
			s.Listener, s.TLS = l, &tls.Config{Certificates: []tls.Certificate{trusted.Pair}}
			s.StartTLS()
			defer s.Close() // because the clock stands while it listens
			return [3]map[string]Finding{
				check(checkPublicAddress).findings(t, behindProxy),
				check(checkRemoteAddress).findings(t, behindProxy),
				check(checkCertificate).findings(t, cfg),
			}
		}
		for i, found := range findings() {
			if f := found["clock_behind"]; f.Level != Error || f.Change != "timedatectl set-ntp true" {
				t.Errorf("check %d with the wrong clock: got the findings %v, want clock_behind", i, found)
			}
		}
		time.Sleep(time.Until(trusted.Pair.Leaf.NotBefore.Add(time.Hour)))
		for i, found := range findings() {
			if len(found) > 0 {
				t.Errorf("check %d with the right clock: got the findings %v, want none", i, found)
			}
		}
	})
}

// otherCertificate returns a certificate for another host.
func otherCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	return s.TLS.Certificates[0]
}

// What this machine cannot decide is no finding.
func TestUnknown(t *testing.T) {
	serveDNS(t, "meet.example.test", "10.0.0.4")
	for name, c := range map[string]struct {
		check  check
		change func(*config.Config)
	}{
		"no server":     {checkPublicAddress, func(cfg *config.Config) { cfg.PublicURL = "http://127.0.0.1:1" }},
		"a proxy alone": {checkPublicAddress, func(cfg *config.Config) { cfg.PublicURL = proxied(t, 502, "") }},
		"an allow list": {checkPublicAddress, func(cfg *config.Config) { cfg.PublicURL = proxied(t, 403, "") }},
		"a redirect":    {checkPublicAddress, func(cfg *config.Config) { cfg.PublicURL = proxied(t, 301, "https://x") }},
		"ACME":          {checkCertificate, func(cfg *config.Config) { cfg.TLSDomain = []string{"meet.example.test"} }},
		"no key yet":    {checkMasterKey, func(*config.Config) {}},
		"no backups":    {checkBackups, func(*config.Config) {}},
		"no backup yet": {checkBackups, func(cfg *config.Config) { cfg.BackupDir = t.TempDir() }},
		"an unknown name": {checkMediaAddress, func(cfg *config.Config) {
			cfg.PublicURL, cfg.RTCNodeIP = "https://nobody.example.test", "10.0.0.4"
		}},
	} {
		cfg := newConfig(t)
		c.change(&cfg)
		if result := runCheck(t.Context(), cfg, c.check); result.Unknown == "" || len(result.Findings) > 0 {
			t.Errorf("%s: got the result %+v, want an unknown one", name, result)
		}
	}
}
