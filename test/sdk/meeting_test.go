package sdk

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/quickstart"
	"parley/test/parleytest"
)

// service is a running server with its project and a test project, and the webhooks that it has sent.
type service struct {
	url            string
	dataDir        string
	organizationID string

	project     credentials
	testProject credentials
	receiver    string
	webhooks    <-chan webhook
}

type webhook struct {
	headers map[string]string
	body    string
}

func startService(t *testing.T) service {
	t.Helper()
	received := make(chan webhook, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		headers := map[string]string{}
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		received <- webhook{headers, string(body)}
	}))
	t.Cleanup(receiver.Close)
	dir := t.TempDir()
	server := parleytest.Start(t, parleytest.Options{DataDir: dir, Args: []string{"--webhook-allow", "127.0.0.1"}})
	q, err := quickstart.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	project := credentials{ProjectID: q.ProjectID, ProjectSecret: q.ProjectSecret, APIKey: q.APIKey,
		GatewaySecret: q.GatewaySecret}
	return service{
		url:            server.URL,
		dataDir:        dir,
		organizationID: q.OrganizationID,
		project:        project,
		testProject:    createProject(t, dir, q.OrganizationID, "My tests", "--test"),
		receiver:       receiver.URL,
		webhooks:       received,
	}
}

// createProject creates a project with the command line.
func createProject(t *testing.T, dir, organizationID, name string, flags ...string) (created credentials) {
	t.Helper()
	args := append([]string{"project", "create", "--data-dir", dir, "--org", organizationID, "--name", name, "--json"},
		flags...)
	out, err := parleytest.Command(nil, args...).Output()
	if err == nil {
		err = json.Unmarshal(out, &created)
	}
	if err != nil {
		t.Fatalf("%v: got %s, error %v, want a project", args, out, err)
	}
	return created
}

// environment returns the variables that set the credentials of a project for the SDKs.
func (s service) environment(project credentials) []string {
	return []string{"PARLEY_URL=" + s.url, "PARLEY_PROJECT_ID=" + project.ProjectID, "PARLEY_API_KEY=" + project.APIKey,
		"PARLEY_PROJECT_SECRET=" + project.ProjectSecret, "PARLEY_GATEWAY_SECRET=" + project.GatewaySecret}
}

// call makes a call and returns its result. It fails the test if the call fails.
func (d *driver) call(t *testing.T, s service, operation string, arguments map[string]any) map[string]any {
	t.Helper()
	outcome := d.ask(t, map[string]any{"do": "call", "base_url": s.url, "credentials": s.project,
		"options": map[string]any{}, "operation": operation, "arguments": arguments})
	result, _ := outcome["result"].(map[string]any)
	if result == nil {
		t.Fatalf("%s: got %v, want a result", operation, outcome)
	}
	return result
}

