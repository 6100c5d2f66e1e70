package deploy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// proxy is a proxy with the configuration of deploy/.
type proxy struct {
	file    string                                                  // its configuration below deploy/
	prepare func(text, dir, http, https, parley string) string      // returns the configuration for a test
	command func(ctx context.Context, config, dir string) *exec.Cmd // runs it in the foreground
}

var proxies = map[string]proxy{
	"nginx": {
		file: "nginx/parley.conf",
		prepare: func(text, dir, http, https, parley string) string {
			server := strings.NewReplacer(
				"127.0.0.1:8080", parley,
				"listen 80;", "listen "+http+";",
				"listen 443 ssl http2;", "listen "+https+" ssl http2;",
				"    listen [::]:80;\n", "",
				"    listen [::]:443 ssl http2;\n", "",
				"/etc/letsencrypt/live/meet.example.org/fullchain.pem", dir+"/cert.pem",
				"/etc/letsencrypt/live/meet.example.org/privkey.pem", dir+"/key.pem",
				"meet.example.org", "localhost",
				"/var/log/nginx/", dir+"/logs/",
			).Replace(text)
			return "daemon off;\npid " + dir + "/pid;\nevents {}\nhttp {\n" + server + "}\n"
		},
		command: func(ctx context.Context, config, dir string) *exec.Cmd {
			return exec.CommandContext(ctx, "nginx", "-c", config, "-p", dir, "-e", dir+"/logs/start.log")
		},
	},
	"caddy": {
		file: "caddy/Caddyfile",
		prepare: func(text, dir, http, https, parley string) string {
			_, port, _ := strings.Cut(https, ":")
			_, httpPort, _ := strings.Cut(http, ":")
			return strings.NewReplacer(
				"127.0.0.1:8080", parley,
				"\n{\n\tlog {", "\n{\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port "+httpPort+"\n\thttps_port "+port+
					"\n\tdefault_bind 127.0.0.1\n\tstorage file_system "+dir+"/caddy\n\tlog {\n\t\toutput file "+dir+"/logs/default.log",
				"meet.example.org {", "localhost:"+port+" {\n\ttls "+dir+"/cert.pem "+dir+"/key.pem",
				"/var/log/caddy/", dir+"/logs/",
			).Replace(text)
		},
		command: func(ctx context.Context, config, _ string) *exec.Cmd {
			return exec.CommandContext(ctx, "caddy", "run", "--config", config, "--adapter", "caddyfile")
		},
	},
}

// People join through each proxy, parley doctor finds nothing wrong with it, and no token gets into its
// logs, also when the server does not respond.
func TestProxies(t *testing.T) {
	for name, p := range proxies {
		t.Run(name, func(t *testing.T) { testProxy(t, p) })
	}
}

// site is a proxy with a certificate that is about to run in front of a server.
type site struct {
	dir, config, text string // text is the configuration in the file config
	parley, public    string // address of the server, and URL of the proxy
	certFile          string
	certificate       testkit.Certificate
}

func newSite(t *testing.T, p proxy) site {
	t.Helper()
	s := site{dir: t.TempDir(), certificate: testkit.NewCertificate(t, 1)}
	s.certFile, _ = s.certificate.Write(t, s.dir)
	https := fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
	s.parley = fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
	s.public = "https://" + strings.Replace(https, "127.0.0.1", "localhost", 1)
	text, err := os.ReadFile(filepath.Join("../../deploy", p.file))
	if err != nil {
		t.Fatal(err)
	}
	s.config = filepath.Join(s.dir, filepath.Base(p.file))
	s.text = p.prepare(string(text), s.dir, fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t)), https, s.parley)
	if err := os.Mkdir(filepath.Join(s.dir, "logs"), 0o777); err != nil {
		t.Fatal(err)
	}
	s.write(t, s.text)
	return s
}

