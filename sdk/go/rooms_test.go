package client_test

import (
	"errors"
	"reflect"
	"testing"
	"time"
	_ "time/tzdata" // a machine may have no time zones

	"parley.example/client"
	"parley.example/client/sign"
)

var zurich = time.FixedZone("", 3600)

func quickRoom() client.QuickRoomRequest {
	return client.QuickRoomRequest{Name: "Amina", MaxParticipants: 10, EmptyTimeout: 300,
		Metadata: client.Metadata{RoomTitle: "Standup", WelcomeMessage: "Good <morning>"}}
}

func scheduledV3Room() client.ScheduledRoomV3Request {
	return client.ScheduledRoomV3Request{StartAt: time.Date(2027, 1, 31, 9, 30, 0, 0, zurich), MaxParticipants: 10,
		Metadata: client.Metadata{RoomTitle: "Weekly"}}
}

func scheduledRoom() client.ScheduledRoomRequest {
	return client.ScheduledRoomRequest{StartAt: "2027-01-31T09:30", MaxParticipants: 10, EmptyTimeout: 300,
		Metadata: client.ScheduledRoomMetadata{Metadata: client.Metadata{RoomTitle: "Weekly"}}}
}

// TestRooms_Writes checks the exact bytes of every write and the decoding of the
// documented answer.
func TestRooms_Writes(t *testing.T) {
	start9 := time.Date(2027, 1, 31, 9, 30, 0, 0, zurich)
	full := scheduledRoom()
	full.Name, full.ExternalUserID, full.ClientRoomID = "Amina", "4711", "weekly-1"
	full.LogoutURL, full.WebhookURL = "https://example.org/bye", "https://example.org/hook"
	full.Metadata.RoomFeatures = &client.RoomFeatures{RoomDuration: 60,
		BreakoutRooms: &client.BreakoutRoomFeatures{AllowedNumberRooms: 4}}
	full.IdempotencyKey = "order 1"
	named := quickRoom()
	named.ClientRoomID = "standup-1"

	for _, test := range []struct {
		name                 string
		call                 func(c *client.Client) (any, error)
		method, target, body string
		idempotencyKey       string
		want                 any
	}{
		{
			name:   "quick audio",
			call:   func(c *client.Client) (any, error) { return c.CreateQuickAudioRoom(t.Context(), named) },
			method: "POST", target: "/api/v4/rooms/create_quick_audio_room",
			body: `{"project_id":"` + projectID + `","name":"Amina","max_participants":10,"empty_timeout":300,` +
				`"metadata":{"room_title":"Standup","welcome_message":"Good \u003cmorning\u003e"},"client_room_id":"standup-1"}`,
			want: &client.QuickRoom{RoomID: roomID, FinalLink: "https://meet.example.org/r/" + roomID +
				"#t=1", RequestID: "req_1"},
		},
		{
			name: "scheduled video, version 3",
			call: func(c *client.Client) (any, error) {
				return c.CreateScheduledVideoRoomV3(t.Context(), scheduledV3Room())
			},
			method: "POST", target: "/api/v3/rooms/create_schedule_video_room",
			body: `{"project_id":"` + projectID +
				`","start_at":"2027-01-31T09:30:00+01:00","max_participants":10,"empty_timeout":0,` +
				`"metadata":{"room_title":"Weekly","welcome_message":""}}`,
			want: &client.ScheduledRoom{
				RoomID:    roomID,
				Message:   "the room is scheduled",
				RoomType:  "video",
				StartTime: start9,
				RequestID: "req_1",
			},
		},
		{
			name: "scheduled audio, version 3",
			call: func(c *client.Client) (any, error) {
				return c.CreateScheduledAudioRoomV3(t.Context(), scheduledV3Room())
			},
			method: "POST", target: "/api/v3/rooms/create_schedule_audio_room",
			body: `{"project_id":"` + projectID +
				`","start_at":"2027-01-31T09:30:00+01:00","max_participants":10,"empty_timeout":0,` +
				`"metadata":{"room_title":"Weekly","welcome_message":""}}`,
			want: &client.ScheduledRoom{
				RoomID:    roomID,
				Message:   "the room is scheduled",
				RoomType:  "audio",
				StartTime: start9,
				RequestID: "req_1",
			},
		},
		{
			name: "scheduled video, nothing optional",
			call: func(c *client.Client) (any, error) {
				return c.CreateScheduledVideoRoom(t.Context(),
					scheduledRoom())
			},
			method: "POST", target: "/api/v4/rooms/create_schedule_video_room",
			body: `{"project_id":"` + projectID +
				`","start_at":"2027-01-31T09:30","max_participants":10,"empty_timeout":300,` +
				`"metadata":{"room_title":"Weekly","welcome_message":""}}`,
			want: &client.ScheduledRoom{
				RoomID:           roomID,
				Message:          "the room is scheduled",
				RoomType:         "video",
				StartTime:        start9,
				FinalLink:        "https://meet.example.org/r/" + roomID + "#t=1",
				FeaturesAdjusted: []string{"room_duration", "breakout_room_features.allowed_number_rooms"},
				IgnoredFields:    []string{"metadata.logout_url"},
				RequestID:        "req_1",
			},
		},
		{
			name:   "scheduled video, everything optional",
			call:   func(c *client.Client) (any, error) { return c.CreateScheduledVideoRoom(t.Context(), full) },
			method: "POST", target: "/api/v4/rooms/create_schedule_video_room",
			body: `{"project_id":"` + projectID +
				`","start_at":"2027-01-31T09:30","max_participants":10,"empty_timeout":300,` +
				`"metadata":{"room_title":"Weekly","welcome_message":"",` +
				`"room_features":{"room_duration":60,"breakout_room_features":{"allowed_number_rooms":4}}},` +
				`"name":"Amina","external_user_id":"4711","logout_url":"https://example.org/bye",` +
				`"webhook_url":"https://example.org/hook","client_room_id":"weekly-1"}`,
			idempotencyKey: "order 1",
			want: &client.ScheduledRoom{
				RoomID:           roomID,
				Message:          "the room is scheduled",
				RoomType:         "video",
				StartTime:        start9,
				ClientRoomID:     "weekly-1",
				FinalLink:        "https://meet.example.org/r/" + roomID + "#t=1",
				FeaturesAdjusted: []string{"room_duration", "breakout_room_features.allowed_number_rooms"},
				IgnoredFields:    []string{"metadata.logout_url"},
				RequestID:        "req_1",
			},
		},
		{
			name:   "project status",
			call:   func(c *client.Client) (any, error) { return c.UpdateProjectStatus(t.Context(), client.Inactive) },
			method: "PUT", target: "/api/v4/projects/update_project_status?project_id=" + projectID,
			body: `{"status":"inactive"}`,
			want: &client.ProjectStatusUpdate{Message: "the project is now inactive",
				Status: client.Inactive, RequestID: "req_1"},
		},
		{
			name: "join event",
			call: func(c *client.Client) (any, error) {
				return c.SendJoinEvent(t.Context(), client.JoinEvent{RoomID: roomID, Name: "Zoë"})
			},
			method: "POST", target: "/api/v4/webhook/get_room_events/" + roomID,
			body: `{"room_id":"` + roomID + `","user_info":{"name":"Zoë"}}`,
			want: &client.JoinEventAnswer{Joined: true, RequestID: "req_1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer()
			got, err := test.call(start(t, s, credentials, client.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			if scheduled, ok := got.(*client.ScheduledRoom); ok {
				if !scheduled.StartTime.Equal(start9) {
					t.Errorf("got the start time %s, want %s", scheduled.StartTime, start9)
				}
				scheduled.StartTime = start9
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got the response %+v, want %+v", got, test.want)
			}
			sent := s.requestsSeen()[0]
			if sent.method != test.method || sent.target != test.target || sent.body != test.body {
				t.Errorf("got the request %s %s\n%s, want %s %s\n%s", sent.method, sent.target, sent.body, test.method,
					test.target, test.body)
			}
			if key := sent.header.Get("Idempotency-Key"); key != test.idempotencyKey {
				t.Errorf("got the Idempotency-Key %q, want %q", key, test.idempotencyKey)
			}
			for _, secret := range []string{"api-key", "key", "secret-key", "timestamp"} {
				if sent.header.Get(secret) != "" {
					t.Errorf("got the header %s, want none", secret)
				}
			}
		})
	}
}

// TestUpdateProjectStatus_SignedWithProjectSecret checks that the project secret
// is preferred, because a project can require it.
func TestUpdateProjectStatus_SignedWithProjectSecret(t *testing.T) {
	s := newServer()
	if _, err := start(t, s, credentials, client.Options{}).UpdateProjectStatus(t.Context(),
		client.Active); err != nil {
		t.Fatal(err)
	}
	if sent := s.requestsSeen()[0]; !sign.VerifyLegacy(projectSecret, []byte(sent.body),
		sent.header.Get("hash-signature")) {
		t.Errorf("got the signature %q of %s, want that of the project secret",
			sent.header.Get("hash-signature"), sent.body)
	}
}

func TestClient_SignsWithAPIKeyWithoutProjectSecret(t *testing.T) {
	only := client.Credentials{ProjectID: projectID, APIKey: apiKey}
	c := start(t, newServer(), only, client.Options{})
	if _, err := c.CreateQuickAudioRoom(t.Context(), quickRoom()); err != nil {
		t.Error(err)
	}
	if _, err := c.UpdateProjectStatus(t.Context(), client.Active); err != nil {
		t.Error(err)
	}
}

func TestIdempotencyKey_Invalid(t *testing.T) {
	s := newServer()
	c := start(t, s, credentials, client.Options{})
	for _, key := range []string{"a\nb", "é", string(make([]byte, 256))} {
		room := quickRoom()
		room.IdempotencyKey = key
		if _, err := c.CreateQuickAudioRoom(t.Context(), room); err == nil {
			t.Errorf("the key %q: got no error, want one", key)
		}
	}
	if n := len(s.requestsSeen()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

func TestSendJoinEvent_EscapesRoomID(t *testing.T) {
	s := newServer()
	c := start(t, s, credentials, client.Options{})
	_, err := c.SendJoinEvent(t.Context(), client.JoinEvent{RoomID: "a/../b?c", Name: "Zoë"})
	if !errors.Is(err, client.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound", err)
	}
	if target := s.requestsSeen()[0].target; target != "/api/v4/webhook/get_room_events/a%2F..%2Fb%3Fc" {
		t.Errorf("got the target %s, want the id escaped", target)
	}
	if _, err := c.SendJoinEvent(t.Context(), client.JoinEvent{Name: "Zoë"}); err == nil || len(s.requestsSeen()) != 1 {
		t.Errorf("an event without a room: got error %v, want one before anything is sent", err)
	}
}

func TestLocalTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		instant time.Time
		want    string
	}{
		{"seconds are cut off", at("2027-01-31T08:30:59Z"), "2027-01-31T09:30"},
		{"the first time of the repeated hour", at("2027-10-31T00:30:00Z"), "2027-10-31T02:30"},
		{"the second time of the repeated hour", at("2027-10-31T01:30:00Z"), "2027-10-31T02:30"},
		{"before the skipped hour", at("2027-03-28T00:59:00Z"), "2027-03-28T01:59"},
		{"after the skipped hour", at("2027-03-28T01:00:00Z"), "2027-03-28T03:00"},
	} {
		if got := client.LocalTime(test.instant, berlin); got != test.want {
			t.Errorf("%s: LocalTime(%s): got %s, want %s", test.name, test.instant, got, test.want)
		}
	}
}

// TestCreateScheduledVideoRoomV3_InvalidYear checks that a year that RFC 3339
// cannot represent is refused before anything is sent.
func TestCreateScheduledVideoRoomV3_InvalidYear(t *testing.T) {
	s := newServer()
	room := scheduledV3Room()
	room.StartAt = time.Date(12027, 1, 31, 9, 30, 0, 0, time.UTC)
	_, err := start(t, s, credentials, client.Options{}).CreateScheduledVideoRoomV3(t.Context(), room)
	if !errors.Is(err, client.ErrInvalidArgument) || len(s.requestsSeen()) != 0 {
		t.Errorf("got %d requests, error %v, want none and ErrInvalidArgument", len(s.requestsSeen()), err)
	}
}
