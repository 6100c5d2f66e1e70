package app

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"parley.example/client/sign"
	"parley/internal/config"
	"parley/internal/project"
)

// tryCreateRoom requests a quick audio room, signed with a secret.
func (s *server) tryCreateRoom(secret string, maxParticipants int) (status int, message string) {
	s.t.Helper()
	body := fmt.Appendf(nil,
		`{"project_id":%q,"name":"Amina","max_participants":%d,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}}`, s.ProjectID, maxParticipants)
	r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/v3/rooms/create_quick_audio_room",
		bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("hash-signature", sign.Legacy(secret, body))
	var out struct{ Error string }
	status = s.do(r, &out)
	return status, out.Error
}

func TestRateLimits_Writes(t *testing.T) {
	s := startServer(t, nil)
	limited := 0
	for range 400 {
		status, _ := s.tryCreateRoom(s.APIKey, 2)
		if status == http.StatusTooManyRequests {
			limited++
		} else if status != http.StatusOK {
			t.Fatalf("create a room: got status %d, want 200 or 429", status)
		}
	}
	if limited == 0 {
		t.Error("got no status 429 for 400 rooms at once, want one")
	}
	// Each credential has its own limit.
	if status, message := s.tryCreateRoom(s.ProjectSecret, 2); status != http.StatusOK {
		t.Errorf("the project secret after the API key: got %d %s, want 200", status, message)
	}
	// Wrong signatures count towards the limit of the address, not towards that of a key.
	limited = 0
	for range failedAuthenticationsPerMinute + 20 {
		if status, _ := s.tryCreateRoom("wrong", 2); status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 {
		t.Errorf("got no status 429 for %d wrong signatures, want one", failedAuthenticationsPerMinute+20)
	}
	if status, message := s.tryCreateRoom(s.ProjectSecret, 2); status != http.StatusOK {
		t.Errorf("a valid signature after wrong ones: got %d %s, want 200", status, message)
	}
}

func TestPlans_LimitRooms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plans.yaml")
	if err := os.WriteFile(file, []byte("small:\n  max_participants: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, func(c *config.Config) { c.PlansFile = file })
	if status, _ := s.tryCreateRoom(s.APIKey, 1000); status != http.StatusOK {
		t.Errorf("1000 participants on the default plan: got status %d, want 200", status)
	}
	small := "small"
	if _, err := s.app.projects.SetOrganization(t.Context(), s.OrganizationID,
		project.OrganizationChanges{Plan: &small}); err != nil {
		t.Fatal(err)
	}
	if status, message := s.tryCreateRoom(s.APIKey, 6); status != http.StatusBadRequest ||
		message != "max_participants must be between 1 and 5, not 6" {
		t.Errorf("6 participants on a plan of 5: got %d %q, want 400 and the range", status, message)
	}
	if status, _ := s.tryCreateRoom(s.APIKey, 5); status != http.StatusOK {
		t.Errorf("5 participants on a plan of 5: got status %d, want 200", status)
	}
}