func (s site) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// nginx that forwards neither WebSockets nor the addresses of visitors, and a server that does not trust it, are
// findings until the lines that parley doctor prints are in the configuration of nginx and among the server's flags.
func TestNginx_Findings(t *testing.T) {
	p := proxies["nginx"]
	s := newSite(t, p)
	directives := regexp.MustCompile(`(?m)^ *proxy_(http_version|set_header (X-Forwarded-For|Upgrade|Connection)) .*\n`)
	bare := directives.ReplaceAllString(s.text, "")
	if strings.Contains(bare, "Upgrade") || strings.Contains(bare, "X-Forwarded-For") {
		t.Fatalf("got the configuration %s, want none of WebSockets and addresses", bare)
	}
	s.write(t, bare)
	start(t, p.command(t.Context(), s.config, s.dir))
	data := t.TempDir()
	flags := []string{"--listen", s.parley, "--public-url", s.public, "--rtc-node-ip", "127.0.0.1"}
	server := parleytest.Start(t, parleytest.Options{DataDir: data, Args: append(flags, "--no-supervise")})
	findings := func() map[string]string {
		t.Helper()
		return s.findings(t, append([]string{"--data-dir", data}, flags...)...)
	}
	var found map[string]string
	testkit.Eventually(t, "both findings", func() bool {
		found = findings()
		return found["proxy_upgrade"] != "" && found["trusted_proxies"] != ""
	})

	config := bare
	addToConfig := func(id string) {
		t.Helper()
		lines, ok := strings.CutPrefix(found[id], "In nginx: ")
		if !ok {
			t.Fatalf("got the change %q, want lines for nginx", found[id])
		}
		config = strings.Replace(config, "location / {\n", "location / {\n"+lines+"\n", 1)
		s.write(t, config)
		run(t, s.dir, "nginx", "-c", s.config, "-p", s.dir, "-e", s.dir+"/logs/start.log", "-s", "reload")
	}
	addToConfig("proxy_upgrade")
	testkit.Eventually(t, "nginx forwards WebSockets", func() bool {
		found = findings()
		return found["proxy_upgrade"] == "" && found["unknown"] == "" && found["trusted_proxies"] != ""
	})

	line, _, _ := strings.Cut(found["trusted_proxies"], ",")
	flag, value, _ := strings.Cut(strings.Replace(line, "ADDRESS", "127.0.0.1", 1), " ")
	flags = append(flags, flag, value)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	parleytest.Start(t, parleytest.Options{DataDir: data, Args: append(flags, "--no-supervise")})
	testkit.Eventually(t, "one finding, about the addresses of visitors", func() bool {
		found = findings()
		return found["proxy_client_address"] != "" && found["proxy_upgrade"]+found["trusted_proxies"] == ""
	})

	addToConfig("proxy_client_address")
	testkit.Eventually(t, "no finding about the proxy", func() bool {
		found = findings()
		return found["proxy_upgrade"]+found["trusted_proxies"]+found["proxy_client_address"]+found["unknown"]+
			found["server_unavailable"] == ""
	})
}

