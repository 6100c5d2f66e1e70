package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/cluster/clustertest"
	"parley/internal/config"
	"parley/internal/media/mediatest"
	"parley/internal/operator"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

func TestApp_StopFinishesRequests(t *testing.T) {
	s := startServer(t, nil)
	body := fmt.Sprintf(
		`{"project_id":%q,"name":"Amina","max_participants":2,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}}`, s.ProjectID)
	counted := func() string {
		return regexp.MustCompile(`parley_http_requests_total\{part="v3"\} .*`).FindString(s.metrics())
	}
	before := counted()
	address := s.app.Listener.Addr().String()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	half := len(body) / 2
	_, err = fmt.Fprintf(conn,
		"POST /api/v3/rooms/create_quick_audio_room HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nhash-signature: %s\r\nContent-Length: %d\r\n\r\n%s",
		sign.Legacy(s.APIKey, []byte(body)), len(body), body[:half])
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the request is being read", func() bool { return counted() != before })

	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	testkit.Eventually(t, "new connections are refused", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	if _, err := io.WriteString(conn, body[half:]); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the request during the stop: got status %d, want 200", answer.StatusCode)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop the server: got error %v, want none", err)
	}
}

func (s *server) metrics() string {
	r, err := http.NewRequest(http.MethodGet, s.app.BaseURL()+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.AdminToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	raw, _ := io.ReadAll(answer.Body)
	return string(raw)
}

// Without a supervisor, systemd learns from the server itself that it stops, and how long that may take.
func TestApp_StopNotifiesSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	s := startServer(t, nil)
	if err := errors.Join(s.stop(), conn.SetReadDeadline(time.Now().Add(testkit.Timeout))); err != nil {
		t.Fatal(err)
	}
	stopping := fmt.Sprintf("STOPPING=1\nEXTEND_TIMEOUT_USEC=%d", (StopTimeout(s.cfg) + 5*time.Second).Microseconds())
	for _, want := range []string{"READY=1", stopping} {
		text := make([]byte, 100)
		n, err := conn.Read(text)
		if got := string(text[:n]); err != nil || got != want {
			t.Fatalf("got the message %q, %v, want %q", got, err, want)
		}
	}
}

func TestMetrics_NeedToken(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" })
	if got := s.metrics(); !strings.Contains(got, "parley_http_requests_total") {
		t.Errorf("got the metrics %.300s, want those of Parley", got)
	}
	answer, err := http.Get(s.app.BaseURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != 401 || answer.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a token: got %d %v, want 401 with WWW-Authenticate", answer.StatusCode, answer.Header)
	}
	answer, err = http.Get("http://" + s.app.MetricsListener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Errorf("on the metrics address: got status %d, want 200", answer.StatusCode)
	}
}

// The metrics are those of the whole installation, so they are not for a customer.
func TestMetrics_ByRole(t *testing.T) {
	s := startServer(t, nil)
	for _, role := range []struct {
		draft  operator.NewToken
		status int
		text   string
	}{
		{operator.NewToken{Role: operator.Auditor}, http.StatusOK, "\nparley_build_info{"},
		{operator.NewToken{Role: operator.Integrator, ProjectIDs: []string{s.ProjectID}}, http.StatusForbidden,
			"with the role auditor, which an owner creates with parley token create --role auditor"},
	} {
		role.draft.Name = string(role.draft.Role)
		_, token, err := s.app.tokens.Create(t.Context(), role.draft)
		if err != nil {
			t.Fatal(err)
		}
		answer, body := s.rawRequest(http.MethodGet, "/metrics", "Authorization: Bearer "+token.Reveal())
		if answer.StatusCode != role.status || !strings.Contains(body, role.text) {
			t.Errorf("/metrics with the role %s: got status %d and %.300q, want %d with %q", role.draft.Role,
				answer.StatusCode, body, role.status, role.text)
		}
		if role.status != http.StatusOK && strings.Contains(body, "parley_") {
			t.Errorf("/metrics with the role %s: got metrics, want none: %.300q", role.draft.Role, body)
		}
	}
}

func TestHealth_ReportsFailures(t *testing.T) {
	s := startServer(t, nil)
	get := func() (int, map[string]string) {
		r, _ := http.NewRequest(http.MethodGet, s.app.BaseURL()+"/healthz", nil)
		var report map[string]string
		return s.do(r, &report), report
	}
	if status, report := get(); status != 200 || report["status"] != "ok" {
		t.Errorf("before the failures: got %d %v, want 200 and status ok", status, report)
	}
	_ = s.app.db.Close()
	status, report := get()
	if status != 503 || report["database"] != "unavailable" || report["media"] != "ok" {
		t.Errorf("without the database: got %d %v, want 503, database unavailable and media ok", status, report)
	}
	s.app.engine.Stop(t.Context())
	if status, report := get(); status != 503 || report["media"] != "unavailable" {
		t.Errorf("without the media engine: got %d %v, want 503 and media unavailable", status, report)
	}
}

