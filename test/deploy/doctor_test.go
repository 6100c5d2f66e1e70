package deploy

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/internal/testkit"
	"parley/test/parleytest"
)

// strictNetwork is a network namespace that reaches this machine at thisMachine, over TCP only.
const (
	strictNetwork = "parley-doctor"
	thisMachine   = "10.78.0.1"
)

// createStrictNetwork creates the namespace until the test ends. It has its own /etc/hosts, in which the name localhost
// is this machine.
func createStrictNetwork(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may create a network namespace")
	}
	dir := filepath.Join("/etc/netns", strictNetwork)
	remove := func() {
		_ = exec.Command("ip", "netns", "del", strictNetwork).Run() // fails if it does not exist
		_ = exec.Command("ip", "link", "del", "parley-d0").Run()
		_ = os.RemoveAll(dir)
	}
	remove() // of a test that was killed
	t.Cleanup(remove)
	if err := errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "hosts"), []byte(thisMachine+" localhost\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"netns add " + strictNetwork,
		"link add parley-d0 type veth peer name parley-d1 netns " + strictNetwork,
		"addr add " + thisMachine + "/30 dev parley-d0",
		"link set parley-d0 up",
		"-n " + strictNetwork + " addr add 10.78.0.2/30 dev parley-d1",
		"-n " + strictNetwork + " link set parley-d1 up",
		"-n " + strictNetwork + " link set lo up",
		"-n " + strictNetwork + " rule add ipproto udp prohibit",
	} {
		run(t, "/", "ip", strings.Fields(command)...)
	}
}

// A proxy in front of a server passes on HTTP only, so media arrives over UDP alone, and not at all from a network that
// blocks UDP. The other machine and the operator see a finding for each path, and none after both were corrected.
func TestDoctor_Media(t *testing.T) {
	testkit.Slow(t)
	createStrictNetwork(t)
	certificate, front := testkit.NewCertificate(t, 1), parleytest.StartFront(t)
	front.Listen(t, thisMachine)
	certFile, keyFile := certificate.Write(t, t.TempDir())
	address := fmt.Sprintf("%s:%d", thisMachine, testkit.FreeTCPPort(t))
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: address}))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0) // of the connections that are no HTTPS
	proxy.Config.Handler.(*httputil.ReverseProxy).Transport =
		&http.Transport{TLSClientConfig: &tls.Config{RootCAs: certificate.Pool, ServerName: "localhost"}}
	proxy.TLS = &tls.Config{Certificates: []tls.Certificate{certificate.Pair}}
	proxy.StartTLS()
	defer proxy.Close()
	dir := t.TempDir()
	parleytest.Start(t, parleytest.Options{
		DataDir: dir,
		Args: []string{"--listen", address, "--no-supervise", "--tls-cert-file", certFile, "--tls-key-file", keyFile,
			"--public-url", fmt.Sprintf("https://localhost:%d", front.Port()), "--rtc-node-ip", thisMachine,
			"--trusted-proxies", thisMachine},
	})
	for _, c := range []struct {
		name, server string
		isStrict     bool // where UDP is blocked
		want         []string
	}{
		{"a proxy for HTTP", proxy.Listener.Addr().String(), false,
			[]string{"ice_tcp_unreachable", "turn_tcp_unreachable", "turn_tls_unreachable"}},
		{"a proxy for HTTP, and UDP is blocked", proxy.Listener.Addr().String(), true,
			[]string{"udp_unreachable", "ice_tcp_unreachable", "turn_tcp_unreachable", "turn_tls_unreachable",
				"media_unreachable"}},
		{"no such proxy, and UDP is blocked", address, true, []string{"udp_unreachable"}},
		{"no such proxy", address, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			front.SetServer(c.server)
			assertMediaFindings(t, certFile, dir, c.isStrict, c.want)
		})
	}
}

// A server whose UDP port another program has receives media on another one, which is new at each start. Behind a
// firewall, the other machine and the operator see that the first one must be free, and not which one the server has.
func TestDoctor_MediaPortTaken(t *testing.T) {
	testkit.Slow(t)
	createStrictNetwork(t)
	certificate := testkit.NewCertificate(t, 1)
	certFile, keyFile := certificate.Write(t, t.TempDir())
	dir, port, udp := t.TempDir(), testkit.FreeTCPPort(t), testkit.FreeUDPPort(t)
	taken, err := net.ListenPacket("udp", fmt.Sprintf("%s:%d", thisMachine, udp))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	front := parleytest.StartFront(t)
	front.Listen(t, thisMachine)
	front.SetServer(fmt.Sprintf("%s:%d", thisMachine, port))
	parleytest.Start(t, parleytest.Options{
		DataDir: dir,
		UDPPort: udp,
		Args: []string{"--listen", fmt.Sprintf("%s:%d", thisMachine, port), "--no-supervise", "--tls-cert-file", certFile,
			"--tls-key-file", keyFile, "--public-url", fmt.Sprintf("https://localhost:%d", front.Port()), "--rtc-node-ip",
			thisMachine, "--trusted-proxies", thisMachine},
	})
	const want = "Free the port of --rtc-udp-port, or choose another one, and restart the server (parley doctor there names " +
		"the port)."
	for _, change := range assertMediaFindings(t, certFile, dir, true, []string{"udp_unreachable"}) {
		if change != want {
			t.Errorf("got the change %q, want %q", change, want)
		}
	}
}

// assertMediaFindings has the operator create a check, runs it as on another machine, and checks that both see a result
// of each path of media, and the findings. It returns what to change.
func assertMediaFindings(t *testing.T, certFile, dir string, isStrict bool, want []string) (changes []string) {
	t.Helper()
	environment := []string{"SSL_CERT_FILE=" + certFile}
	var invited, report testkit.Buffer
	operator := parleytest.Command(environment, "doctor", "--invite", "--json", "--data-dir", dir)
	operator.Stdout, operator.Stderr = &report, &invited
	if err := operator.Start(); err != nil {
		t.Fatal(err)
	}
	pattern, link := regexp.MustCompile(`https://\S+/check#[\w-]+`), ""
	testkit.Eventually(t, "parley doctor --invite prints a URL", func() bool {
		link = pattern.FindString(invited.String())
		return link != "" && strings.Contains(invited.String(), "Waiting")
	})
	other := parleytest.Command(environment, "doctor", "--json", link)
	if isStrict {
		ip, err := exec.LookPath("ip")
		if err != nil {
			t.Fatal(err)
		}
		other.Path, other.Args = ip, append([]string{"ip", "netns", "exec", strictNetwork}, other.Args...)
	}
	// The exit status says whether there is an error among the findings.
	remote, _ := other.Output()
	_ = operator.Wait()
	for name, text := range map[string]string{"the other machine": string(remote), "the operator": report.String()} {
		var got struct {
			Checks []struct {
				Check, Detail string
				Findings      []struct{ ID, Change string }
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: got %q, %v, want JSON", name, text, err)
		}
		var found []string
		paths := 0
		for _, c := range got.Checks {
			if strings.HasPrefix(c.Check, "media_") && (c.Detail != "" || len(c.Findings) > 0) {
				paths++
			}
			for _, f := range c.Findings {
				found, changes = append(found, f.ID), append(changes, f.Change)
			}
		}
		if paths != 4 || !slices.Equal(found, want) {
			t.Errorf("%s: got %d paths with a result and the findings %v, want 4 and %v:\n%s", name, paths, found, want, text)
		}
	}
	return changes
}
