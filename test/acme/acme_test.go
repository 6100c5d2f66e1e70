// Package acme_test obtains certificates from a real ACME authority, pebble. It is a module of its
// own, so that the server does not depend on the authority.
package acme_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"parley.example/client"
	"parley/internal/app"
	"parley/internal/cli"
	"parley/internal/cluster/clustertest"
	"parley/internal/config"
	parleydb "parley/internal/db"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

const domain = "meet.example.test"

// renewalTimeout is how long a test waits for a renewal. If one attempt fails, the next one is a
// minute later.
const renewalTimeout = 3 * time.Minute

// renewalInfoPath is where the authority says when a certificate is to be renewed: renewAfter its issue, if it is valid
// for a short time. By then somebody has joined a meeting.
const (
	renewalInfoPath = "/draft-ietf-acme-ari-03/renewalInfo/"
	renewAfter      = 30 * time.Second
	shortValidity   = time.Minute
)

func TestMain(m *testing.M) {
	testkit.RunChild(runNode)
	_ = os.Setenv("PEBBLE_VA_NOSLEEP", "1")      // it would sleep up to five seconds before each validation
	_ = os.Setenv("PEBBLE_WFE_NONCEREJECT", "0") // it would reject some requests, and orders would be counted twice
	parleytest.Main(m)
}

// orderPath is where the authority accepts orders.
const orderPath = "/order-plz"

// authority is an ACME authority that finds all domains at 127.0.0.1.
type authority struct {
	server    *httptest.Server
	rootsFile string
	orders    atomic.Int32 // that were finalized
	asked     atomic.Int32 // orders that were begun
	refusal   atomic.Pointer[refusal]
	held      atomic.Pointer[chan struct{}] // see holdOrders

	mu       sync.Mutex
	sockets  []string        // of the authority itself
	observed map[string]bool // the sockets of this process during the requests to the authority
}

// refusal is why an authority accepts no order. Without a problem it accepts them.
type refusal struct {
	problem string // the end of its type, such as caa
	detail  string
}

