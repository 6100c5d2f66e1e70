// Package cluster tests the service as processes that are killed, restarted and joined to a
// cluster, with real participants.
package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"parley/client"
	"parley/internal/cli"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/store"
	"parley/internal/testkit"
)

// commandEnv makes this test program run as the parley command. Each node is a separate
// process, because a process has only one media engine.
const commandEnv = "PARLEY_CLUSTER_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(cli.Run())
	}
	os.Exit(m.Run())
}

// service is the configuration that all its nodes share.
type service struct {
	database, redis string // URLs; empty for one node on SQLite
	master          seal.Key
	publicURL       string
	quickstart.File
}

// node is one process of a service.
type node struct {
	t       testing.TB
	s       *service
	dir     string
	udp     int
	url     string
	cmd     *exec.Cmd
	log     *testkit.Buffer
	stopped bool
}

func (s *service) startNode(t testing.TB) *node {
	t.Helper()
	n := &node{t: t, s: s, dir: t.TempDir(), udp: testkit.FreeUDPPort(t)}
	t.Cleanup(func() { n.kill() })
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
	n.log, n.stopped = &testkit.Buffer{}, false
	n.cmd = exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data-dir", n.dir, "--rtc-udp-port",
		fmt.Sprint(n.udp), "--no-rate-limits-enabled",
		"--webhook-allow-private")
	n.cmd.Env = append(os.Environ(), commandEnv+"=1", "PARLEY_DATABASE_URL="+n.s.database,
		"PARLEY_REDIS_URL="+n.s.redis,
		"PARLEY_MASTER_KEY="+n.s.master.Reveal(), "PARLEY_PUBLIC_URL="+n.s.publicURL)
	n.cmd.Stderr = n.log
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := n.cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	url := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if address, found := strings.CutPrefix(lines.Text(), "Parley runs at "); found {
				url <- address
			}
		}
		close(url)
	}()
	if n.url = <-url; n.url == "" {
		n.t.Fatalf("the node did not start:\n%s", n.log)
	}
	if n.s.publicURL != "" { // the node prints the public URL
		n.url = "http://" + n.logField("listen")
	}
	testkit.Eventually(n.t, "the node is healthy", func() bool { return n.health()["status"] == "ok" })
}

// health returns the node's health report, or nil while the node does not respond.
func (n *node) health() (report map[string]string) {
	res, err := http.Get(n.url + "/healthz")
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
		_, after, found := strings.Cut(n.log.String(), "msg=ready")
		_, after, ok := strings.Cut(after, " "+name+"=")
		value, _, _ = strings.Cut(after, " ")
		return found && ok && strings.Contains(after, "\n")
	})
	return strings.TrimSpace(value)
}

// kill kills the node with SIGKILL.
func (n *node) kill() {
	if !n.stopped {
		n.stopped = true
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
	}
}

// stop stops the node with SIGTERM and waits for its end.
func (n *node) stop() {
	n.t.Helper()
	n.stopped = true
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	if err := n.cmd.Wait(); err != nil {
		n.t.Fatalf("stop: %v\n%s", err, n.log)
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

// takeSeat requests a seat. It returns an error only if there is no response.
func (n *node) takeSeat(roomID, seatKey, link string) (seat, error) {
	body, _ := json.Marshal(map[string]string{"name": "Guest", "seat_key": seatKey, "link": link})
	res, err := http.Post(n.url+"/api/join/rooms/"+roomID+"/seats", "application/json", bytes.NewReader(body))
	if err != nil {
		return seat{}, err
	}
	defer func() { _ = res.Body.Close() }()
	s := seat{Status: res.StatusCode}
	return s, json.NewDecoder(res.Body).Decode(&s)
}

// join takes a seat and connects.
func (n *node) join(ctx context.Context, roomID, seatKey string) (seat, *mediatest.Participant, error) {
	s, err := n.takeSeat(roomID, seatKey, "")
	if err == nil && s.Status != http.StatusOK {
		err = fmt.Errorf("%d %s", s.Status, s.Error.Code)
	}
	if err != nil {
		return s, nil, err
	}
	p, err := mediatest.Join(ctx, n.url, s.Token)
	return s, p, err
}

// openDatabase opens the service's database while its nodes run.
func (s *service) openDatabase(t testing.TB, dir string) *store.Store {
	t.Helper()
	db, err := store.Open(context.Background(), s.database, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
