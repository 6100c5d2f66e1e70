package metrics

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/app"
	"parley/internal/config"
	"parley/internal/media/mediatest"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// server is the whole service in this process.
type server struct {
	t   *testing.T
	url string
	quickstart.File
	network mediatest.Network // of participants
}

// scrapeServer runs a server, scrapes its metrics before and after some traffic, and returns
// the series. Their times are as far apart as those of a usual Prometheus.
func scrapeServer(t *testing.T) *scrapes {
	t.Helper()
	s := startServer(t)
	room := s.startMeeting()
	s.exhaustConnectionChecks(room.id) // here and below, because a series of one sample has no rate
	s.awaitMetrics(`status="5xx"} 1`)
	seriesOf := newScrapes(t, time.Now().Add(-scrapeInterval))
	seriesOf.add(t, seriesOf.times[0], s.metrics())
	s.makeTraffic(room)
	seriesOf.add(t, seriesOf.times[1], s.metrics())
	return seriesOf
}

// startServer runs a service whose settings enable every metric, with a certificate that all clients
// of this process accept. It trusts this machine as a proxy, so that a test can send requests from
// several networks.
func startServer(t *testing.T) *server {
	t.Helper()
	cfg := config.Default()
	port, err := testkit.PickTCPPort()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listen, cfg.DataDir, cfg.RTCUDPPort = fmt.Sprintf("127.0.0.1:%d", port), t.TempDir(), testkit.FreeUDPPort(t)
	certificate := testkit.NewCertificate(t, 1)
	cfg.PublicURL = "https://" + cfg.Listen
	cfg.TLSCertFile, cfg.TLSKeyFile = certificate.Write(t, cfg.DataDir)
	trust := &tls.Config{RootCAs: certificate.Pool}
	http.DefaultTransport.(*http.Transport).TLSClientConfig = trust.Clone()
	cfg.BackupDir, cfg.BackupEvery = t.TempDir(), config.Duration(24*time.Hour)
	cfg.TrustedProxies, cfg.WebhookAllowPrivate = []string{"127.0.0.1"}, true
	var log testkit.Buffer
	a, err := app.New(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- a.Run(ctx, false, io.Discard) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Errorf("stop the server: got error %v, want none", err)
		}
		if t.Failed() {
			t.Logf("log of the server:\n%s", log.Tail(5000))
		}
	})
	s := &server{t: t, url: a.BaseURL(), network: mediatest.Network{TLS: trust}}
	testkit.Eventually(t, "the server is healthy", func() bool {
		res, err := http.Get(s.url + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	if s.File, err = quickstart.Read(cfg.DataDir); err != nil {
		t.Fatal(err)
	}
	return s
}

// meeting is a room with its links.
type meeting struct {
	id, hostLink string
	client       *client.Client
	delivered    chan struct{} // receives a value for each webhook
}

// startMeeting opens a room with a webhook receiver.
func (s *server) startMeeting() meeting {
	s.t.Helper()
	m := meeting{delivered: make(chan struct{}, 100)}
	receive := func(http.ResponseWriter, *http.Request) { m.delivered <- struct{}{} }
	receiver := httptest.NewServer(http.HandlerFunc(receive))
	s.t.Cleanup(receiver.Close)
	var err error
	m.client, err = client.New(s.url, client.Credentials{ProjectID: s.ProjectID, ProjectSecret: s.ProjectSecret,
		APIKey: s.APIKey, GatewaySecret: s.GatewaySecret}, client.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	later := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04")
	scheduled, err := m.client.CreateScheduledVideoRoom(s.t.Context(), client.ScheduledRoomRequest{StartAt: later,
		MaxParticipants: 3, WebhookURL: receiver.URL,
		Metadata: client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Standup"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	opened, err := m.client.StartScheduledRoom(s.t.Context(), client.StartRoomRequest{RoomID: scheduled.RoomID,
		Name: "Amina"})
	if err != nil {
		s.t.Fatal(err)
	}
	m.id, m.hostLink = scheduled.RoomID, opened.FinalLink
	return m
}

// makeTraffic causes what the metrics count: two joins and a leave, a failed join, a rejected
// seat, calls of version 5, webhooks, and a response with the status 503.
func (s *server) makeTraffic(m meeting) {
	s.t.Helper()
	_, link, _ := strings.Cut(m.hostLink, "#t=")
	s.join(m.id, link, "h")
	bela := s.join(m.id, "", "g")
	bela.Leave()
	if status := s.post("/api/join/rooms/unknown/seats", seatRequest("", "x"), "", nil); status != http.StatusNotFound {
		s.t.Errorf("a seat in an unknown room: got status %d, want 404", status)
	}
	if _, err := s.network.Join(s.t.Context(), s.url, "no token"); err == nil {
		s.t.Error("join without a token: got no error, want one")
	}
	if _, err := m.client.Keys(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	s.exhaustConnectionChecks(m.id)
	<-m.delivered
	s.awaitMetrics("\nparley_live_rooms 1\n", `parley_live_participants{connection="udp"} 1`,
		`parley_seat_rejections_total{cause="room_not_found"} 1`, `parley_join_failures_total{cause="not_admitted"} 1`,
		`parley_http_request_duration_seconds_count{method="GET",route="/api/v5/keys",status="2xx"} 1`,
		`status="5xx"} 2`)
	testkit.Eventually(s.t, "a delivery and the rollup of the usage are recorded", func() bool {
		text := s.metrics()
		return !strings.Contains(text, `parley_webhook_attempts_total{outcome="delivered"} 0`) &&
			!strings.Contains(text, "parley_usage_rolled_up_timestamp_seconds 0\n")
	})
}

// awaitMetrics waits until the metrics contain each part, because a request is measured after
// its response.
func (s *server) awaitMetrics(parts ...string) {
	s.t.Helper()
	for _, part := range parts {
		testkit.Eventually(s.t, "the metrics contain "+part, func() bool { return strings.Contains(s.metrics(), part) })
	}
}

// exhaustConnectionChecks asks for connection checks from several networks until the server is
// full, which is a response with the status 503.
func (s *server) exhaustConnectionChecks(roomID string) {
	s.t.Helper()
	for n := range 100 {
		from := fmt.Sprintf("203.0.113.%d", n/8+1) // eight of one network at once
		if s.post("/api/join/rooms/"+roomID+"/check", struct{}{}, from, nil) == http.StatusServiceUnavailable {
			return
		}
	}
	s.t.Error("a hundred connection checks: got no status 503, want one")
}

// join takes a seat and connects with it.
func (s *server) join(roomID, link, key string) *mediatest.Participant {
	s.t.Helper()
	var seat struct {
		MediaToken string `json:"media_token"`
	}
	if status := s.post("/api/join/rooms/"+roomID+"/seats", seatRequest(link, key), "", &seat); status != http.StatusOK {
		s.t.Fatalf("take a seat: got status %d, want 200", status)
	}
	p, err := s.network.Join(s.t.Context(), s.url, seat.MediaToken)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.Leave)
	return p
}

func seatRequest(link, key string) map[string]string {
	request := map[string]string{"name": "Person " + key, "seat_key": strings.Repeat(key, 43)}
	if link != "" {
		request["link"] = link
	}
	return request
}

// post sends a request from an address, or from this machine if it is empty, and decodes the
// response into out unless that is nil.
func (s *server) post(path string, body any, from string, out any) int {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, s.url+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if from != "" {
		r.Header.Set("X-Forwarded-For", from)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if out != nil {
		if err := json.NewDecoder(res.Body).Decode(out); err != nil {
			s.t.Fatal(err)
		}
	}
	return res.StatusCode
}

// metrics returns the text of a scrape.
func (s *server) metrics() string {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("scrape: got status %d, %v, want 200", res.StatusCode, err)
	}
	return string(text)
}
