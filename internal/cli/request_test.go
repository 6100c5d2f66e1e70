package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequest_IgnoresRedirects checks that a redirect is shown and not followed, because the API key and the signature
// are meant for one host.
func TestRequest_IgnoresRedirects(t *testing.T) {
	t.Parallel()
	followed := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.RequestURI, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	for _, args := range [][]string{
		{"GET", "/api/v5/keys"},
		{"POST", "/api/v4/rooms/create_quick_audio_room", "--body", "{}"},
	} {
		args = append([]string{"request"}, append(args, "--url", server.URL, "--api-key", testCredentials.APIKey,
			"--gateway-secret", testCredentials.GatewaySecret, "--project-secret", testCredentials.ProjectSecret)...)
		var out, errs bytes.Buffer
		status := Main(t.Context(), args, nil, &out, &errs)
		want := "the server answered 307 Temporary Redirect to " + other.URL + args[2]
		if status != exitError || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: got status %d and %q, want status %d and %q", args[1:3], status, errs.String(), exitError, want)
		}
	}
	if followed != 0 {
		t.Errorf("the other server: got %d requests, want none", followed)
	}
}
