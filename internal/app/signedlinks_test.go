package app

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley.example/client"
	"parley.example/client/sign"
)

// open opens a link as a browser does, and takes a seat. seatKey identifies the browser.
func (s *server) open(id, token, seatKey string) (preview, seat joinResponse, status int) {
	s.t.Helper()
	at := "/api/join/rooms/" + id
	s.postJSON(at+"/preview", map[string]any{"link": token, "seat_key": seatKey}, &preview)
	status = s.postJSON(at+"/seats", map[string]any{"link": token, "seat_key": seatKey, "name": "Zoë"}, &seat)
	return preview, seat, status
}

func browserKey(letter string) string { return strings.Repeat(letter, 22) }

// TestSignedLinks_AdmitWithTheirRole opens links that a backend has signed without a call.
func TestSignedLinks_AdmitWithTheirRole(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(50, 300)
	elsewhere, _ := s.createRoom(50, 300)
	now := time.Now()
	base := sign.JoinLink{
		RoomID:    id,
		Role:      sign.RoleGuest,
		Name:      "Zoë",
		ID:        "a1",
		IssuedAt:  now,
		ExpiresAt: now.Add(time.Hour),
	}
	for i, test := range []struct {
		name   string
		secret string
		change func(*sign.JoinLink)
		status string // of the link
		role   string
		logged string // the mistake in the log; empty for none
	}{
		{"a guest", s.ProjectSecret, func(*sign.JoinLink) {}, "ok", "guest", ""},
		{"a host", s.ProjectSecret, func(l *sign.JoinLink) { l.Role = sign.RoleHost }, "ok", "host", ""},
		{"a room in capital letters", s.ProjectSecret, func(l *sign.JoinLink) {
			l.RoomID = strings.ToUpper(id)
		}, "ok", "guest", ""},
		{"a name with a line break", s.ProjectSecret, func(l *sign.JoinLink) { l.Name = "Zoë\n" }, "ok", "guest", ""},
		{"a co-host", s.ProjectSecret, func(l *sign.JoinLink) { l.Role = sign.RoleCoHost }, "ok", "cohost", ""},
		{"a day", s.ProjectSecret, func(l *sign.JoinLink) { l.ExpiresAt = now.Add(24 * time.Hour) }, "ok", "guest", ""},
		{"a clock that is a little ahead", s.ProjectSecret, func(l *sign.JoinLink) {
			l.IssuedAt = now.Add(time.Minute)
		}, "ok", "guest", ""},
		{"another room", s.ProjectSecret, func(l *sign.JoinLink) {
			l.RoomID, l.Role = elsewhere, sign.RoleHost
		}, "unknown", "guest", "room_id is another room"},
		{"the API key", s.APIKey, func(l *sign.JoinLink) { l.Role = sign.RoleHost }, "unknown", "guest", ""},
		{"the Gateway secret", s.GatewaySecret, func(l *sign.JoinLink) { l.Role = sign.RoleHost }, "unknown", "guest", ""},
		{"expired", s.ProjectSecret, func(l *sign.JoinLink) {
			l.Role, l.IssuedAt, l.ExpiresAt = sign.RoleHost, now.Add(-time.Hour), now.Add(-time.Minute)
		}, "expired", "guest", ""},
		{"from the future", s.ProjectSecret, func(l *sign.JoinLink) {
			l.Role, l.IssuedAt, l.ExpiresAt = sign.RoleHost, now.Add(time.Hour), now.Add(2*time.Hour)
		}, "unknown", "guest", "iat must be at most 5m0s ahead"},
		{"an ID of a user with a line break", s.ProjectSecret, func(l *sign.JoinLink) {
			l.UserID, l.Role = "a\nb", sign.RoleHost
		}, "unknown", "guest", "user_id must not contain control characters"},
	} {
		link := base
		test.change(&link)
		token, err := sign.SignJoinLink(test.secret, link)
		if err != nil {
			t.Fatal(err)
		}
		before := len(s.log.String())
		preview, seat, status := s.open(id, token, browserKey(string(rune('a'+i))))
		log := s.log.String()[before:]
		if strings.Contains(log, "refused a signed join link") != (test.logged != "") || !strings.Contains(log, test.logged) {
			t.Errorf("%s: got the log %q, want %q", test.name, log, test.logged)
		}
		if preview.You.Link != test.status || preview.You.Role != test.role || status != http.StatusOK ||
			seat.Role != test.role {
			t.Errorf("%s: got the preview %+v and status %d with the seat %+v, want link %s and role %s", test.name, preview,
				status, seat, test.status, test.role)
		}
		if name := preview.You.Name; test.status == "ok" && name != "Zoë" {
			t.Errorf("%s: got the name %q, want Zoë", test.name, name)
		}
	}
}

// TestSignedLinks_SingleUse lets ten browsers use one single-use link at once.
func TestSignedLinks_SingleUse(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(50, 300)
	// A link for a co-host is single-use, because it would undo a removal otherwise.
	token := s.signLink(t, client.JoinLinkRequest{RoomID: id, Role: "cohost"})
	var admitted atomic.Int32
	var winner atomic.Value
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			key := browserKey(string(rune('a' + i)))
			_, seat, _ := s.open(id, token, key)
			if seat.Role == "cohost" {
				admitted.Add(1)
				winner.Store(key)
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 1 {
		t.Fatalf("got %d co-hosts with one single-use link, want 1", admitted.Load())
	}
	preview, _, _ := s.open(id, token, winner.Load().(string))
	if preview.You.Link != "ok" || preview.You.Role != "cohost" {
		t.Errorf("the browser that used it: got %+v, want that it can come back as co-host", preview)
	}
	if preview, _, _ := s.open(id, token, browserKey("z")); preview.You.Link != "taken" {
		t.Errorf("another browser: got %+v, want link taken", preview)
	}
	// Another link with the same content is another link.
	again := s.signLink(t, client.JoinLinkRequest{RoomID: id, Role: "cohost"})
	if preview, _, _ := s.open(id, again, browserKey("z")); preview.You.Link != "ok" {
		t.Errorf("another link: got %+v, want link ok", preview)
	}
}

// TestSignedLinks_PersonKeepsSeat opens links of one person in two browsers.
func TestSignedLinks_PersonKeepsSeat(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(2, 300)
	for _, key := range []string{"a", "b"} {
		token := s.signLink(t, client.JoinLinkRequest{RoomID: id, Name: "Zoë", UserID: "4711"})
		if _, seat, status := s.open(id, token, browserKey(key)); status != http.StatusOK {
			t.Errorf("browser %s: got status %d, %+v, want the seat of the person", key, status, seat)
		}
	}
	if _, seat, status := s.open(id, "", browserKey("c")); status != http.StatusOK {
		t.Errorf("another person: got status %d, %+v, want the second seat", status, seat)
	}
}

// signLink signs a link with the SDK and returns its token.
func (s *server) signLink(t *testing.T, request client.JoinLinkRequest) string {
	t.Helper()
	link, err := s.client().SignJoinLink(request)
	if err != nil {
		t.Fatal(err)
	}
	address, token, found := strings.Cut(link, "#j=")
	if want := s.app.BaseURL() + "/r/" + request.RoomID; !found || address != want {
		t.Fatalf("got the link %s, want %s#j=…", link, want)
	}
	return token
}
