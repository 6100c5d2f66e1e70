// Package cluster tests the service as processes that are killed, restarted and joined to a
// cluster, with real participants.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"parley.example/client"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

// Each node is a separate process, because a process has only one media engine.
func TestMain(m *testing.M) {
	// For this process and its servers. The other tests connect to no HTTPS server.
	if err := os.Setenv("SSL_CERT_FILE", certificateDir+"/cert.pem"); err != nil {
		panic(err)
	}
	parleytest.Main(m)
}

// certificateDir has a certificate of localhost, and its key.
const certificateDir = "../browser/certificate"

// service is the configuration that all its nodes share.
type service struct {
	database, redis string // URLs; empty for one node on SQLite
	master          seal.Key
	publicURL       string
	secure          bool   // HTTPS, with TURN
	binary          string // program of nodes that are started first; empty for this one
	quickstart.File
}

// node is one process of a service.
type node struct {
	*parleytest.Server // of the latest start
	t                  testing.TB
	s                  *service
	dir                string
	udp                int
	url                string
	binary             string // program of another build; empty for this one
}

func (s *service) startNode(t testing.TB) *node {
	t.Helper()
	n := &node{
		t:      t,
		s:      s,
		dir:    t.TempDir(),
		udp:    testkit.FreeUDPPort(t),
		binary: s.binary,
	}
	n.start()
	if s.File.ProjectID == "" {
		var err error
		if s.File, err = quickstart.Read(n.dir); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// start returns when the node is healthy.
func (n *node) start() {
	n.t.Helper()
	args, scheme := []string{"--no-rate-limits-enabled", "--webhook-allow-private"}, "http://"
	if n.s.secure {
		args = append(args, "--tls-cert-file", certificateDir+"/cert.pem", "--tls-key-file", certificateDir+"/key.pem")
		scheme = "https://"
	}
	n.Server = parleytest.Start(n.t, parleytest.Options{
		Binary:      n.binary,
		DataDir:     n.dir,
		UDPPort:     n.udp,
		Environment: n.environment(),
		Args:        args,
	})
	n.url = n.URL
	if n.s.publicURL != "" { // the node prints the public URL
		n.url = scheme + n.logField("listen")
	}
	testkit.Eventually(n.t, "the node is healthy", func() bool { return n.health()["status"] == "ok" })
}

// environment returns the environment variables that all nodes of the service share.
func (n *node) environment() []string {
	return []string{"PARLEY_DATABASE_URL=" + n.s.database, "PARLEY_REDIS_URL=" + n.s.redis,
		"PARLEY_MASTER_KEY=" + n.s.master.Reveal(), "PARLEY_PUBLIC_URL=" + n.s.publicURL}
}

// health returns the node's health report, or nil while the node does not respond.
func (n *node) health() (report map[string]string) {
	return n.healthFor("")
}

// healthFor returns the health report for the owner of a management token.
func (n *node) healthFor(token string) (report map[string]string) {
	r, err := http.NewRequest(http.MethodGet, n.url+"/healthz", nil)
	if err != nil {
		n.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	_ = json.NewDecoder(res.Body).Decode(&report)
	return report
}

// logField returns a field of the log line that the node writes when it is ready.
func (n *node) logField(name string) (value string) {
	n.t.Helper()
	testkit.Eventually(n.t, "the node logs its "+name, func() bool {
		_, after, found := strings.Cut(n.Log.String(), "msg=ready")
		_, after, ok := strings.Cut(after, " "+name+"=")
		value, _, _ = strings.Cut(after, " ")
		return found && ok && strings.Contains(after, "\n")
	})
	return strings.TrimSpace(value)
}

// stop stops the node with SIGTERM and waits for its end.
func (n *node) stop() {
	n.t.Helper()
	if err := n.Stop(); err != nil {
		n.t.Fatalf("stop the node: got error %v, want none\n%s", err, n.Log)
	}
}

// client returns a client of the node's server API.
func (n *node) client() *client.Client {
	n.t.Helper()
	c, err := client.New(n.url, client.Credentials{ProjectID: n.s.ProjectID, APIKey: n.s.APIKey,
		GatewaySecret: n.s.GatewaySecret, ProjectSecret: n.s.ProjectSecret}, client.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// createRoom creates a quick room and returns its id and the token of the host's link.
func (n *node) createRoom(seats, emptyTimeout int) (id, link string, err error) {
	created, err := n.client().CreateQuickAudioRoom(context.Background(), client.QuickRoomRequest{Name: "Ada",
		MaxParticipants: seats,
		EmptyTimeout:    emptyTimeout, Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
	if err != nil {
		return "", "", err
	}
	_, link, _ = strings.Cut(created.FinalLink, "#t=")
	return created.RoomID, link, nil
}

// seat is the join API's response to a page that takes a seat.
type seat struct {
	Status   int
	Identity string `json:"identity"`
	Session  string `json:"session_id"`
	Token    string `json:"media_token"`
	Role     string `json:"role"`
	Error    struct {
		Code string `json:"code"`
	} `json:"error"`
}

// reserveSeat requests a seat. It returns an error only if there is no response.
func (n *node) reserveSeat(roomID, seatKey, link string) (seat, error) {
	body, _ := json.Marshal(map[string]string{"name": "Guest", "seat_key": seatKey, "link": link})
	for attempt := 1; ; attempt++ {
		res, err := http.Post(n.url+"/api/join/rooms/"+roomID+"/seats", "application/json", bytes.NewReader(body))
		if err != nil {
			return seat{}, err
		}
		s := seat{Status: res.StatusCode}
		err = json.NewDecoder(res.Body).Decode(&s)
		_ = res.Body.Close()
		// A busy disk refuses a write now and then, and pages repeat the request.
		if s.Status != http.StatusServiceUnavailable || attempt == 3 {
			return s, err
		}
	}
}

// join takes a seat and connects.
func (n *node) join(ctx context.Context, roomID, seatKey string) (seat, *mediatest.Participant, error) {
	s, err := n.reserveSeat(roomID, seatKey, "")
	if err == nil && s.Status != http.StatusOK {
		err = fmt.Errorf("take a seat: status %d, code %s", s.Status, s.Error.Code)
	}
	if err != nil {
		return s, nil, err
	}
	p, err := mediatest.Join(ctx, n.url, s.Token)
	return s, p, err
}

// openDatabase opens the service's database while its nodes run.
func (s *service) openDatabase(t testing.TB, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), s.database, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