// newAuthority starts an authority that proves domains at a port for HTTP and one for TLS. Its
// certificates are valid for a time, or for years if that is 0.
func newAuthority(t *testing.T, httpPort, tlsPort int, validity time.Duration) *authority {
	t.Helper()
	silent := log.New(io.Discard, "", 0)
	dns := "127.0.0.1:" + strconv.Itoa(testkit.FreeTCPPort(t))
	names, err := challtestsrv.New(challtestsrv.Config{Log: silent, DNSAddrs: []string{dns}})
	if err != nil {
		t.Fatal(err)
	}
	names.SetDefaultDNSIPv4("127.0.0.1")
	names.SetDefaultDNSIPv6("")
	go names.Run()
	t.Cleanup(names.Shutdown)
	memory := db.NewMemoryStore()
	issuer := ca.New(silent, memory, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {
		Description:    "The default profile",
		ValidityPeriod: uint64(validity.Seconds()),
	}})
	prover := va.New(silent, httpPort, tlsPort, false, dns, memory)
	front := wfe.New(silent, memory, prover, issuer, []string{"pebble.letsencrypt.org"}, false, false, 1, 1)
	handler := front.Handler()
	a := &authority{rootsFile: filepath.Join(t.TempDir(), "roots.pem"), observed: map[string]bool{}}
	a.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.observeSockets(t)
		switch {
		case strings.HasPrefix(r.URL.Path, "/finalize-order/"):
			a.orders.Add(1)
		case r.URL.Path == orderPath:
			a.asked.Add(1)
			if held := a.held.Load(); held != nil {
				<-*held
			}
		}
		if f := a.refusal.Load(); f != nil && f.problem != "" && r.URL.Path == orderPath {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]string{"type": "urn:ietf:params:acme:error:" + f.problem,
				"detail": f.detail})
			return
		}
		if validity > 0 && strings.HasPrefix(r.URL.Path, renewalInfoPath) {
			// The authority would choose any second of the certificate's life, also the first one: then the second
			// certificate is replaced at once, too.
			w.Header().Set("Content-Type", "application/json") // without it, the client asks again for some seconds
			w.Header().Set("Retry-After", "21600")
			start := time.Now().Add(renewAfter)
			_ = json.NewEncoder(w).Encode(map[string]any{"suggestedWindow": map[string]time.Time{
				"start": start, "end": start.Add(3 * time.Second)}})
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(a.server.Close)
	a.sockets = []string{"tcp " + dns, "udp " + dns, "tcp " + a.server.Listener.Addr().String()}
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
	if err := os.WriteFile(a.rootsFile, roots, 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// holdOrders makes orders wait until release is called.
func (a *authority) holdOrders() (release func()) {
	held := make(chan struct{})
	a.held.Store(&held)
	return func() { close(held) }
}

// observeSockets adds the sockets that this process has now to those that assertSockets checks.
func (a *authority) observeSockets(t *testing.T) {
	now, err := listeningSockets()
	if err != nil {
		t.Error(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, socket := range now {
		a.observed[socket] = true
	}
}

// assertSockets checks that this process had no sockets but those of the node's settings, also while the authority
// proved the domain. The ACME client would listen at port 443 or 80 for that time if it did not know the ports of the
// node.
func (a *authority) assertSockets(t *testing.T, n *node) {
	t.Helper()
	a.observeSockets(t)
	a.mu.Lock()
	defer a.mu.Unlock()
	got := slices.DeleteFunc(slices.Sorted(maps.Keys(a.observed)), func(socket string) bool {
		return slices.Contains(a.sockets, socket)
	})
	if want := slices.Sorted(slices.Values(n.sockets)); !slices.Equal(got, want) {
		t.Errorf("got the listening sockets %q, want those of the settings, %q", got, want)
	}
}

// listeningSockets returns the sockets of this process that accept connections or packets of anybody, such as
// "tcp 127.0.0.1:443".
func listeningSockets() (sockets []string, err error) {
	inodes := map[string]bool{}
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil { // otherwise it was closed meanwhile
			inode, isSocket := strings.CutPrefix(target, "socket:[")
			inodes[strings.TrimSuffix(inode, "]")] = isSocket
		}
	}
	// The states are those of the kernel: TCP_LISTEN, and TCP_CLOSE for UDP that is not connected.
	for table, state := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"} {
		content, err := os.ReadFile("/proc/self/net/" + table)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(content)) {
			fields := strings.Fields(line) // sl, local address, remote address, state, …, the tenth is the inode
			if len(fields) < 10 || fields[3] != state || !inodes[fields[9]] {
				continue
			}
			address, err := parseSocketAddress(fields[1])
			if err != nil {
				return nil, err
			}
			sockets = append(sockets, strings.TrimSuffix(table, "6")+" "+address.String())
		}
	}
	return sockets, nil
}

// parseSocketAddress parses an address of /proc/net/tcp: words of 32 bits in the byte order of the machine, and the
// port.
func parseSocketAddress(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	for word := range slices.Chunk(raw, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), nil
}

// nodeSettings are the settings of a node. Its secrets are in plain text, because config.Config does not marshal them.
type nodeSettings struct {
	DataDir, DatabaseURL, RedisURL, MasterKey string
	Port, UDPPort                             int
	CA, RootsFile                             string
}

// newSettings returns the settings of a node with a certificate of the authority at a port.
func newSettings(t *testing.T, a *authority, port int) nodeSettings {
	t.Helper()
	return nodeSettings{
		DataDir:   t.TempDir(),
		Port:      port,
		UDPPort:   testkit.FreeUDPPort(t),
		CA:        a.server.URL + wfe.DirectoryPath,
		RootsFile: a.rootsFile,
	}
}

func (s nodeSettings) listen() string { return "127.0.0.1:" + strconv.Itoa(s.Port) }

func (s nodeSettings) config() config.Config {
	cfg := config.Default()
	cfg.Listen, cfg.DataDir, cfg.RTCUDPPort = s.listen(), s.DataDir, s.UDPPort
	cfg.DatabaseURL, cfg.RedisURL, cfg.MasterKey = seal.Secret(s.DatabaseURL), seal.Secret(s.RedisURL),
		seal.Secret(s.MasterKey)
	cfg.TLSDomain, cfg.ACMECA, cfg.ACMECARoots = []string{domain}, s.CA, s.RootsFile
	return cfg
}

// node is a running server.
type node struct {
	address string
	dataDir string
	sockets []string // that its settings name, as listeningSockets returns them
	log     *testkit.Buffer
	stop    func()
}

// startNode starts a server with a certificate of the authority at a port, in this process. change may alter its
// settings.
func startNode(t *testing.T, a *authority, port int, change func(*config.Config)) *node {
	t.Helper()
	cfg := newSettings(t, a, port).config()
	if change != nil {
		change(&cfg)
	}
	n := &node{address: cfg.Listen, dataDir: cfg.DataDir, log: &testkit.Buffer{}}
	n.sockets = []string{"tcp " + cfg.Listen, "udp 127.0.0.1:" + strconv.Itoa(cfg.RTCUDPPort)}
	if cfg.HTTPListen != "" {
		n.sockets = append(n.sockets, "tcp "+cfg.HTTPListen)
	}
	service, err := app.New(t.Context(), cfg, slog.New(slog.NewTextHandler(n.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx, false, io.Discard) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	t.Cleanup(n.stop)
	return n
}

// certificate waits until the server has a certificate, and returns it.
func (n *node) certificate(t *testing.T) (leaf *x509.Certificate) {
	t.Helper()
	testkit.Eventually(t, "the server has a certificate", func() bool {
		conn, err := tls.Dial("tcp", n.address, &tls.Config{ServerName: domain, InsecureSkipVerify: true})
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close() }()
		leaf = conn.ConnectionState().PeerCertificates[0]
		return true
	})
	if err := leaf.VerifyHostname(domain); err != nil {
		t.Errorf("got the certificate of %q, want %s", leaf.DNSNames, domain)
	}
	return leaf
}

// A server obtains a certificate by itself on its only port. Its key is in the database and nowhere
// in plain text, no socket opens that the settings do not name, and the next start uses the same certificate.
func TestACME_IssuedOnce(t *testing.T) {
	port := testkit.FreeTCPPort(t)
	a, dir := newAuthority(t, testkit.FreeTCPPort(t), port, 0), t.TempDir()
	keep := func(cfg *config.Config) { cfg.DataDir = dir }
	n := startNode(t, a, port, keep)
	first := n.certificate(t)
	a.assertSockets(t, n)
	https := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{ServerName: domain, InsecureSkipVerify: true},
		ForceAttemptHTTP2: true,
	}}
	res, err := https.Get("https://" + n.address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	https.CloseIdleConnections()
	if res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
		t.Errorf("got status %d over %s, want 200 over HTTP/2", res.StatusCode, res.Proto)
	}
	byAddress, err := tls.Dial("tcp", n.address, &tls.Config{InsecureSkipVerify: true}) // names no server
	if err != nil {
		t.Fatalf("connect without a host name: got %v, want the certificate", err)
	}
	_ = byAddress.Close()
	n.stop()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"PRIVATE KEY", "BEGIN CERTIFICATE"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s contains %q, want it sealed", filepath.Base(name), secret)
			}
		}
	}
	if strings.Contains(n.log.String(), "PRIVATE KEY") {
		t.Error("the log contains a private key")
	}
	again := startNode(t, a, port, keep)
	if got := again.certificate(t); got.SerialNumber.Cmp(first.SerialNumber) != 0 {
		t.Errorf("after a restart: got the certificate %s, want %s", got.SerialNumber, first.SerialNumber)
	}
	if got := a.orders.Load(); got != 1 {
		t.Errorf("got %d orders, want 1", got)
	}
}

