package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/api/apitest"
)

// publicPaths are the paths that answer without credentials, with the reason.
// The test fails for an operation that is not in this list and declares no
// authentication, and for one that declares it and answers without credentials.
var publicPaths = map[string]string{
	"/api/join/rooms/{room_id}/check":        "a guest of the room may check the network, a few times a minute",
	"/api/join/rooms/{room_id}/preview":      "the id of the room allows a guest to see the preview",
	"/api/join/rooms/{room_id}/seats":        "the id of the room allows a guest to take a seat",
	"/api/join/rooms/{room_id}/waiting/stop": "a visitor who waits has no seat; it takes only the own seat key off the list",
	"/api/join/logos/{hash}":                 "the page shows the logo before a person joins, and so do messengers",
	"/api/join/checks":                       "its body has the code of an operator's check",
	"/api/join/checks/token":                 "its body has the key of a check",
	"/api/join/checks/report":                "its body has the key of a check",
	"/api/manage/sign-in":                    "its body has the credential",
	"/api/manage/sign-in-methods":            "the sign-in page says how people can sign in",
	"/api/v3/openapi.yaml":                   "the description contains no secret",
	"/api/v4/openapi.yaml":                   "the description contains no secret",
	"/api/v5/openapi.json":                   "the description is specified to be public",
}

// seatKeyPaths are the paths that need a seat key in the body. No OpenAPI scheme
// can express that, so their description calls them public; they must refuse an
// unknown seat key.
var seatKeyPaths = map[string]bool{
	"/api/join/rooms/{room_id}/end":               true,
	"/api/join/rooms/{room_id}/breakouts":         true,
	"/api/join/rooms/{room_id}/breakouts/close":   true,
	"/api/join/rooms/{room_id}/broadcast":         true,
	"/api/join/rooms/{room_id}/move":              true,
	"/api/join/rooms/{room_id}/people":            true,
	"/api/join/rooms/{room_id}/feedback":          true,
	"/api/join/rooms/{room_id}/mute":              true,
	"/api/join/rooms/{room_id}/unmute":            true,
	"/api/join/rooms/{room_id}/remove":            true,
	"/api/join/rooms/{room_id}/readmit":           true,
	"/api/join/rooms/{room_id}/locks":             true,
	"/api/join/rooms/{room_id}/role":              true,
	"/api/join/rooms/{room_id}/hand/raise":        true,
	"/api/join/rooms/{room_id}/hand/lower":        true,
	"/api/join/rooms/{room_id}/hands/lower":       true,
	"/api/join/rooms/{room_id}/react":             true,
	"/api/join/rooms/{room_id}/waiting/admit":     true,
	"/api/join/rooms/{room_id}/waiting/turn-away": true,
	"/api/join/rooms/{room_id}/invitations":       true,
}

// TestRoutes_RequireCredentials checks for each operation in the OpenAPI
// descriptions that it exists and refuses calls without credentials.
func TestRoutes_RequireCredentials(t *testing.T) {
	s := startServer(t, nil)
	roomID, _ := s.createRoom(2, 300)
	descriptions, err := filepath.Glob("../api/*/openapi.yaml")
	if err != nil || len(descriptions) < 3 {
		t.Fatalf("got the descriptions %v, %v, want at least 3", descriptions, err)
	}
	operations := 0
	for _, name := range descriptions {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range apitest.New(t, raw, s.app.handler).Operations() {
			operations++
			_, listed := publicPaths[o.Path]
			if seatKeyPaths[o.Path] {
				body := `{"seat_key":"` + strings.Repeat("n", 43) +
					`","names":["A"],"to":0,"text":"x","identity":"x","role":"guest","locks":{},"reaction":"heart","rating":"good"}`
				if status := s.sendUnsigned(o.Method, strings.Replace(o.Path, "{room_id}", roomID, 1),
					body); status != http.StatusForbidden {
					t.Errorf("%s %s with an unknown seat key: got status %d, want 403", o.Method, o.Path, status)
				}
				continue
			}
			if o.Public != listed {
				t.Errorf("%s %s (%s): got public %v in the description, want %v as in publicPaths", name, o.Path,
					o.ID, o.Public, listed)
			}
			if o.Public {
				continue
			}
			path := strings.NewReplacer("{project_id}", s.ProjectID, "{room_id}", roomID).Replace(o.Path)
			path = strings.NewReplacer("{organization_id}", s.OrganizationID, "{token_id}", "x",
				"{delivery_id}", "x", "{session_id}", "x", "{user_id}", "x", "{check_id}", "x", "{node}", "x").Replace(path)
			if strings.Contains(path, "{") {
				t.Fatalf("%s has an unknown parameter: add a value for it to this test", path)
			}
			if status := s.callWithoutCredentials(o, path); status != http.StatusUnauthorized {
				t.Errorf("%s %s without credentials: got status %d, want 401", o.Method, path, status)
			}
		}
	}
	if operations < 20 {
		t.Errorf("got %d operations in the descriptions, want at least 20", operations)
	}
}

// callWithoutCredentials calls an operation with all its parameters but without
// credentials, and returns the status of the response.
func (s *server) callWithoutCredentials(o apitest.Operation, path string) int {
	s.t.Helper()
	body := ""
	if o.HasJSON {
		body = fmt.Sprintf(`{"project_id":%q,"room_id":%q}`, s.ProjectID, s.roomOf(path))
	}
	return s.sendUnsigned(o.Method, path+"?project_id="+s.ProjectID, body)
}

// sendUnsigned sends a call without credentials in its headers.
func (s *server) sendUnsigned(method, target, body string) int {
	s.t.Helper()
	r, err := http.NewRequest(method, s.app.BaseURL()+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return s.do(r, nil)
}

// roomOf returns the room id of a path: its last segment.
func (s *server) roomOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
