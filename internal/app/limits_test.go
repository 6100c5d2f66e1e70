package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/config"
)

// requestSeat requests a seat as the page does.
func (s *server) requestSeat(roomID, key, link string) (status int, code, retryAfter string) {
	s.t.Helper()
	body, _ := json.Marshal(map[string]string{"name": "Guest", "seat_key": key, "link": link})
	res, err := http.Post(s.app.BaseURL()+"/api/join/rooms/"+roomID+"/seats", "application/json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out struct{ Error struct{ Code string } }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, out.Error.Code, res.Header.Get("Retry-After")
}

// TestLongPath checks that a path that is too long gets the same response as any unknown path of
// its version.
func TestLongPath(t *testing.T) {
	s := startServer(t, nil)
	long := strings.Repeat("a", 2048)
	for path, want := range map[string]struct {
		status           int
		header, contains string
	}{
		"/api/v3/" + long: {404, "X-Request-ID", `{"error":"there is no such path in this version of the API"}`},
		"/api/v4/rooms/" + long + "/events": {404, "X-Request-ID",
			`{"error":"there is no such path in this version of the API"}`},
		"/api/v5/" + long: {404, "X-Gateway-Request-ID", `"code":"SVC_RESOURCE_NOT_FOUND"`},
		"/" + long:        {414, "", "the path has more than 2048 bytes"},
	} {
		answer, err := http.Get(s.app.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != want.status || !strings.Contains(string(body), want.contains) ||
			want.header != "" && answer.Header.Get(want.header) == "" {
			t.Errorf("GET %.20s…: got %d %v %s, %v, want %d with %s and %s", path, answer.StatusCode, answer.Header, body, err,
				want.status, want.header, want.contains)
		}
	}
}

// TestNewSeatsPerMinute_OneAddress floods a room from one address: the address
// gets the burst at once and then one seat a second, its refusals are counted
// and logged, and the host can still join.
func TestNewSeatsPerMinute_OneAddress(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" })
	id, link := s.createRoom(1000, 300)
	_, token, _ := strings.Cut(link, "#t=")
	began, got, refused := time.Now(), 0, 0
	for n := range 300 {
		switch status, code, retryAfter := s.requestSeat(id, fmt.Sprintf("seat-key-of-browser-%06d", n), ""); {
		case status == http.StatusOK:
			got++
		case status == http.StatusTooManyRequests && code == "too_many_joins" && retryAfter == "1":
			refused++
		default:
			t.Fatalf("seat %d: got %d %s, Retry-After %q, want 200, or 429 too_many_joins after 1 s",
				n, status, code, retryAfter)
		}
	}
	if most := 26 + int(time.Since(began).Seconds()); got < 25 || got > most {
		t.Errorf("got %d seats in %s, want 25 to %d", got, time.Since(began), most)
	}
	if status, code, _ := s.requestSeat(id, hostKey, token); status != http.StatusOK {
		t.Errorf("a seat of the host: got %d %s, want 200", status, code)
	}
	res, err := http.Get("http://" + s.app.MetricsListener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	metrics, err := io.ReadAll(res.Body)
	if want := "parley_refusals_total{kind=\"new_seats\"} "; err != nil || !strings.Contains(string(metrics), want) ||
		strings.Contains(string(metrics), want+"0\n") {
		t.Errorf("got no %sin the metrics, %v, want %d refusals", want, err, refused)
	}
	if n := strings.Count(s.log.String(), "kind=new_seats"); n < 1 || n > 20 {
		t.Errorf("got %d log lines for %d refusals, want 1 to 20", n, refused)
	}
}

func TestNewSeatsPerMinute_ZeroIsNoLimit(t *testing.T) {
	s := startServer(t, func(c *config.Config) { c.NewSeatsPerMinute = 0 })
	id, _ := s.createRoom(100, 300)
	for n := range 60 {
		if status, code, _ := s.requestSeat(id, fmt.Sprintf("seat-key-of-browser-%06d", n),
			""); status != http.StatusOK {
			t.Fatalf("seat %d: got %d %s, want 200", n+1, status, code)
		}
	}
}
