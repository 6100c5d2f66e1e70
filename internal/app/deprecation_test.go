package app

import (
	"net/http"
	"testing"

	"parley/internal/config"
)

// TestVersion3_AfterSunset sets the dates of version 3: it ends, the other
// versions stay.
func TestVersion3_AfterSunset(t *testing.T) {
	s := startServer(t, func(c *config.Config) {
		for text, date := range map[string]*config.Date{"2025-01-31": &c.V3DeprecationDate,
			"2026-01-31": &c.V3SunsetDate} {
			if err := date.UnmarshalText([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	})
	for path, want := range map[string]int{"/api/v3/rooms/create_quick_audio_room": 410, "/api/v3/nowhere": 410,
		"/api/v3/openapi.yaml": 200, "/api/v3/openapi.json": 200, "/api/v4/openapi.yaml": 200, "/api/v5/keys": 401} {
		answer, err := http.Get(s.app.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		version3 := path[:7] == "/api/v3"
		if got := answer.Header.Get("Sunset"); answer.StatusCode != want ||
			(got == "Sat, 31 Jan 2026 00:00:00 GMT") != version3 {
			t.Errorf("GET %s: got status %d, Sunset %q, want %d, and a sunset for version 3 only: %t",
				path, answer.StatusCode, got, want, version3)
		}
	}
}
