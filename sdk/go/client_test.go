package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley.example/client"
)

func TestNew_BaseURL(t *testing.T) {
	for _, good := range []string{"https://meet.example.org", "https://meet.example.org/",
		"http://127.0.0.1:8080", "http://[::1]:8080"} {
		if _, err := client.New(good, credentials, client.Options{}); err != nil {
			t.Errorf("New(%q): got error %v, want none", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                              "parley: the base URL must be an absolute http or https URL",
		"meet.example.org":              "parley: the base URL must be an absolute http or https URL",
		"ftp://meet.example.org":        "parley: the base URL must be an absolute http or https URL",
		"https://":                      "parley: the base URL must be an absolute http or https URL",
		"https://u:hunter2@example.org": "parley: the base URL must not contain a user or password",
		"https://u:hunter2@exa mple":    "parley: the base URL is not a valid URL",
		"https://example.org/parley":    "parley: the base URL must not have a path, query or fragment",
		"https://example.org?":          "parley: the base URL must not have a path, query or fragment",
		"https://example.org?a=b":       "parley: the base URL must not have a path, query or fragment",
		"https://example.org/#f":        "parley: the base URL must not have a path, query or fragment",
	} {
		if _, err := client.New(bad, credentials, client.Options{}); err == nil || err.Error() != want {
			t.Errorf("New(%q): got error %v, want %s", bad, err, want)
		}
	}
	if _, err := client.New("https://example.org", credentials, client.Options{MaxAttempts: -1}); err == nil {
		t.Error("MaxAttempts -1: got no error, want one")
	}
}

func TestNew_CredentialsWithLineFeed(t *testing.T) {
	bad := credentials
	bad.GatewaySecret += "\n"
	_, err := client.New("https://example.org", bad, client.Options{})
	if err == nil || !strings.Contains(err.Error(),
		"GatewaySecret must be printable ASCII without spaces, but has another character at position 48") ||
		strings.Contains(err.Error(), gatewaySecret) {
		t.Errorf("got error %v, want one that names the position and not the secret", err)
	}
}

func TestNew_CredentialsInEachOthersPlace(t *testing.T) {
	for _, test := range []struct {
		credentials client.Credentials
		want        string
	}{
		{client.Credentials{GatewaySecret: projectSecret},
			"parley: GatewaySecret begins with whsec_, so it is a project secret"},
		{client.Credentials{APIKey: gatewaySecret}, "parley: APIKey begins with gs_, so it is a Gateway secret"},
		{client.Credentials{ProjectID: apiKey}, "parley: ProjectID begins with pk_, so it is an API key"},
	} {
		_, err := client.New("https://example.org", test.credentials, client.Options{})
		if err == nil || err.Error() != test.want {
			t.Errorf("got error %v, want %s", err, test.want)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	t.Setenv("PARLEY_URL", "")
	if _, err := client.FromEnvironment(client.Options{}); err == nil || !strings.Contains(err.Error(), "PARLEY_URL") {
		t.Errorf("without PARLEY_URL: got error %v, want one that names it", err)
	}
	server := httptest.NewServer(newServer())
	defer server.Close()
	for name, value := range map[string]string{"PARLEY_URL": server.URL, "PARLEY_PROJECT_ID": projectID,
		"PARLEY_API_KEY": apiKey, "PARLEY_GATEWAY_SECRET": gatewaySecret, "PARLEY_PROJECT_SECRET": projectSecret} {
		t.Setenv(name, value)
	}
	c, err := client.FromEnvironment(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := keys(t.Context(), c); err != nil {
		t.Errorf("keys: got error %v, want none", err)
	}
	if err := create(quickRoom())(t.Context(), c); err != nil {
		t.Errorf("create a room: got error %v, want none", err)
	}
}

func TestClient_MissingCredentials(t *testing.T) {
	for _, test := range []struct {
		name        string
		credentials client.Credentials
		fails       []string
	}{
		{"none", client.Credentials{}, []string{"read", "status", "event", "room"}},
		{"gateway alone", client.Credentials{APIKey: apiKey, GatewaySecret: gatewaySecret}, []string{"status", "event", "room"}},
		{"no gateway secret", client.Credentials{ProjectID: projectID, APIKey: apiKey}, []string{"read", "event"}},
		{"no API key", client.Credentials{ProjectID: projectID, GatewaySecret: gatewaySecret}, []string{"read", "status", "event", "room"}},
		{"project secret alone", client.Credentials{ProjectID: projectID, ProjectSecret: projectSecret}, []string{"read"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer()
			c := start(t, s, test.credentials, client.Options{})
			failed := 0
			for name, call := range map[string]error{
				"read": keys(t.Context(), c), "status": status(t.Context(), c), "event": joinEvent(t.Context(),
					c), "room": create(quickRoom())(t.Context(), c),
			} {
				should := false
				for _, fails := range test.fails {
					should = should || fails == name
				}
				if errors.Is(call, client.ErrMissingCredential) != should || call != nil && !should {
					t.Errorf("%s: got error %v, want ErrMissingCredential %v", name, call, should)
				}
				if should {
					failed++
				}
			}
			if len(s.requestsSeen()) != 4-failed {
				t.Errorf("got %d requests, want %d", len(s.requestsSeen()), 4-failed)
			}
		})
	}
}

func TestCredentials_FromQuickstartFile(t *testing.T) {
	var read client.Credentials
	file := `{"base_url":"http://127.0.0.1:8080","organization_id":"o","project_id":"` + projectID +
		`","project_secret":"` + projectSecret +
		`","api_key":"` + apiKey + `","gateway_secret":"` + gatewaySecret + `","admin_token":"t"}`
	if err := json.Unmarshal([]byte(file), &read); err != nil || read != credentials {
		t.Errorf("got error %v, credentials %v, want those of the file", err, read)
	}
}

// TestClient_NeverPrintsSecrets checks that no formatting of a Client, its
// credentials or its errors contains a secret.
func TestClient_NeverPrintsSecrets(t *testing.T) {
	s := newServer()
	echo := func(w http.ResponseWriter, r *http.Request) {
		errorResponse(400, fmt.Sprint(r.Header, apiKey, gatewaySecret, projectSecret))(w, r)
	}
	malformed := func(w http.ResponseWriter, r *http.Request) {
		connection, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = connection.Close() }()
		fmt.Fprintf(buffer, "HTTP/1.1 200 OK\r\nno header %s %s\r\n\r\n", r.Header.Get("api-key"), gatewaySecret)
		_ = buffer.Flush()
	}
	s.respondWith(echo, echo, malformed)
	listening := httptest.NewServer(s)
	c := connect(t, listening.URL, credentials, client.Options{MaxAttempts: 1})
	things := []any{c, credentials, &credentials, struct{ Inner any }{credentials}, struct{ C *client.Client }{c},
		keys(t.Context(), c), status(t.Context(), c), keys(t.Context(), c)}
	listening.Close()
	things = append(things, keys(t.Context(), c), joinEvent(t.Context(), c))

	var out bytes.Buffer
	text, structured := slog.New(slog.NewTextHandler(&out, nil)), slog.New(slog.NewJSONHandler(&out, nil))
	for _, thing := range things {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", thing)
		}
		if err := json.NewEncoder(&out).Encode(thing); err != nil {
			t.Error(err)
		}
		text.Info("thing", "it", thing)
		structured.Info("thing", "it", thing)
	}
	for _, secret := range []string{apiKey, gatewaySecret, projectSecret, fmt.Sprintf("%x", gatewaySecret)} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("got the secret %s in\n%s\nwant it redacted", secret, out.String())
		}
	}
	if !strings.Contains(out.String(), projectID) || !strings.Contains(out.String(), "[redacted]") {
		t.Errorf("got %q, want the project %s and [redacted] in place of secrets", out.String(), projectID)
	}
}
