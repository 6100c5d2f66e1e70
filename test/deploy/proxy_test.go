package deploy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

func testProxy(t *testing.T, p proxy) {
	dir, certificate := t.TempDir(), testkit.NewCertificate(t, 1)
	certFile, _ := certificate.Write(t, dir)
	https := fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
	parley := fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t))
	public := "https://" + strings.Replace(https, "127.0.0.1", "localhost", 1)
	text, err := os.ReadFile(filepath.Join("../../deploy", p.file))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, filepath.Base(p.file))
	changed := p.prepare(string(text), dir, fmt.Sprintf("127.0.0.1:%d", testkit.FreeTCPPort(t)), https, parley)
	if err := os.WriteFile(config, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o777); err != nil {
		t.Fatal(err)
	}
	start(t, p.command(t.Context(), config, dir))

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
	report, err := doctor.CombinedOutput()
	if err != nil || strings.Contains(string(report), `"findings"`) {
		t.Errorf("parley doctor through the proxy: got %v, %s, want no finding", err, report)
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
