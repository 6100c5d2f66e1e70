package app

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/client/sign"
	"parley/internal/config"
)

// The plan of an organization bounds its rooms, and calls are bounded as the
// settings say.
func TestCreationsAreBounded(t *testing.T) {
	plans := filepath.Join(t.TempDir(), "plans.yaml")
	if err := os.WriteFile(plans, []byte("default:\n  max_participants: 3\n  room_duration: 60\n  breakout_rooms: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *config.Config) { c.PlansFile = plans })
	create := func(max int, key string) *http.Response {
		t.Helper()
		body := fmt.Appendf(nil, `{"project_id":%q,"start_at":%q,"max_participants":%d,"empty_timeout":0,"metadata":{"room_title":"T","welcome_message":"",
			"room_features":{"room_duration":61,"breakout_room_features":{"allowed_number_rooms":2}}}}`, s.ProjectID, time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04"), max)
		r, err := http.NewRequest(http.MethodPost, s.app.BaseURL()+"/api/v4/rooms/create_schedule_video_room", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("hash-signature", sign.Legacy(key, body))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	if answer := create(3, s.ProjectSecret); answer.StatusCode != 200 || answer.Header.Get("X-Feature-Adjusted") != "room_duration" {
		t.Errorf("%d X-Feature-Adjusted: %q", answer.StatusCode, answer.Header.Get("X-Feature-Adjusted"))
	}
	if answer := create(4, s.ProjectSecret); answer.StatusCode != 400 {
		t.Errorf("beyond the plan: %d", answer.StatusCode)
	}
	refused := 0
	for range failedAuthentications + 5 {
		if answer := create(3, "wrong"); answer.StatusCode == 429 && answer.Header.Get("Retry-After") != "" {
			refused++
		} else if answer.StatusCode != 401 {
			t.Fatalf("a wrong signature: %d", answer.StatusCode)
		}
	}
	if refused < 3 {
		t.Errorf("%d of %d failures were too many", refused, failedAuthentications+5)
	}
	if answer := create(3, s.ProjectSecret); answer.StatusCode != 200 {
		t.Errorf("a valid call from that address: %d", answer.StatusCode)
	}
}
