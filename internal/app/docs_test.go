package app

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	reference          = regexp.MustCompile(`(?:href|src|data-description|data-index)="([^"]*)"`)
	markdownLink       = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	externalURLPattern = regexp.MustCompile(`(?:url\(|@import)[\s"']*(?:https?:)?//`)
)

// TestDocs_ReferencesAreLocal follows every reference in the HTML and in the
// Markdown of the documentation and checks that each exists on this server.
func TestDocs_ReferencesAreLocal(t *testing.T) {
	s := startServer(t, nil)
	seen := map[string]bool{}
	for next := []string{"/docs", "/docs/llms.txt"}; len(next) > 0; {
		path, _, _ := strings.Cut(next[0], "#")
		next = next[1:]
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
			t.Errorf("the documentation refers to %s, want paths of this server only", path)
			continue
		}
		header, body := s.download(t, path)
		if !strings.HasPrefix(path, "/docs") {
			continue
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") || strings.Contains(policy, "http") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("GET %s: got policy %q, want default-src 'none' without hosts and unsafe sources", path, policy)
		}
		switch kind := header.Get("Content-Type"); {
		case strings.HasPrefix(kind, "text/html"):
			for _, m := range reference.FindAllSubmatch(body, -1) {
				next = append(next, string(m[1]))
			}
		case strings.HasPrefix(kind, "text/markdown"), path == "/docs/llms.txt":
			for _, m := range markdownLink.FindAllSubmatch(body, -1) {
				next = append(next, string(m[1]))
			}
		case strings.HasPrefix(kind, "text/css") && externalURLPattern.Match(body):
			t.Errorf("stylesheet %s: got a URL of another host in it, want local URLs only", path)
		}
	}
	for _, path := range []string{"/docs/v3", "/docs/v4", "/docs/v5", "/docs/quickstart", "/docs/sdks", "/docs/signing",
		"/docs/examples", "/docs/meetings", "/docs/webhooks", "/docs/errors", "/docs/versions", "/docs/signing.md",
		"/api/v3/openapi.yaml", "/api/v4/openapi.yaml", "/api/v5/openapi.json", "/docs/openapi/v3.yaml",
		"/docs/openapi/v3.json", "/docs/openapi/v4.yaml", "/docs/openapi/v4.json", "/docs/openapi/v5.yaml",
		"/docs/openapi/v5.json", "/docs/parley.postman_collection.json"} {
		if !seen[path] {
			t.Errorf("pages that refer to %s: got none, want at least one", path)
		}
	}
	for _, version := range []string{"v3", "v4", "v5"} {
		for _, form := range []string{"yaml", "json"} {
			path := version + "/openapi." + form
			description, err := os.ReadFile("../api/" + path)
			if err != nil {
				t.Fatal(err)
			}
			header, served := s.download(t, "/api/"+path)
			if kind := header.Get("Content-Type"); kind != "application/"+form || !bytes.Equal(served, description) {
				t.Errorf("/api/%s: got %d bytes of %s, want the %d bytes of internal/api/%s as application/%s", path,
					len(served), kind, len(description), path, form)
			}
		}
	}
	vectors, err := os.ReadFile("../../sdk/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, served := s.download(t, "/docs/vectors.json"); !bytes.Equal(served, vectors) {
		t.Errorf("/docs/vectors.json: got %d bytes, want the same %d bytes as sdk/testdata/vectors.json", len(served),
			len(vectors))
	}
}

func (s *server) download(t *testing.T, path string) (http.Header, []byte) {
	t.Helper()
	answer, err := http.Get(s.app.BaseURL() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("GET %s: got %d, %v, want 200", path, answer.StatusCode, err)
	}
	return answer.Header, body
}
