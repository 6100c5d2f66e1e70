package app

import (
	"net/http"
	"strings"
	"testing"

	"parley/internal/project"
)

// TestRoomPage_FrameAncestors checks that the room page applies the settings of
// its project from the next request on.
func TestRoomPage_FrameAncestors(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(2, 300)
	assertPolicy := func(path, ancestors, frameOptions string) {
		t.Helper()
		answer, err := http.Get(s.app.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy,
			"; frame-ancestors "+ancestors) || answer.Header.Get("X-Frame-Options") != frameOptions {
			t.Errorf("GET %s: got headers %v, want frame-ancestors %s and X-Frame-Options %q",
				path, answer.Header, ancestors, frameOptions)
		}
	}
	assertPolicy("/r/"+id, "'none'", "DENY")
	settings := project.Settings{EmbedOrigins: []string{"https://a.example", "http://localhost:3000"}}
	if err := s.app.projects.Configure(t.Context(), s.ProjectID, settings); err != nil {
		t.Fatal(err)
	}
	assertPolicy("/r/"+id, "https://a.example http://localhost:3000", "")
	assertPolicy("/r/0197", "'none'", "DENY")
	assertPolicy("/docs", "'none'", "DENY")
}
