// Package cluster tests the service as processes: killed, started again, and
// several as one. Their participants are real.
package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/client"
	"parley/internal/quickstart"
	"parley/internal/cli"
	"parley/internal/media/mediatest"
	"parley/internal/seal"
	"parley/internal/store"
)

// There is one media engine in a process: a node is this test program again,
// as the command.
const commandEnv = "PARLEY_CLUSTER_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(cli.Run())
	}
	os.Exit(m.Run())
}

// service is what its nodes have in common.
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
	log     *buffer
	stopped bool
}

func (s *service) startNode(t testing.TB) *node {
	t.Helper()
	n := &node{t: t, s: s, dir: t.TempDir(), udp: freePort(t, "udp")}
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
	n.log, n.stopped = &buffer{}, false
	n.cmd = exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data-dir", n.dir, "--rtc-udp-port", fmt.Sprint(n.udp), "--no-rate-limits-enabled",
		"--webhook-allow-private")
	n.cmd.Env = append(os.Environ(), commandEnv+"=1", "PARLEY_DATABASE_URL="+n.s.database, "PARLEY_REDIS_URL="+n.s.redis,
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
			if at, found := strings.CutPrefix(lines.Text(), "Parley runs at "); found {
				url <- at
			}
		}
		close(url)
	}()
	if n.url = <-url; n.url == "" {
		n.t.Fatalf("the node did not start:\n%s", n.log)
	}
	if n.s.publicURL != "" { // then it is that which is printed
		n.url = "http://" + n.logField("listen")
	}
	eventually(n.t, "the node is healthy", func() bool { return n.health()["status"] == "ok" })
}

// health is what the node says of itself; nothing while it does not answer.
func (n *node) health() (report map[string]string) {
	answer, err := http.Get(n.url + "/healthz")
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	_ = json.NewDecoder(answer.Body).Decode(&report)
	return report
}

// logField finds what the node said of itself when it was ready.
func (n *node) logField(name string) (value string) {
	n.t.Helper()
	eventually(n.t, "the node says its "+name, func() bool {
		_, after, found := strings.Cut(n.log.String(), "msg=ready")
		_, after, ok := strings.Cut(after, " "+name+"=")
		value, _, _ = strings.Cut(after, " ")
		return found && ok && strings.Contains(after, "\n")
	})
	return strings.TrimSpace(value)
}

// kill ends the node without a word.
func (n *node) kill() {
	if !n.stopped {
		n.stopped = true
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
	}
}

// stop ends it as an operator would.
func (n *node) stop() {
	n.t.Helper()
	n.stopped = true
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	if err := n.cmd.Wait(); err != nil {
		n.t.Fatalf("stop: %v\n%s", err, n.log)
	}
}

// client calls the node as an integrator does.
func (n *node) client() *client.Client {
	n.t.Helper()
	c, err := client.New(n.url, client.Credentials{ProjectID: n.s.ProjectID, APIKey: n.s.APIKey,
		GatewaySecret: n.s.GatewaySecret, ProjectSecret: n.s.ProjectSecret}, client.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// createRoom makes a quick room and returns its id and the token of the host's link.
func (n *node) createRoom(seats, emptyTimeout int) (id, link string, err error) {
	made, err := n.client().CreateQuickAudioRoom(context.Background(), client.QuickRoomRequest{Name: "Ada", MaxParticipants: seats,
		EmptyTimeout: emptyTimeout, Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
	if err != nil {
		return "", "", err
	}
	_, link, _ = strings.Cut(made.FinalLink, "#t=")
	return made.RoomID, link, nil
}

// seat is what the page gets for joining.
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

// takeSeat asks for a seat; an error is no answer.
func (n *node) takeSeat(roomID, seatKey, link string) (seat, error) {
	body, _ := json.Marshal(map[string]string{"name": "Guest", "seat_key": seatKey, "link": link})
	answer, err := http.Post(n.url+"/api/join/rooms/"+roomID+"/seats", "application/json", bytes.NewReader(body))
	if err != nil {
		return seat{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	s := seat{Status: answer.StatusCode}
	return s, json.NewDecoder(answer.Body).Decode(&s)
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

// openDatabase opens the service's database beside its nodes.
func (s *service) openDatabase(t testing.TB, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), s.database, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	eventuallyWithin(t, 20*time.Second, what, ok)
}

func eventuallyWithin(t testing.TB, patience time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func freePort(t testing.TB, network string) int {
	t.Helper()
	if network == "udp" {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		return c.LocalAddr().(*net.UDPAddr).Port
	}
	l, err := net.Listen(network, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// buffer is what a process has logged.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
