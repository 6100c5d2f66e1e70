package app

import (
	"net/http"
	"testing"
	"time"

	"parley.example/client/sign"
	"parley/internal/api/manage"
	"parley/internal/key"
	"parley/internal/testkit"
)

// TestKeyUsage_OldKeyDuringOverlap rotates a key and keeps using the old one on
// version 3: version 5 reports its usage.
func TestKeyUsage_OldKeyDuringOverlap(t *testing.T) {
	testkit.WithinOne(t, 24*time.Hour, time.Minute)
	s := startServer(t, nil)
	rotated, err := s.app.keys.RotateKey(t.Context(), s.ProjectID, key.Rotation{Overlap: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	s.createRoom(2, 300)
	s.createRoom(2, 300)
	r, err := http.NewRequest(http.MethodGet, s.app.BaseURL()+"/api/v5/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	now := sign.FormatTimestamp(time.Now())
	r.Header.Set("api-key", rotated.APIKey.Reveal())
	r.Header.Set("timestamp", now)
	r.Header.Set("hash-signature", sign.V5(rotated.GatewaySecret.Reveal(),
		http.MethodGet, "/api/v5/keys", now, "", nil))
	var answer struct {
		Data struct {
			Overlap struct {
				Requests   int       `json:"requests_since_rotation"`
				LastUsedAt time.Time `json:"last_used_at"`
			} `json:"overlap"`
		} `json:"data"`
	}
	if status := s.do(r, &answer); status != http.StatusOK || answer.Data.Overlap.Requests != 2 ||
		time.Since(answer.Data.Overlap.LastUsedAt) > time.Minute {
		t.Errorf("got %d %+v, want 200 and two recent requests with the old key", status, answer)
	}
	r.Header.Set("User-Agent", "nightly-job/2")
	time.Sleep(2 * time.Millisecond) // of two callers in one millisecond, either may be the last one
	var keys manage.KeyList
	s.do(r, nil)
	testkit.Eventually(t, "both keys have a caller", func() bool {
		s.getManagement("/projects/"+s.ProjectID+"/keys", &keys)
		return keys.Keys[0].LastUsedBy != nil && keys.Keys[1].LastUsedBy != nil
	})
	if current, old := keys.Keys[0].LastUsedBy, keys.Keys[1].LastUsedBy; current.UserAgent != "nightly-job/2" ||
		current.Address != "127.0.0.1" || old.UserAgent == current.UserAgent || time.Since(old.At.Time) > time.Minute {
		t.Errorf("callers: got %+v of the current key and %+v of the old one, want the address 127.0.0.1, nightly-job/2 "+
			"for the current one only", current, old)
	}
	answered, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answered.Body.Close() }()
	if used := answered.Header.Get("X-Gateway-Requests-Used"); used != "3" {
		t.Errorf("got X-Gateway-Requests-Used %s after three calls of version 5, want 3", used)
	}
}
