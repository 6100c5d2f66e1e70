// Package hostile tests attacks of guests with a raw client on the whole service. The
// service runs as a separate process, so that a panic ends that process and not the tests.
package hostile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/client"
	"parley/internal/cli"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/testkit"
)

// commandEnv makes this test program run as the parley command.
const commandEnv = "PARLEY_HOSTILE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(cli.Run())
	}
	os.Exit(m.Run())
}

// server is a running service.
type server struct {
	t   testing.TB
	dir string
	url string
	log *testkit.Buffer
	cmd *exec.Cmd
	quickstart.File

	ended chan struct{} // closed when the process has ended
}

// startServer runs the service until the test ends.
func startServer(t testing.TB, environment ...string) *server {
	t.Helper()
	p := &server{t: t, dir: t.TempDir(), log: &testkit.Buffer{}, ended: make(chan struct{})}
	p.cmd = exec.Command(os.Args[0], "serve", "--no-supervise", "--listen", "127.0.0.1:0", "--data-dir", p.dir,
		"--rtc-udp-port", strconv.Itoa(testkit.FreeUDPPort(t)), "--no-rate-limits-enabled")
	p.cmd.Env = append(append(os.Environ(), commandEnv+"=1", "GOGC=100"), environment...)
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := make(chan string, 1)
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if address, found := strings.CutPrefix(lines.Text(), "Parley runs at "); found {
				url <- address
			}
		}
		close(url)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	})
	if p.url = <-url; p.url == "" {
		t.Fatalf("the service did not start:\n%s", p.log.Tail(megabyte))
	}
	// The second node of a cluster has no quickstart file.
	if p.File, err = quickstart.Read(p.dir); err != nil && len(environment) == 0 {
		t.Fatal(err)
	}
	return p
}

// panicText returns the panic that the service logged, or an empty string.
func (p *server) panicText() string {
	text := p.log.Tail(megabyte)
	for _, sign := range []string{"\npanic: ", "\nfatal error: "} {
		if _, after, found := strings.Cut("\n"+text, sign); found {
			return sign[1:] + after[:min(len(after), 4000)]
		}
	}
	return ""
}

// assertAlive fails the test if the service has panicked or ended, or is not healthy.
func (p *server) assertAlive(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if text := p.panicText(); text != "" {
			t.Fatalf("the service crashed: %s", text)
		}
		select {
		case <-p.ended:
			t.Fatalf("the service ended:\n%s", p.log.Tail(megabyte))
		default:
		}
		res, err := http.Get(p.url + "/healthz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the service is not healthy: %v\n%s", err, p.log.Tail(megabyte))
		}
	}
}

// assertStaysAlive fails the test if the service crashes within a quarter of a second, which
// is enough time for a goroutine to panic.
func (p *server) assertStaysAlive(t testing.TB) {
	t.Helper()
	for range 5 {
		p.assertAlive(t)
		time.Sleep(50 * time.Millisecond)
	}
}

// meeting is a room of the service.
type meeting struct {
	*server
	id       string
	link     string
	roomType room.Type
}

func (p *server) createRoom(kind room.Type, seats int) *meeting {
	p.t.Helper()
	c, err := client.New(p.url, client.Credentials{ProjectID: p.ProjectID, APIKey: p.APIKey,
		GatewaySecret: p.GatewaySecret, ProjectSecret: p.ProjectSecret}, client.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	create := c.CreateQuickAudioRoom
	if kind == room.Video {
		create = c.CreateQuickVideoRoom
	}
	created, err := create(context.Background(), client.QuickRoomRequest{Name: "Host", MaxParticipants: seats,
		EmptyTimeout: 600, Metadata: client.Metadata{RoomTitle: "Title", WelcomeMessage: "Welcome"}})
	if err != nil {
		p.t.Fatal(err)
	}
	_, link, _ := strings.Cut(created.FinalLink, "#t=")
	return &meeting{server: p, id: created.RoomID, link: link, roomType: kind}
}

// seat is the join API's response to a page that takes a seat.
type seat struct {
	Key      string `json:"-"`
	Identity string `json:"identity"`
	Session  string `json:"session_id"`
	Token    string `json:"media_token"`
	Role     string `json:"role"`
}

// statusError is a response of the join API other than success.
type statusError struct {
	path   string
	status int
	body   string
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: %d %s", e.path, e.status, e.body) }

// post calls the join API; out may be nil.
func (m *meeting) post(path string, in map[string]any, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	res, err := http.Post(m.url+"/api/join/rooms/"+m.id+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(res.Body); err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return &statusError{path, res.StatusCode, raw.String()}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw.Bytes(), out)
}

// takeSeat takes a new seat, as a host if there is a link.
func (m *meeting) takeSeat(name, link string) (seat, error) {
	s := seat{Key: strings.ReplaceAll(seal.NewKey().Reveal(), "=", "")}
	in := map[string]any{"name": name, "seat_key": s.Key}
	if link != "" {
		in["link"] = link
	}
	return s, m.post("/seats", in, &s)
}

func (m *meeting) newGuestSeat(name string) seat {
	m.t.Helper()
	s, err := m.takeSeat(name, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// joinAsHost takes a seat with the host's link, and joins.
func (m *meeting) joinAsHost() (seat, *mediatest.Participant) {
	m.t.Helper()
	s, err := m.takeSeat("Host", m.link)
	if err != nil {
		m.t.Fatal(err)
	}
	p, err := mediatest.Join(m.t.Context(), m.url, s.Token)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(p.Abort)
	return s, p
}

// hostAction calls the join API as the host.
func (m *meeting) hostAction(host seat, path string, in map[string]any) {
	m.t.Helper()
	if in == nil {
		in = map[string]any{}
	}
	in["seat_key"] = host.Key
	if err := m.post(path, in, nil); err != nil {
		m.t.Fatal(err)
	}
}

// dial connects a raw client with a seat.
func (m *meeting) dial(s seat, options mediatest.RawOptions) *mediatest.Raw {
	m.t.Helper()
	r, err := mediatest.Dial(m.t.Context(), m.url, s.Token, options)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(r.Abort)
	return r
}

// metrics returns the lines of /metrics that are not comments.
func (p *server) metrics() (all []string) {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodGet, p.url+"/metrics", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.AdminToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// metric returns the value of one metric without labels.
func (p *server) metric(name string) float64 {
	p.t.Helper()
	for _, line := range p.metrics() {
		if text, found := strings.CutPrefix(line, name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return value
		}
	}
	p.t.Fatalf("there is no metric %s", name)
	return 0
}

// heap returns the reachable bytes of the Go heap. It waits until the garbage collector has
// run twice; its own requests make that happen sooner.
func (p *server) heap() float64 {
	p.t.Helper()
	const collections = "go_gc_duration_seconds_count"
	for before := p.metric(collections); p.metric(collections) < before+2; {
		time.Sleep(time.Millisecond)
	}
	// With GOGC=100 the next collection starts when the heap has doubled.
	return p.metric("go_memstats_next_gc_bytes") / 2
}

// memory returns the resident memory of the service in bytes.
func (p *server) memory() float64 { return p.metric("process_resident_memory_bytes") }

const megabyte = 1 << 20
