package app

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"parley/internal/api/apitest"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

var (
	hostKey  = strings.Repeat("h", 43)
	guestKey = strings.Repeat("g", 43)
	thirdKey = strings.Repeat("t", 43)
	otherKey = strings.Repeat("o", 43)
)

type joinResponse struct {
	Role       string
	Name       string
	Identity   string
	SessionID  string `json:"session_id"`
	MediaToken string `json:"media_token"`
	You        struct {
		Role, Name, Link string
		Returning        bool
	}
	Participants int
	Error        struct {
		Code, Message, Reason string
		MaxParticipants       int `json:"max_participants"`
	}
}

func TestJoinAPI_Requests(t *testing.T) {
	s := startServer(t, nil)
	description, err := os.ReadFile("../api/join/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := apitest.New(t, description, s.app.handler)
	send := func(path string, in any) (int, joinResponse) {
		t.Helper()
		body, _ := json.Marshal(in)
		if text, ok := in.(string); ok {
			body = []byte(text)
		}
		res := c.Do(t, http.MethodPost, path, http.Header{"Content-Type": {"application/json"}}, body)
		var out joinResponse
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, out
	}
	type m = map[string]any
	id, link := s.createRoom(2, 300)
	_, token, _ := strings.Cut(link, "#t=")
	preview, seats := "/api/join/rooms/"+id+"/preview", "/api/join/rooms/"+id+"/seats"

	t.Run("the link is free until its first use", func(t *testing.T) {
		for range 2 { // a preview does not take a seat
			status, a := send(preview, m{"link": token, "seat_key": hostKey})
			if status != 200 || a.You.Role != "host" || a.You.Name != "Amina" || a.You.Link != "ok" || a.You.Returning {
				t.Fatalf("got %d %+v, want 200 and Amina as the new host", status, a)
			}
		}
	})
	t.Run("the first browser becomes host", func(t *testing.T) {
		status, a := send(seats, m{"name": "Amina", "seat_key": hostKey, "link": token, "role": "host"})
		if status != 200 || a.Role != "host" || a.SessionID != id+".1" || a.MediaToken == "" {
			t.Fatalf("got %d %+v, want 200, the role host, session %s.1 and a media token", status, a, id)
		}
	})
	t.Run("the host stays host after a reload", func(t *testing.T) {
		status, a := send(preview, m{"link": token, "seat_key": hostKey})
		if status != 200 || a.You.Role != "host" || a.You.Name != "Amina" || !a.You.Returning || a.Participants != 1 {
			t.Fatalf("preview: got %d %+v, want 200 and Amina as the returning host", status, a)
		}
		_, again := send(seats, m{"name": "Amina K", "seat_key": hostKey, "link": token})
		_, without := send(seats, m{"name": "Amina K", "seat_key": hostKey})
		if again.Role != "host" || without.Role != "host" ||
			again.Identity != without.Identity || again.Name != "Amina K" {
			t.Fatalf("got %+v with the link and %+v without, want the host Amina K with one identity", again, without)
		}
	})
	t.Run("another browser with the same link is a guest without a name", func(t *testing.T) {
		status, a := send(preview, m{"link": token, "seat_key": guestKey})
		if status != 200 || a.You.Role != "guest" || a.You.Name != "" || a.You.Link != "taken" {
			t.Fatalf("preview: got %d %+v, want 200, a guest without a name and a taken link", status, a)
		}
		if status, a := send(seats, m{"name": "Ben", "seat_key": guestKey, "link": token,
			"role": "host"}); status != 409 || a.Error.Code != "link_taken" {
			t.Fatalf("a seat as a host: got %d %+v, want 409 link_taken", status, a)
		}
		if status, a := send(seats, m{"name": "Ben", "seat_key": guestKey, "link": token,
			"role": "guest"}); status != 200 || a.Role != "guest" {
			t.Fatalf("a seat as a guest: got %d %+v, want 200 and the role guest", status, a)
		}
	})
	t.Run("a room with two seats refuses the third participant", func(t *testing.T) {
		status, a := send(seats, m{"name": "Chen", "seat_key": otherKey})
		if status != 409 || a.Error.Code != "room_full" ||
			a.Error.Message != "this room is full: all 2 seats are taken" || a.Error.MaxParticipants != 2 {
			t.Fatalf("got %d %+v, want 409 room_full, its message and 2 seats", status, a)
		}
	})
	t.Run("bad input", func(t *testing.T) {
		for _, tc := range []struct {
			path    string
			in      any
			status  int
			message string
		}{
			{seats, m{"seat_key": otherKey}, 400, "name is required"},
			{seats, m{"name": "Chen"}, 400, "seat_key is required"},
			{seats, m{"name": " ", "seat_key": otherKey}, 400, "name must have 1 to 255 characters and not be blank"},
			{seats, m{"name": strings.Repeat("é", 256), "seat_key": otherKey}, 400, "name must have at most 255 characters, not 256"},
			{seats, m{"name": "Chen", "seat_key": "short"}, 400, "seat_key must have 22 to 128 characters"},
			{seats, `{"name":1}`, 400, "name must be a string"},
			{seats, `[`, 400, "the body must be a JSON object"},
			{preview, m{"seat_key": "short"}, 400, "seat_key must have 22 to 128 characters"},
			{preview, `{"link":"` + strings.Repeat("x", 65<<10) + `"}`, 413, "the body must not be larger than 65536 bytes"},
			{seats, `{"link":"` + strings.Repeat("x", 65<<10) + `"}`, 413, "the body must not be larger than 65536 bytes"},
			{strings.Replace(preview, id, "nowhere", 1), m{}, 404, "there is no such room"},
			{strings.Replace(seats, id, "nowhere", 1), m{"name": "Chen", "seat_key": otherKey}, 404, "there is no such room"},
		} {
			if status, a := send(tc.path, tc.in); status != tc.status || a.Error.Message != tc.message {
				t.Errorf("POST %s %.100v: got %d %q, want %d %q", tc.path, tc.in, status, a.Error.Message, tc.status, tc.message)
			}
		}
		for _, path := range []string{preview, seats} {
			if res := c.Do(t, http.MethodPost, path, http.Header{"Content-Type": {"text/plain"}},
				[]byte(`{}`)); res.StatusCode != 415 {
				t.Errorf("POST %s as text/plain: got status %d, want 415", path, res.StatusCode)
			}
		}
	})
	t.Run("an unknown link makes a guest", func(t *testing.T) {
		if status, a := send(preview, m{"link": "wrong"}); status != 200 ||
			a.You.Link != "unknown" || a.You.Role != "guest" {
			t.Errorf("got %d %+v, want 200, an unknown link and the role guest", status, a)
		}
	})
	t.Run("an inactive project", func(t *testing.T) {
		if err := s.app.projects.SetStatus(t.Context(), s.ProjectID, project.Inactive); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{preview, seats} {
			if status, a := send(path, m{"name": "Chen", "seat_key": otherKey}); status != 403 ||
				a.Error.Code != "project_inactive" {
				t.Errorf("POST %s: got %d %+v, want 403 project_inactive", path, status, a)
			}
		}
		if err := s.app.projects.SetStatus(t.Context(), s.ProjectID, project.Active); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("an ended room", func(t *testing.T) {
		ended, _ := s.createRoom(2, 300)
		if err := s.app.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			r, err := s.app.db.LockRoom(ctx, ended)
			if err != nil {
				return err
			}
			r.State, r.EndReason = room.Ended, room.EndedEmpty
			return s.app.db.UpdateRoom(ctx, r)
		}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/preview", "/seats"} {
			if status, a := send("/api/join/rooms/"+ended+path,
				m{"name": "Chen", "seat_key": otherKey}); status != 410 || a.Error.Code != "room_ended" ||
				a.Error.Reason != "empty_timeout" {
				t.Errorf("POST %s: got %d %+v, want 410 room_ended because of empty_timeout", path, status, a)
			}
		}
	})
	t.Run("unknown rooms are rate limited", func(t *testing.T) {
		for _, path := range []string{"/preview", "/seats"} {
			limited := false
			for range wrongLinksPerMinute + 1 {
				status, a := send("/api/join/rooms/nowhere"+path, m{"name": "Chen", "seat_key": otherKey})
				limited = limited || status == 429 && a.Error.Code == "too_many_attempts"
			}
			if !limited {
				t.Errorf("POST %s: got no status 429 for %d unknown rooms, want one", path, wrongLinksPerMinute+1)
			}
		}
		if status, _ := send(preview, m{}); status != 200 {
			t.Errorf("the preview of a room after unknown ones: got status %d, want 200", status)
		}
	})
	t.Run("the database is closed", func(t *testing.T) {
		_ = s.app.db.Close()
		for _, path := range []string{preview, seats} {
			if status, a := send(path, m{"name": "Chen", "seat_key": otherKey}); status != 503 ||
				a.Error.Code != "unavailable" {
				t.Errorf("POST %s: got %d %+v, want 503 unavailable", path, status, a)
			}
		}
	})

	t.Run("no token in the log", func(t *testing.T) {
		log := s.log.String()
		for name, secret := range map[string]string{"link": token, "seat key": hostKey, "API key": s.APIKey,
			"project secret": s.ProjectSecret,
			"Gateway secret": s.GatewaySecret, "management token": s.AdminToken} {
			if strings.Contains(log, secret) {
				t.Errorf("log: got the %s in it, want no secret", name)
			}
		}
	})
}
