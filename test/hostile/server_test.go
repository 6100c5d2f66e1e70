// Package hostile tests attacks of guests with a raw client on the whole service. The
// service runs as a separate process, so that a panic ends that process and not the tests.
package hostile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) {
	// For participants with TURN over TLS.
	if err := os.Setenv("SSL_CERT_FILE", certificateDir+"/cert.pem"); err != nil {
		panic(err)
	}
	parleytest.Main(m)
}

// certificateDir has a certificate of localhost, and its key.
const certificateDir = "../browser/certificate"

// server is a running service.
type server struct {
	*parleytest.Server
	t   testing.TB
	dir string
	quickstart.File
}

// startServer runs the service until the test ends.
func startServer(t testing.TB, environment ...string) *server {
	t.Helper()
	dir := t.TempDir()
	return startServerWith(t, dir, environment)
}

// startServerWith is startServer with a data directory and flags.
func startServerWith(t testing.TB, dir string, environment []string, flags ...string) *server {
	t.Helper()
	p := &server{t: t, dir: dir, Server: parleytest.Start(t, parleytest.Options{DataDir: dir,
		Environment: append([]string{"GOGC=100"}, environment...),
		Args:        append([]string{"--no-supervise", "--no-rate-limits-enabled"}, flags...)})}
	// The second node of a cluster has no quickstart file.
	var err error
	if p.File, err = quickstart.Read(dir); err != nil && len(environment) == 0 {
		t.Fatal(err)
	}
	return p
}

// panicText returns the panic that the service logged, or an empty string.
func (p *server) panicText() string {
	text := p.Log.Tail(megabyte)
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
	testkit.Eventually(t, "the service is healthy", func() bool {
		if text := p.panicText(); text != "" {
			t.Fatalf("service: got a crash, want it to run: %s", text)
		}
		select {
		case <-p.Done():
			t.Fatalf("service: got its process ended, want it to run:\n%s", p.Log.Tail(megabyte))
		default:
		}
		res, err := http.Get(p.URL + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// assertStaysAlive fails the test if the service crashes within a quarter of a second, which
// is enough time for a goroutine to panic.
func (p *server) assertStaysAlive(t testing.TB) {
	t.Helper()
	for range 5 {
		p.assertAlive(t)
		time.Sleep(50 * time.Millisecond) // proves that nothing happens in this time
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
	c, err := client.New(p.URL, client.Credentials{ProjectID: p.ProjectID, APIKey: p.APIKey,
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

// post calls the join API; out may be nil. A busy disk refuses a write now and then, so post tries three times.
func (m *meeting) post(path string, in map[string]any, out any) error {
	for attempt := 1; ; attempt++ {
		err := m.postOnce(path, in, out)
		var refused *statusError
		if !errors.As(err, &refused) || refused.status != http.StatusServiceUnavailable || attempt == 3 {
			return err
		}
	}
}

func (m *meeting) postOnce(path string, in map[string]any, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	res, err := http.Post(m.URL+"/api/join/rooms/"+m.id+path, "application/json", bytes.NewReader(body))
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

// reserveSeat takes a new seat, as a host if there is a link.
func (m *meeting) reserveSeat(name, link string) (seat, error) {
	s := seat{Key: strings.ReplaceAll(seal.NewKey().Reveal(), "=", "")}
	in := map[string]any{"name": name, "seat_key": s.Key}
	if link != "" {
		in["link"] = link
	}
	return s, m.post("/seats", in, &s)
}

func (m *meeting) newGuestSeat(name string) seat {
	m.t.Helper()
	s, err := m.reserveSeat(name, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// joinAsHost takes a seat with the host's link, and joins.
func (m *meeting) joinAsHost() (seat, *mediatest.Participant) {
	m.t.Helper()
	s, err := m.reserveSeat("Host", m.link)
	if err != nil {
		m.t.Fatal(err)
	}
	p, err := mediatest.Join(m.t.Context(), m.URL, s.Token)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(p.Abort)
	return s, p
}

// joinOver joins a guest over each network, and checks that each of them hears the others.
func (m *meeting) joinOver(networks ...mediatest.Network) (all []*mediatest.Participant) {
	m.t.Helper()
	for _, network := range networks {
		joined, err := network.Join(m.t.Context(), m.URL, m.newGuestSeat("Guest").Token)
		if err != nil {
			m.t.Fatalf("join with the network %+v: got %v, want no error", network, err)
		}
		m.t.Cleanup(joined.Abort)
		if err := joined.Publish(m.t.Context(), "mic", mediatest.Microphone); err != nil {
			m.t.Fatal(err)
		}
		all = append(all, joined)
	}
	for _, hears := range all {
		for _, speaks := range all {
			if speaks == hears {
				continue
			}
			if err := hears.AwaitPacketsFrom(m.t.Context(), speaks.Identity(), mediatest.Microphone); err != nil {
				m.t.Error(err)
			}
		}
	}
	return all
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
	r, err := mediatest.Dial(m.t.Context(), m.URL, s.Token, options)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(r.Abort)
	return r
}

// metrics returns the lines of /metrics that are not comments.
func (p *server) metrics() (all []string) {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodGet, p.URL+"/metrics", nil)
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
	p.t.Fatalf("metrics: got no %s, want one", name)
	return 0
}

// heap returns the reachable bytes of the Go heap. It waits until the garbage collector has
// run twice; its own requests make that happen sooner.
func (p *server) heap() float64 {
	p.t.Helper()
	const collections = "go_gc_duration_seconds_count"
	for before := p.metric(collections); p.metric(collections) < before+2; {
		time.Sleep(time.Millisecond) // paces the requests
	}
	// With GOGC=100 the next collection starts when the heap has doubled.
	return p.metric("go_memstats_next_gc_bytes") / 2
}

// memory returns the resident memory of the service in bytes.
func (p *server) memory() float64 { return p.metric("process_resident_memory_bytes") }

const megabyte = 1 << 20
