package app

import (
	"bytes"
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

// TestLogo_Headers checks that a logo is served as an image that browsers can keep
// and that can load and run nothing, and that the preview of a link names its URL.
func TestLogo_Headers(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(2, 300)
	image := []byte("<script>")
	logo, err := project.NewLogo("webp", 64, 64, image)
	if err == nil {
		err = s.app.projects.SetLogo(t.Context(), s.ProjectID, logo, image)
	}
	if err != nil {
		t.Fatal(err)
	}
	header, body := s.download(t, logo.Path())
	if !bytes.Equal(body, image) {
		t.Errorf("got %q, want the image", body)
	}
	for name, want := range map[string]string{
		"Content-Type": "image/webp", "X-Content-Type-Options": "nosniff", "Set-Cookie": "",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		"Cache-Control":           "public, max-age=31536000, immutable",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if _, page := s.download(t, "/r/"+id); !strings.Contains(string(page),
		`<meta property="og:image" content="`+s.app.BaseURL()+logo.Path()+`">`) {
		t.Errorf("page of the room: got no og:image with the logo %s, want one in:\n%s", logo.Path(), page)
	}
}
