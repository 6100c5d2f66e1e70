package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/testkit"
)

// TestScheduledRoom_OpensAtStartTime checks that a scheduled room opens
// automatically at its start, and that its creator's link works from then on.
func TestScheduledRoom_OpensAtStartTime(t *testing.T) {
	s := startServer(t, nil)
	soon := time.Now().Add(2 * time.Second)
	id := s.createScheduledRoom("/api/v3/rooms/create_schedule_audio_room",
		soon.UTC().Format("2006-01-02T15:04:05.000Z")).RoomID
	preview, seats := "/api/join/rooms/"+id+"/preview", "/api/join/rooms/"+id+"/seats"
	var early struct {
		State     string
		StartTime time.Time `json:"start_time"`
	}
	if status := s.postJSON(preview, map[string]any{}, &early); status != 200 || early.State != "scheduled" ||
		!early.StartTime.Equal(soon.Truncate(time.Millisecond)) {
		t.Fatalf("preview before the start: got %d %+v, want 200, scheduled at %s", status, early, soon)
	}
	var refused joinResponse
	if status := s.postJSON(seats, map[string]any{"name": "Early", "seat_key": guestKey}, &refused); status != 409 ||
		refused.Error.Code != "room_not_open" {
		t.Fatalf("a seat before the start: got %d %+v, want 409 room_not_open", status, refused)
	}
	testkit.Eventually(t, "the room is open", func() bool {
		var now struct{ State string }
		return s.postJSON(preview, map[string]any{}, &now) == 200 && now.State == "open"
	})
	var seat joinResponse
	if status := s.postJSON(seats, map[string]any{"name": "Guest", "seat_key": guestKey}, &seat); status != 200 ||
		seat.Role != "guest" {
		t.Fatalf("a seat after the start: got %d %+v, want 200 and the role guest", status, seat)
	}

	// A start in the current minute is accepted, so the link of the creator works at once, or
	// in a few seconds if the minute is about to end.
	created := s.createScheduledRoom("/api/v4/rooms/create_schedule_video_room",
		time.Now().Add(5*time.Second).UTC().Format("2006-01-02T15:04"))
	_, token, _ := strings.Cut(created.FinalLink, "#t=")
	var host joinResponse
	testkit.Eventually(t, "the host has a seat", func() bool {
		return s.postJSON("/api/join/rooms/"+created.RoomID+"/seats",
			map[string]any{"name": "Host", "seat_key": hostKey, "link": token}, &host) == 200
	})
	if host.Role != "host" {
		t.Errorf("got %+v, want the role host", host)
	}
}

// postJSON posts to the join API of a room, as its page does.
func (s *server) postJSON(path string, in map[string]any, out any) int {
	s.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return s.do(r, out)
}

type scheduledRoom struct {
	RoomID    string `json:"room_id"`
	FinalLink string `json:"final_link"`
}

// createScheduledRoom creates a scheduled room as an integrator does.
func (s *server) createScheduledRoom(path, startAt string) scheduledRoom {
	s.t.Helper()
	body := fmt.Appendf(nil,
		`{"project_id":%q,"start_at":%q,"max_participants":2,"empty_timeout":60,"metadata":{"room_title":"Standup","welcome_message":""}}`, s.ProjectID, startAt)
	r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("hash-signature", sign.Legacy(s.ProjectSecret, body))
	var out scheduledRoom
	if status := s.do(r, &out); status != http.StatusOK {
		s.t.Fatalf("POST %s: got status %d, want 200", path, status)
	}
	return out
}