// findings returns what to change by parley doctor with some flags, by the IDs of the findings. It has "unknown" if
// something responds at the public URL that parley doctor does not know.
func (s site) findings(t *testing.T, flags ...string) map[string]string {
	t.Helper()
	cmd := parleytest.Command([]string{"SSL_CERT_FILE=" + s.certFile}, append([]string{"doctor", "--json"}, flags...)...)
	out, _ := cmd.Output() // the exit status says whether there are errors
	var report struct {
		Findings []struct{ ID, Fix string }
		Checks   []struct{ Check, Unknown string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("parley doctor: got %q, %v, want JSON", out, err)
	}
	all := map[string]string{}
	for _, f := range report.Findings {
		all[f.ID] = f.Fix
	}
	for _, c := range report.Checks {
		if (c.Check == "public_address" || c.Check == "proxy_idle") && c.Unknown != "" {
			all["unknown"] = c.Unknown
		}
	}
	return all
}

// nginx that closes quiet WebSockets is a finding until the lines that parley doctor prints are in its configuration.
func TestNginx_Idle(t *testing.T) {
	p := proxies["nginx"]
	s := newSite(t, p)
	const impatient = "proxy_read_timeout 1s;"
	hasty := regexp.MustCompile(`proxy_read_timeout .*\n *proxy_send_timeout .*`).ReplaceAllString(s.text, impatient)
	if !strings.Contains(hasty, impatient) {
		t.Fatalf("got the configuration %s, want %s", hasty, impatient)
	}
	s.write(t, hasty)
	start(t, p.command(t.Context(), s.config, s.dir))
	flags := []string{"--data-dir", t.TempDir(), "--listen", s.parley, "--public-url", s.public,
		"--rtc-node-ip", "127.0.0.1", "--trusted-proxies", "127.0.0.1"}
	parleytest.Start(t, parleytest.Options{DataDir: flags[1], Args: append(flags[2:], "--no-supervise")})
	var found map[string]string
	testkit.Eventually(t, "a finding about quiet WebSockets", func() bool {
		found = s.findings(t, append(flags, "--slow")...)
		return found["proxy_idle"] != ""
	})
	lines, ok := strings.CutPrefix(found["proxy_idle"], "In nginx: ")
	if !ok {
		t.Fatalf("got the change %q, want lines for nginx", found["proxy_idle"])
	}
	s.write(t, strings.Replace(hasty, impatient, lines, 1))
	run(t, s.dir, "nginx", "-c", s.config, "-p", s.dir, "-e", s.dir+"/logs/start.log", "-s", "reload")
	testkit.EventuallyWithin(t, 3*testkit.Timeout, "no finding after the change", func() bool { // each attempt takes 15 s
		found = s.findings(t, append(flags, "--slow")...)
		return found["proxy_idle"] == "" && found["unknown"] == ""
	})
}

func testProxy(t *testing.T, p proxy) {
	s := newSite(t, p)
	dir, certificate, certFile, parley, public := s.dir, s.certificate, s.certFile, s.parley, s.public
	start(t, p.command(t.Context(), s.config, dir))

	data := t.TempDir()
	server := parleytest.Start(t, parleytest.Options{DataDir: data, Args: []string{"--listen", parley, "--no-supervise",
		"--public-url", public, "--trusted-proxies", "127.0.0.1", "--rtc-node-ip", "127.0.0.1"}})
	network := mediatest.Network{TLS: &tls.Config{RootCAs: certificate.Pool}}
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: network.TLS.Clone(), ForceAttemptHTTP2: true}}
	testkit.Eventually(t, "the server is healthy through the proxy", func() bool {
		res, err := h.Get(public + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	token := takeSeats(t, h, public, data, 1)[0]
	person, err := network.Join(t.Context(), public, token)
	if err != nil {
		t.Fatal(err)
	}
	person.Leave()
	doctor := parleytest.Command([]string{"SSL_CERT_FILE=" + certFile}, "doctor", "--json", public)
	out, err := doctor.Output()
	var report struct{ Findings []struct{ ID string } }
	if err := errors.Join(err, json.Unmarshal(out, &report)); err != nil || len(report.Findings) > 0 {
		t.Errorf("parley doctor through the proxy: got %v, %s, want no finding", err, out)
	}

	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	res, err := h.Get(public + "/rtc?access_token=" + token)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadGateway {
		t.Errorf("without the server: got status %d, want 502", res.StatusCode)
	}
	h.CloseIdleConnections()
	logs := ""
	testkit.Eventually(t, "the proxy has logged the last request", func() bool {
		logs = readAll(t, filepath.Join(dir, "logs"))
		return strings.Contains(logs, "/healthz") && strings.Contains(logs, "502")
	})
	if i := strings.Index(logs, token[:20]); i >= 0 {
		t.Errorf("got a token in the logs of the proxy, want none: %.300s", logs[max(0, i-200):])
	}
}

// start runs a program until the test ends.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var output testkit.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: run `test/setup.sh all`", err)
	}
	t.Cleanup(func() {
		_ = cmd.Cancel()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("output of %s:\n%s", cmd.Path, output.Tail(5000))
		}
	})
}

// takeSeats creates a room through the proxy and returns the media tokens of some guests.
func takeSeats(t *testing.T, h *http.Client, public, data string, people int) (tokens []string) {
	t.Helper()
	q, err := quickstart.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(public, client.Credentials{ProjectID: q.ProjectID, APIKey: q.APIKey,
		GatewaySecret: q.GatewaySecret, ProjectSecret: q.ProjectSecret}, client.Options{HTTPClient: h})
	if err != nil {
		t.Fatal(err)
	}
	room, err := c.CreateQuickAudioRoom(t.Context(), client.QuickRoomRequest{Name: "Host", MaxParticipants: 4,
		EmptyTimeout: 600, Metadata: client.Metadata{RoomTitle: "Title"}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range people {
		key := strings.Repeat(string(rune('a'+n)), 43)
		body, err := json.Marshal(map[string]string{"name": "Guest", "seat_key": key})
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Post(public+"/api/join/rooms/"+room.RoomID+"/seats", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var seat struct {
			MediaToken string `json:"media_token"`
		}
		err = json.NewDecoder(res.Body).Decode(&seat)
		_ = res.Body.Close()
		if err != nil || seat.MediaToken == "" {
			t.Fatalf("take a seat: got status %d, %v, want a media token", res.StatusCode, err)
		}
		tokens = append(tokens, seat.MediaToken)
	}
	return tokens
}

// readAll returns the text of all files of a directory.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(&all, f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
