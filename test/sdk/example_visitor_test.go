package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/internal/media/mediatest"
)

// visitor is what the room page shows to the holder of a link.
type visitor struct {
	roomID, token string
	Role          string
	Name          string
	Link          string // ok, or why the server does not accept it
}

// preview asks what the room page asks when somebody opens a link.
func (s service) preview(t *testing.T, link string) visitor {
	t.Helper()
	address, token, _ := strings.Cut(link, "#")
	id, isRoom := strings.CutPrefix(address, s.url+"/r/")
	if !isRoom || len(token) < 22 {
		t.Fatalf("got the link %s, want one of %s with a token", link, s.url)
	}
	v := visitor{roomID: id, token: token[2:]} // behind t= or j=
	var preview struct{ You *visitor }
	s.callRoom(t, v, "preview", map[string]any{"link": v.token}, &preview)
	v.Role, v.Name, v.Link = preview.You.Role, preview.You.Name, preview.You.Link
	return v
}

// callRoom makes a call of the room page.
func (s service) callRoom(t *testing.T, v visitor, path string, fields map[string]any, into any) {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	address := s.url + "/api/join/rooms/" + v.roomID + "/" + path
	response, err := http.Post(address, "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got status %d with %s, error %v, want 200", address, response.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// join enters a room with a link, as a browser does.
func (e *example) join(t *testing.T, link, name string) *mediatest.Participant {
	t.Helper()
	v := e.service.preview(t, link)
	var seat struct {
		Token string `json:"media_token"`
	}
	key := fmt.Sprintf("seat-key-of-the-browser-%d", time.Now().UnixNano())
	e.service.callRoom(t, v, "seats", map[string]any{"name": name, "seat_key": key, "link": v.token}, &seat)
	p, err := mediatest.Join(t.Context(), e.service.url, seat.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Abort)
	return p
}
