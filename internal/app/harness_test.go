package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"parley.example/client/sign"
	"parley/internal/config"
	"parley/internal/quickstart"
	"parley/internal/testkit"
)

// server is the whole service in this process, on free ports of 127.0.0.1. A
// process can run only one media engine, so tests that start a server do not run
// in parallel.
type server struct {
	t    testing.TB
	app  *App
	cfg  config.Config
	log  *testkit.Buffer
	out  *testkit.Buffer
	stop func() error // stops it in good order, once
	http *http.Client // accepts any certificate
	quickstart.File
}

// startServer runs the service and returns when it is healthy. change may alter its settings.
func startServer(t testing.TB, change func(*config.Config)) *server {
	t.Helper()
	s := runServer(t, change)
	s.awaitHealth()
	var err error
	if s.File, err = quickstart.Read(s.cfg.DataDir); err != nil {
		t.Fatal(err)
	}
	return s
}

// runServer is startServer for a service that cannot become healthy.
func runServer(t testing.TB, change func(*config.Config)) *server {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.DataDir, cfg.RTCUDPPort = "127.0.0.1:0", t.TempDir(), testkit.FreeUDPPort(t)
	if change != nil {
		change(&cfg)
	}
	s := &server{t: t, cfg: cfg, log: &testkit.Buffer{}, out: &testkit.Buffer{}}
	s.http = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var err error
	s.app, err = New(t.Context(), cfg,
		slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatalf("start the server: got error %v, want none", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.app.Run(ctx, false, s.out) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stop the server: got error %v, want none", err)
		}
	})
	return s
}

// awaitHealth waits until the service is healthy at the address of --listen.
func (s *server) awaitHealth() {
	s.t.Helper()
	scheme := "http"
	if s.cfg.ServesTLS() {
		scheme = "https"
	}
	testkit.Eventually(s.t, "the server is healthy", func() bool {
		answer, err := s.http.Get(scheme + "://" + s.app.Listener.Addr().String() + "/healthz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// createRoom creates a quick audio room as an integrator does.
func (s *server) createRoom(maxParticipants, emptyTimeout int) (id, link string) {
	s.t.Helper()
	body := fmt.Appendf(nil,
		`{"project_id":%q,"name":"Amina","max_participants":%d,"empty_timeout":%d,"metadata":{"room_title":"Standup","welcome_message":""}}`,
		s.ProjectID, maxParticipants, emptyTimeout)
	var out struct {
		RoomID    string `json:"room_id"`
		FinalLink string `json:"final_link"`
	}
	status, once := 0, rand.Text() // because a room may have been created although the response was a 503
	testkit.Eventually(s.t, "a busy disk accepts the write", func() bool {
		r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/v3/rooms/create_quick_audio_room",
			bytes.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("hash-signature", sign.Legacy(s.APIKey, body))
		r.Header.Set("Idempotency-Key", once)
		status = s.do(r, &out)
		return status != http.StatusServiceUnavailable
	})
	if status != http.StatusOK {
		s.t.Fatalf("create a room: got status %d, want 200", status)
	}
	return out.RoomID, out.FinalLink
}

// do sends a request and decodes the JSON of the response into out unless that
// is nil.
func (s *server) do(r *http.Request, out any) int {
	s.t.Helper()
	answer, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			s.t.Fatalf("decode the response of %s: got error %v, want none: %s", r.URL.Path, err, raw)
		}
	}
	return answer.StatusCode
}