// runMeeting makes the calls of a backend that runs a meeting, against a real server.
func (d *driver) runMeeting(t *testing.T, s service) {
	metadata := map[string]any{"room_title": "Standup", "welcome_message": "Grüße 🎉"}
	quick := d.call(t, s, "create_quick_video_room", map[string]any{"name": "Amina", "max_participants": 10,
		"empty_timeout": 300, "metadata": metadata, "idempotency_key": "quick-" + d.language.name})
	id, _ := quick["room_id"].(string)
	again := d.call(t, s, "create_quick_video_room", map[string]any{"name": "Amina", "max_participants": 10,
		"empty_timeout": 300, "metadata": metadata, "idempotency_key": "quick-" + d.language.name})
	if link, _ := quick["final_link"].(string); !strings.HasPrefix(link, s.url+"/r/"+id) || again["room_id"] != id {
		t.Errorf("create_quick_video_room: got %v and again %v, want one room with a link of %s", quick, again, s.url)
	}
	scheduled := d.call(t, s, "create_scheduled_video_room", map[string]any{
		"start_at":         time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04"),
		"max_participants": 10,
		"empty_timeout":    300,
		"metadata":         metadata,
		"webhook_url":      s.receiver,
		"client_room_id":   "lesson-" + d.language.name,
	})
	lesson, _ := scheduled["room_id"].(string)
	d.checkDelivery(t, s, lesson)
	d.call(t, s, "start_scheduled_room", map[string]any{"room_id": lesson, "name": "Amina"})
	link := d.call(t, s, "join_room", map[string]any{"room_id": id, "user_info": map[string]any{"name": "Bela",
		"client_user_id": "4712"}})
	if text, _ := link["final_link"].(string); !strings.Contains(text, id) {
		t.Errorf("join_room: got %v, want a link to the room %s", link, id)
	}
	d.call(t, s, "create_invitation_link", map[string]any{"room_id": id, "role": "viewer"})
	d.call(t, s, "send_join_event", map[string]any{"room_id": id, "name": "Zoë"})
	if status := d.call(t, s, "room_status", map[string]any{"room_id": id}); status["status"] != true {
		t.Errorf("room_status: got %v, want status true", status)
	}
	compareSubset(t, " of active_room", d.call(t, s, "active_room", map[string]any{"room_id": id}),
		map[string]any{"room_info": map[string]any{"room_id": id, "room_title": "Standup"}})
	d.call(t, s, "end_room", map[string]any{"room_id": id})
	found := d.call(t, s, "analytics", map[string]any{"room_id": id})
	compareSubset(t, " of analytics", found, map[string]any{"room_id": id,
		"reported": []any{map[string]any{"name": "Zoë"}}})
	events, _ := d.call(t, s, "room_events", map[string]any{"room_id": id, "after": 0})["items"].([]any)
	if len(events) != 3 { // opened, reported, ended
		t.Errorf("room_events: got %d events, want 3: %v", len(events), events)
	}
	past, _ := d.call(t, s, "all_past_rooms", map[string]any{"room_ids": []any{id}})["items"].([]any)
	if len(past) != 1 {
		t.Errorf("all_past_rooms: got %v, want the room %s", past, id)
	}
	if keys := d.call(t, s, "keys", map[string]any{}); keys["current"] == nil {
		t.Errorf("keys: got %v, want the current key", keys)
	}
	for _, operation := range []string{"usage", "limits", "requests", "active_rooms", "rooms"} {
		d.call(t, s, operation, map[string]any{})
	}
	for version := 3; version <= 5; version++ {
		text, _ := d.call(t, s, "openapi", map[string]any{"version": version})["text"].(string)
		if !strings.Contains(text, "3.1.0") {
			t.Errorf("openapi of version %d: got %.60q, want an OpenAPI description", version, text)
		}
	}
}

// newWebhook schedules a room and returns the webhook about it.
func (s service) newWebhook(t *testing.T) webhook {
	t.Helper()
	parley, err := client.New(s.url, client.Credentials{ProjectID: s.project.ProjectID,
		ProjectSecret: s.project.ProjectSecret}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	room, err := parley.CreateScheduledVideoRoom(t.Context(), client.ScheduledRoomRequest{
		StartAt:         client.LocalTime(time.Now().Add(time.Hour), time.UTC),
		MaxParticipants: 10,
		Metadata:        client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Lesson"}},
		WebhookURL:      s.receiver,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.webhookOf(t, room.RoomID)
}

// webhookOf waits for the first webhook about a room.
func (s service) webhookOf(t *testing.T, roomID string) webhook {
	t.Helper()
	for {
		select {
		case got := <-s.webhooks:
			if strings.Contains(got.body, roomID) {
				return got
			}
		case <-time.After(time.Minute):
			t.Fatal("got no webhook within a minute, want room.scheduled")
		}
	}
}

// checkDelivery verifies a webhook of the server with the SDK.
func (d *driver) checkDelivery(t *testing.T, s service, roomID string) {
	t.Helper()
	got := s.webhookOf(t, roomID)
	outcome := d.ask(t, map[string]any{"do": "webhook", "secrets": []string{s.project.ProjectSecret},
		"headers": got.headers, "body": got.body, "now": time.Now().Unix()})
	compareSubset(t, " of the webhook", outcome, map[string]any{"event": map[string]any{"type": "room.scheduled",
		"data": map[string]any{"room_id": roomID}}})
}