// runNode is the main function of a node in a process of its own. It serves until the test has ended.
func runNode(settings nodeSettings) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	service, err := app.New(ctx, settings.config(), slog.New(slog.NewTextHandler(os.Stderr, nil)),
		app.WithRenewalCheck(time.Second))
	if err != nil {
		return err
	}
	go func() {
		testkit.AwaitParent()
		cancel()
	}()
	return service.Run(ctx, false, io.Discard)
}

// startChild starts a node in a process of its own, because a process can run only one media engine. Two nodes in one
// process would also share the challenges of the ACME client in memory.
func startChild(t *testing.T, settings nodeSettings) *node {
	t.Helper()
	n := &node{address: settings.listen(), dataDir: settings.DataDir, log: &testkit.Buffer{}}
	_, _ = testkit.StartChild(t, settings, n.log)
	testkit.Eventually(t, "the node listens", func() bool {
		conn, err := net.Dial("tcp", n.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return n
}

// startTwoNodes starts two nodes of one service with a new database, whose URL it returns. The first one orders the
// certificate, and the authority asks the second one.
func startTwoNodes(t *testing.T, validity time.Duration) (a *authority, database string, nodes []*node) {
	t.Helper()
	ports := []int{testkit.FreeTCPPort(t), testkit.FreeTCPPort(t)}
	a, database = newAuthority(t, testkit.FreeTCPPort(t), ports[1], validity), storetest.Postgres(t)
	redis, key := clustertest.NewRedis(t).URL(), seal.NewKey().Reveal()
	acceptOrders := a.holdOrders()
	defer acceptOrders()
	for n, port := range ports {
		settings := newSettings(t, a, port)
		settings.DatabaseURL, settings.RedisURL, settings.MasterKey = database, redis, key
		nodes = append(nodes, startChild(t, settings))
		if n == 0 {
			testkit.Eventually(t, "the first node orders", func() bool { return a.asked.Load() > 0 })
		}
	}
	return a, database, nodes
}

// Two nodes use one certificate, which one of them has ordered, although the authority asks the other one. Its key is
// nowhere in PostgreSQL in plain text.
func TestACME_TwoNodes(t *testing.T) {
	a, database, nodes := startTwoNodes(t, 0)
	first, second := nodes[0].certificate(t).SerialNumber, nodes[1].certificate(t).SerialNumber
	if first.Cmp(second) != 0 || a.orders.Load() != 1 {
		t.Errorf("got the certificates %s and %s by %d orders, want the same by one", first, second, a.orders.Load())
	}
	assertSealed(t, database)
}

// Two servers of one service use one certificate: the second one orders none, also after the first one was killed.
func TestACME_TwoServers(t *testing.T) {
	ports := []int{testkit.FreeTCPPort(t), testkit.FreeTCPPort(t)}
	a, database := newAuthority(t, testkit.FreeTCPPort(t), ports[0], 0), storetest.Postgres(t)
	environment := []string{"PARLEY_DATABASE_URL=" + database, "PARLEY_REDIS_URL=" + clustertest.NewRedis(t).URL(),
		"PARLEY_MASTER_KEY=" + seal.NewKey().Reveal()}
	serve := func(port int) (*node, *parleytest.Server) {
		t.Helper()
		n := &node{address: "127.0.0.1:" + strconv.Itoa(port)}
		s := parleytest.Start(t, parleytest.Options{
			DataDir:     t.TempDir(),
			Environment: environment,
			Args: []string{"--listen", n.address, "--public-url", "https://" + domain, "--tls-domain", domain,
				"--acme-ca", a.server.URL + wfe.DirectoryPath, "--acme-ca-roots", a.rootsFile},
		})
		n.log = s.Log
		return n, s
	}
	assertOne := func(when string, want, got *x509.Certificate) {
		t.Helper()
		if want.SerialNumber.Cmp(got.SerialNumber) != 0 || a.orders.Load() != 1 {
			t.Errorf("%s: got the certificates %s and %s by %d orders, want the same by one", when, want.SerialNumber,
				got.SerialNumber, a.orders.Load())
		}
	}
	first, process := serve(ports[0])
	leaf := first.certificate(t)
	second, other := serve(ports[1])
	assertOne("beside the first server", leaf, second.certificate(t))
	process.Kill()
	if err := other.Stop(); err != nil {
		t.Fatal(err)
	}
	again, _ := serve(ports[1])
	assertOne("without the first server", leaf, again.certificate(t))
	assertSealed(t, database)
}

// A node that does not trust the authority's server does not keep another node from obtaining the certificate, which
// both use then.
func TestACME_AuthorityUnreachableForOneNode(t *testing.T) {
	ports := []int{testkit.FreeTCPPort(t), testkit.FreeTCPPort(t)}
	a, database := newAuthority(t, testkit.FreeTCPPort(t), ports[1], 0), storetest.Postgres(t)
	environment := []string{"PARLEY_DATABASE_URL=" + database, "PARLEY_REDIS_URL=" + clustertest.NewRedis(t).URL(),
		"PARLEY_MASTER_KEY=" + seal.NewKey().Reveal()}
	serve := func(port int, roots ...string) *node {
		t.Helper()
		n := &node{address: "127.0.0.1:" + strconv.Itoa(port)}
		n.log = parleytest.Start(t, parleytest.Options{
			DataDir:     t.TempDir(),
			Environment: environment,
			Args: append([]string{"--listen", n.address, "--public-url", "https://" + domain, "--tls-domain", domain,
				"--acme-ca", a.server.URL + wfe.DirectoryPath}, roots...),
		}).Log
		return n
	}
	distrustful := serve(ports[0])
	testkit.Eventually(t, "the first node does not reach the authority", func() bool {
		return strings.Contains(distrustful.log.String(), "obtain certificate failed")
	})
	want := serve(ports[1], "--acme-ca-roots", a.rootsFile).certificate(t).SerialNumber
	if got := distrustful.certificate(t).SerialNumber; got.Cmp(want) != 0 || a.orders.Load() != 1 {
		t.Errorf("got the certificates %s and %s by %d orders, want the same by one", got, want, a.orders.Load())
	}
}

// assertSealed checks that a database contains the files of the ACME client, but no key and no certificate in plain
// text.
func assertSealed(t *testing.T, database string) {
	t.Helper()
	for text, want := range map[string]bool{"PRIVATE KEY": false, "BEGIN CERTIFICATE": false, "/" + domain + "/": true} {
		if got := postgresContains(t, database, text); got != want {
			t.Errorf("the database contains %q: got %t, want %t", text, got, want)
		}
	}
}

// postgresContains reports whether a column of a table of a database contains a text.
func postgresContains(t *testing.T, url, text string) bool {
	t.Helper()
	const found = "found the text"
	err := parleydb.ExecPostgres(t.Context(), url, fmt.Sprintf(`DO $$
DECLARE
	c record;
	content text;
	rows bigint;
BEGIN
	FOR c IN SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type IN ('text', 'bytea')
	LOOP
		content := quote_ident(c.column_name);
		IF c.data_type = 'bytea' THEN
			content := format('encode(%%s, ''escape'')', content);
		END IF;
		EXECUTE format('SELECT count(*) FROM %%I WHERE position(%%L IN %%s) > 0', c.table_name, '%s', content) INTO rows;
		IF rows > 0 THEN
			RAISE EXCEPTION '%s';
		END IF;
	END LOOP;
END $$`, text, found))
	if err != nil && !strings.Contains(err.Error(), found) {
		t.Fatal(err)
	}
	return err != nil
}

// A certificate is renewed by one node and used by all, while somebody is in a meeting over a WebSocket.
func TestACME_Renewed(t *testing.T) {
	a, _, nodes := startTwoNodes(t, shortValidity)
	nodes[0].certificate(t)
	guest := nodes[0].join(t)
	first := nodes[0].certificate(t)
	testkit.EventuallyWithin(t, renewalTimeout, "both nodes serve another certificate", func() bool {
		renewed, other := nodes[0].certificate(t).SerialNumber, nodes[1].certificate(t).SerialNumber
		return renewed.Cmp(first.SerialNumber) != 0 && renewed.Cmp(other) == 0
	})
	if got := a.orders.Load(); got != 2 {
		t.Errorf("got %d orders, want one for the first certificate and one for its renewal; the logs of the nodes:\n%s\n%s",
			got, nodes[0].log, nodes[1].log)
	}
	if guest.Closed() {
		t.Error("the WebSocket after the renewal: got it closed, want it open")
	}
	if err := guest.Publish(t.Context(), "mic", mediatest.Microphone); err != nil {
		t.Errorf("a request over the WebSocket after the renewal: got %v, want the answer of the server", err)
	}
}

// join creates a room at the node, and joins it as a guest.
func (n *node) join(t *testing.T) *mediatest.Participant {
	t.Helper()
	secure := &tls.Config{ServerName: domain, InsecureSkipVerify: true}
	transport := &http.Transport{TLSClientConfig: secure}
	t.Cleanup(transport.CloseIdleConnections)
	https := &http.Client{Transport: transport}
	credentials, err := quickstart.Read(n.dataDir)
	if err != nil {
		t.Fatal(err)
	}
	url := "https://" + n.address
	api, err := client.New(url, client.Credentials{ProjectID: credentials.ProjectID, APIKey: credentials.APIKey},
		client.Options{HTTPClient: https})
	if err != nil {
		t.Fatal(err)
	}
	created, err := api.CreateQuickAudioRoom(t.Context(), client.QuickRoomRequest{Name: "Host", MaxParticipants: 2,
		EmptyTimeout: 600, Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := json.Marshal(map[string]string{"name": "Guest",
		"seat_key": strings.ReplaceAll(seal.NewKey().Reveal(), "=", "")})
	if err != nil {
		t.Fatal(err)
	}
	res, err := https.Post(url+"/api/join/rooms/"+created.RoomID+"/seats", "application/json", bytes.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var seat struct {
		Token string `json:"media_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&seat); err != nil || seat.Token == "" {
		t.Fatalf("take a seat: got status %d and %v, want a token", res.StatusCode, err)
	}
	guest, err := mediatest.Network{TLS: secure}.Join(t.Context(), url, seat.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(guest.Leave) // so that the node stops at once
	return guest
}

// If port 443 is blocked, the domain is proved over HTTP.
func TestACME_HTTPChallenge(t *testing.T) {
	port, httpPort := testkit.FreeTCPPort(t), testkit.FreeTCPPort(t)
	a := newAuthority(t, httpPort, testkit.FreeTCPPort(t), 0)
	n := startNode(t, a, port, func(cfg *config.Config) { cfg.HTTPListen = "127.0.0.1:" + strconv.Itoa(httpPort) })
	n.certificate(t)
	a.assertSockets(t, n)
}

// A server whose clock is behind does not accept the authority's own server, and says that the clock is the reason.
func TestACME_ClockBehind(t *testing.T) {
	later := testkit.NewCertificateFrom(t, 1, time.Now().Add(time.Hour))
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{later.Pair}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots, _ := later.Write(t, t.TempDir())
	n := startNode(t, &authority{server: server, rootsFile: roots}, testkit.FreeTCPPort(t), nil)
	testkit.Eventually(t, "the failure is logged", func() bool {
		return n.log.HasLine("obtain certificate failed", domain, "which is behind: timedatectl set-ntp true")
	})
}

// A server that gets no certificate keeps running, and parley doctor on its machine prints why and what to change,
// although nothing else can connect to it. Nothing is found after the cause is gone.
func TestACME_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		problem, cause, change string
	}{
		"port 443 is closed": {"", "Failed to connect to 127.0.0.1", "Open TCP port 443 in the firewall, and point " +
			domain + " (--tls-domain) to the server in the DNS, without a proxy that ends TLS."},
		"CAA record": {"caa", "the CAA record does not name this authority",
			"Add this record to the DNS: " + domain + `. CAA 0 issue "pebble.letsencrypt.org"`},
		"rate limit": {"rateLimited", "too many certificates, retry after 2026-11-30",
			"Let the server run until the limit of the authority ends, because it tries again by itself."},
	} {
		t.Run(name, func(t *testing.T) { testRefused(t, c.problem, c.cause, c.change) })
	}
}

func testRefused(t *testing.T, problem, cause, change string) {
	port := testkit.FreeTCPPort(t)
	tlsPort := port
	if problem == "" {
		tlsPort = testkit.FreeTCPPort(t) // nobody listens there
	}
	a := newAuthority(t, testkit.FreeTCPPort(t), tlsPort, 0)
	a.refusal.Store(&refusal{problem, cause + "."})
	metrics := "127.0.0.1:" + strconv.Itoa(testkit.FreeTCPPort(t))
	var settings config.Config
	n := startNode(t, a, port, func(cfg *config.Config) {
		cfg.MetricsListen = metrics
		settings = *cfg
	})
	testkit.Eventually(t, "the failure is logged", func() bool {
		return n.log.HasLine("obtain certificate failed", domain, "remedy=")
	})
	status, report := doctor(t, settings)
	want := "ERROR    certificate_missing: The node has no TLS certificate yet, so browsers cannot connect: "
	if i := strings.Index(report, want); i < 0 || status != 1 || !strings.Contains(report[i:], cause) ||
		!strings.Contains(report[i:], "\n         change: "+change+"\n") {
		t.Errorf("parley doctor: got status %d and\n%s\nwant status 1, %s, and the change %s", status, report, want+cause,
			change)
	}
	res, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if !strings.Contains(string(body), "\nparley_certificate_expires_seconds 0\n") {
		t.Error("got another metric for the missing certificate, want 0")
	}
	if _, err := net.Dial("tcp", n.address); err != nil {
		t.Errorf("connect to the server: got %v, want it to listen", err)
	}
	if problem != "caa" { // waiting for another attempt takes a minute
		return
	}
	a.refusal.Store(nil)
	testkit.EventuallyWithin(t, renewalTimeout, "parley doctor finds no problem of the certificate", func() bool {
		_, report = doctor(t, settings)
		return strings.Contains(report, "ok       certificate: the running server finds nothing wrong\n")
	})
	n.certificate(t)
}

// doctor runs parley doctor with the settings of a server, and returns its exit status and its output.
func doctor(t *testing.T, cfg config.Config) (status int, report string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = cli.Main(t.Context(), []string{"doctor", "--data-dir", cfg.DataDir, "--listen", cfg.Listen, "--tls-domain",
		domain, "--acme-ca", cfg.ACMECA, "--acme-ca-roots", cfg.ACMECARoots, "--rtc-udp-port",
		strconv.Itoa(cfg.RTCUDPPort)}, nil, &out, &errs)
	if errs.Len() > 0 {
		t.Errorf("parley doctor: got the error %s", errs.String())
	}
	return status, out.String()
}
