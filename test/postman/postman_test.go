// Package postman tests that the Postman collection of a server signs its requests: newman, the program of Postman
// for the command line, sends them.
package postman

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"parley/internal/quickstart"
	"parley/internal/testkit"
	"parley/test/parleytest"
)

func TestMain(m *testing.M) { parleytest.Main(m) }

// step is a request of the collection. Without a body it sends the example.
type step struct {
	Method         string            `json:"method"`
	Path           string            `json:"path"`
	Body           string            `json:"body,omitempty"`
	Query          map[string]string `json:"query,omitempty"`
	IdempotencyKey bool              `json:"idempotencyKey,omitempty"`
}

// meeting is a sequence of requests that succeed.
var meeting = []step{
	{Method: "GET", Path: "/api/v4/openapi.yaml"},
	{Method: "POST", Path: "/api/v4/rooms/create_quick_video_room", IdempotencyKey: true},
	{Method: "POST", Path: "/api/v4/rooms/join_room", IdempotencyKey: true,
		Body: `{"room_id": "{{room_id}}", "user_info": {"name": "Zoë 😀"}}`},
	{Method: "POST", Path: "/api/v4/rooms/create_invitation_link"},
	{Method: "GET", Path: "/api/v4/rooms/room_status"},
	{Method: "GET", Path: "/api/v4/rooms/get_active_room_info"},
	{Method: "GET", Path: "/api/v4/rooms/get_active_rooms_info"},
	{Method: "GET", Path: "/api/v4/rooms/list_rooms"},
	{Method: "POST", Path: "/api/v4/webhook/get_room_events/:room_id"},
	{Method: "GET", Path: "/api/v4/rooms/:room_id/events", Query: map[string]string{"limit": "10"}},
	{Method: "POST", Path: "/api/v4/rooms/end_room"},
	{Method: "POST", Path: "/api/v4/rooms/fetch_past_rooms"},
	{Method: "GET", Path: "/api/v4/analytics/get_analytics"},
	{Method: "GET", Path: "/api/v4/analytics/export_attendance"},
	{Method: "POST", Path: "/api/v4/rooms/create_schedule_video_room"},
	{Method: "POST", Path: "/api/v4/rooms/reschedule_room"},
	{Method: "POST", Path: "/api/v4/rooms/start_schedule_room"},
	{Method: "PUT", Path: "/api/v4/projects/update_project_status", Body: `{"status": "active"}`},
	{Method: "GET", Path: "/api/v3/openapi.yaml"},
	{Method: "POST", Path: "/api/v3/rooms/create_schedule_audio_room"},
	{Method: "POST", Path: "/api/v3/rooms/create_quick_audio_room",
		Query: map[string]string{"note": "{{room_id}}"}},
	{Method: "POST", Path: "/api/v3/rooms/join_room"},
	{Method: "GET", Path: "/api/v5/openapi.json"},
	{Method: "GET", Path: "/api/v5/keys"},
	{Method: "GET", Path: "/api/v5/usage"},
	{Method: "GET", Path: "/api/v5/limits"},
	// Unknown parameters are ignored, but signed.
	{Method: "GET", Path: "/api/v5/requests", Query: map[string]string{"limit": "5", "note": `ü 'a'+"b"|{c}%20`}},
}

func TestCollection_SignsItsRequests(t *testing.T) {
	testkit.Slow(t)
	if _, err := os.Stat("node_modules/newman"); err != nil {
		t.Fatal("the test needs what test/postman/package.json names: run make npm-packages")
	}
	dir := t.TempDir()
	server := parleytest.Start(t, parleytest.Options{DataDir: dir})
	q, err := quickstart.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"url": server.URL, "steps": meeting, "variables": map[string]string{
		"base_url": server.URL, "project_id": q.ProjectID, "project_secret": q.ProjectSecret, "api_key": q.APIKey,
		"gateway_secret": q.GatewaySecret}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "run.mjs")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &errs
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("run.mjs: %v\n%s", err, &errs)
	}
	var got struct {
		Results []struct {
			Name, Sent, Body, Error string
			Status                  int
		}
		Failures []string
	}
	if err := json.Unmarshal(output, &got); err != nil {
		t.Fatalf("run.mjs printed %q: %v", output, err)
	}
	for _, failure := range got.Failures {
		t.Errorf("newman: %s", failure)
	}
	if len(got.Results) != len(meeting) {
		t.Errorf("got %d responses, want %d", len(got.Results), len(meeting))
	}
	for _, r := range got.Results {
		if r.Status != http.StatusOK {
			t.Errorf("%s: got status %d, want 200 (sent %s)\n%.500s%s", r.Name, r.Status, r.Sent, r.Body, r.Error)
		}
	}
}