func TestNew_InvalidSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*config.Config)
		want   string
	}{
		"redis alone": {func(c *config.Config) { c.RedisURL = "redis://127.0.0.1" },
			"--redis-url (PARLEY_REDIS_URL) needs a database that all nodes share: add --database-url postgres://…"},
		"redis": {func(c *config.Config) {
			c.RedisURL, c.DatabaseURL = "redis://:hidden@%zz", "postgres://127.0.0.1:1/x"
		}, "--redis-url (PARLEY_REDIS_URL): must be a URL such as redis://user:password@host:6379/0"},
		"UDP port": {func(c *config.Config) { c.RTCUDPPort = 0 },
			"--rtc-udp-port (PARLEY_RTC_UDP_PORT) must be between 1 and 65535, not 0"},
		"database": {func(c *config.Config) { c.DatabaseURL = "postgres://u:hidden@127.0.0.1:1/x" }, "PostgreSQL"},
		"data dir": {func(c *config.Config) { c.DataDir = "/proc/nowhere" }, "--data-dir"},
	} {
		cfg := config.Default()
		cfg.Listen, cfg.DataDir, cfg.RTCUDPPort = "127.0.0.1:0", t.TempDir(), testkit.FreeUDPPort(t)
		tc.change(&cfg)
		_, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got error %v, want %q without the password", name, err, tc.want)
		}
	}
}

func TestNew_WrongMasterKey(t *testing.T) {
	cfg := config.Default()
	cfg.DataDir, cfg.MasterKey = t.TempDir(), seal.Secret(seal.NewKey().Reveal())
	createDatabase(t, cfg)
	cfg.MasterKey = seal.Secret(seal.NewKey().Reveal())
	want := "PARLEY_MASTER_KEY: the master key does not fit this database"
	if err := runUntilError(t, cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func TestRoutes_OutsideAPIs(t *testing.T) {
	s := startServer(t, nil)
	for path, want := range map[string]int{"/api/v9/x": 404, "/api/": 404, "/r/x": 200, "/": 200,
		"/assets/none.js": 404, "/rtc": 401, "/rtc/v1": 401, "/twirp/livekit.RoomService/ListRooms": 404, "/debug/pprof/": 404} {
		answer, err := http.Get(s.app.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("GET %s: got status %d, want %d", path, answer.StatusCode, want)
		}
	}
	// A path that misses the API by a slash or by its letters is refused in JSON, and not by the page.
	const misspelled = `{"error":"the paths of the API begin with /api/v3/, /api/v4/ or /api/v5/, ` +
		`in small letters and with one slash at the start"}` + "\n"
	for _, path := range []string{"//api/v4/rooms/join_room", "///api/v5/keys", "/API/v3/rooms/room_status", "/api",
		"//api"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			request, err := http.NewRequestWithContext(t.Context(), method, s.app.BaseURL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != 404 || string(body) != misspelled || err != nil {
				t.Errorf("%s %s: got %d %s %v, want 404 %s", method, path, answer.StatusCode, body, err, misspelled)
			}
		}
	}
	// The root of a version responds as that version does.
	for path, header := range map[string]string{"/api/v3": "X-Request-ID", "/api/v4": "X-Request-ID",
		"/api/v5": "X-Gateway-Request-ID", "/api/v5/": "X-Gateway-Request-ID"} {
		answer, err := http.Get(s.app.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != 404 || answer.Header.Get(header) == "" {
			t.Errorf("GET %s: got %d %v, want 404 with %s", path, answer.StatusCode, answer.Header, header)
		}
	}
}

// A server that has no other node stops without waiting for one, whatever --stop-within says, and the pages
// learn that they should reconnect.
func TestApp_StopAlone(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, c *config.Config){
		"without Redis": func(*testing.T, *config.Config) {},
		"with Redis": func(t *testing.T, c *config.Config) {
			testkit.Slow(t)
			c.DatabaseURL = seal.Secret(storetest.Postgres(t))
			c.RedisURL = seal.Secret(clustertest.NewRedis(t).URL())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, func(c *config.Config) {
				c.StopWithin = config.Duration(time.Hour)
				change(t, c)
			})
			id, _ := s.createRoom(2, 60)
			a, err := s.app.rooms.ReserveSeat(t.Context(), id, room.JoinRequest{SeatKey: "seat-key-of-a-browser-01", Name: "A"})
			if err != nil {
				t.Fatal(err)
			}
			p, err := mediatest.Join(t.Context(), s.BaseURL, a.Token)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Abort)
			began, done := time.Now(), make(chan error, 1)
			go func() { done <- s.stop() }()
			testkit.Eventually(t, "the server stops", func() bool { return len(done) == 1 })
			t.Logf("stopped in %s", time.Since(began).Round(time.Millisecond))
			if end, err := p.AwaitEnd(t.Context()); err != nil || !end.Reconnect {
				t.Errorf("got the end %+v, %v, want a reconnection", end, err)
			}
		})
	}
}
