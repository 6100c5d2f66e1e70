package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley.example/client/sign"
)

const activeRoomJSON = `{"room_info":{"room_id":"` + roomID + `","room_title":"Standup","sid":"` + roomID + `.1","joined_participants":"1","is_running":1,
	"is_recording":0,"is_active_rtmp":0,"is_breakout_room":0,"parent_room_id":"","creation_time":"1800000000","metadata":"{}","webhook_url":""},
	"participants_info":[{"identity":"4712","name":"Bela","sid":"PA_1","state":"ACTIVE","joined_at":"1800000060","is_publisher":true,
	"metadata":{"role":"guest","is_admin":false,"breakout_room":2},
	"permission":{"can_subscribe":true,"can_publish_microphone":true,"can_publish_camera":true,"can_publish_screen_share":true,"can_chat":true}}]}`

const analyticsAnswer = `{"status":true,"msg":"success","room_id":"` + roomID + `","as_of":"2026-11-21T10:00:00.5Z","participant_durations":{"4712":90.007},"total_duration":90.007,
	"participants":[{"identity":"4712","name":"Bela","role":"guest","joined_at":"2026-11-21T09:00:00Z","left_at":"2026-11-21T09:01:30.007Z","duration":90.007,"connections":1}],
	"reported":[{"name":"Chen","at":"2026-11-21T09:00:30Z","source":"external"}]}`

func listedRoomJSON(id string) string {
	return `{"room_id":"` + id +
		`","room_type":"video","state":"ended","end_reason":"api","room_title":"Standup","joined_participants":0,"max_participants":10,"created_at":"2026-11-21T09:00:00Z"}`
}

const anotherID = "0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f72"

func eventJSON(sequence int, kind, more string) string {
	return fmt.Sprintf(
		`{"id":"`+anotherID+`","type":"%s","timestamp":"2026-11-21T09:00:00.250Z","sequence":%d,"previous":%d,"project_id":"`+projectID+
			`","data":{"room_id":"`+roomID+`","session_id":"`+roomID+`.1","room_type":"video"%s}}`, kind, sequence, sequence-1, more)
}

// eventsJSON responds with two pages of events.
func eventsJSON(after string) string {
	if after == "0" {
		return `{"events":[` + eventJSON(1, "room.started", "") + `],"next_after":1,"has_more":true}`
	}
	const who = `,"participant":{"identity":"4712","name":"Bela","role":"guest","session_id":"` + roomID +
		`.1","connection_id":"PA_1","joined_at":"2026-11-21T09:00:00Z"}`
	return `{"events":[` + eventJSON(2, "participant.joined", who) + `],"next_after":2,"has_more":false}`
}

// serveMeetings answers the companion calls if they are signed.
func (s *server) serveMeetings(w http.ResponseWriter, r *http.Request, now time.Time, body []byte) {
	h := r.Header
	timestamp := h.Get("timestamp")
	fresh := sign.CheckTimestamp(timestamp, now, s.skew).Freshness == sign.Fresh
	if h.Get("api-key") != apiKey || !fresh || !sign.VerifyV5(gatewaySecret, r.Method, r.RequestURI, timestamp,
		h.Get("Idempotency-Key"), body, h.Get("hash-signature")) {
		errorResponse(401, "invalid signature")(w, r)
		return
	}
	const link = `"https://meet.example.org/r/` + roomID + `#t=2"`
	answer := map[string]string{
		"start_schedule_room":    `{"status":true,"final_link":` + link + `,"room_id":"` + roomID + `"}`,
		"join_room":              `{"status":true,"final_link":` + link + `}`,
		"create_invitation_link": `{"status":true,"invitation_link":` + link + `,"invitation_url":` + link + `}`,
		"end_room":               `{"status":true,"msg":"the room is over"}`,
		"room_status":            `{"status":true,"message":"the room is active"}`,
		"get_active_room_info":   `{"status":true,"msg":"success","result":` + activeRoomJSON + `}`,
		"get_active_rooms_info":  `{"response":{"status":true,"msg":"success","rooms":[` + activeRoomJSON + `]}}`,
		"fetch_past_rooms": `{"status":true,"rooms":{"from":0,"limit":20,"order_by":"DESC","total_rooms":"1","rooms_list":[{"room_id":"` + roomID + `","room_sid":"` + roomID +
			`.1","room_title":"Standup","created":"2026-11-21T09:00:00Z","ended":"2026-11-21T10:00:00Z","joined_participants":"3","analytics_file_id":"","webhook_url":""}]}}`,
		"list_rooms":    `{"rooms":[` + listedRoomJSON(roomID) + `],"next_cursor":"` + roomID + `"}`,
		"get_analytics": analyticsAnswer,
		"events":        eventsJSON(r.URL.Query().Get("after")),
		"reschedule_room": `{"status":true,"message":"the room is scheduled","room_type":"video","start_time":"2027-01-31T09:30:00+01:00","room_id":"` + roomID +
			`","final_link":` + link + `}`,
	}[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
	switch {
	case r.URL.Query().Get("cursor") != "":
		answer = `{"rooms":[` + listedRoomJSON(anotherID) + `]}`
	case strings.HasSuffix(r.URL.Path, "/export_attendance"):
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="a.csv"`)
		answer = "room_id,session\r\n"
	case r.Method == http.MethodGet && strings.Contains(r.URL.String(), anotherID):
		errorResponse(404, "there is no such room")(w, r)
		return
	}
	fmt.Fprint(w, answer)
}

// meetingCalls are all companion calls, with their results.
func meetingCalls(ctx context.Context, c *client.Client) map[string]func() (any, error) {
	return map[string]func() (any, error){
		"start_schedule_room": func() (any, error) {
			return c.StartScheduledRoom(ctx, client.StartRoomRequest{RoomID: roomID, Name: "Amina",
				ExternalUserID: "4711", IdempotencyKey: "start 1"})
		},
		"join_room": func() (any, error) {
			return c.JoinRoom(ctx, client.JoinRoomRequest{RoomID: roomID, Person: client.Person{Name: "Bela",
				ClientUserID: "4712", IsAdmin: true, IsHidden: true}, ExpiresIn: 60, IdempotencyKey: "join 1"})
		},
		"create_invitation_link": func() (any, error) {
			return c.CreateInvitationLink(ctx, client.InvitationRequest{RoomID: roomID,
				Role: client.Viewer, UserID: "4712"})
		},
		"end_room": func() (any, error) { return nil, c.EndRoom(ctx, roomID) },
		"room_status": func() (any, error) {
			open, message, err := c.RoomStatus(ctx, roomID)
			return []any{open, message}, err
		},
		"get_active_room_info":  func() (any, error) { return c.ActiveRoom(ctx, roomID) },
		"get_active_rooms_info": func() (any, error) { return c.ActiveRooms(ctx) },
		"fetch_past_rooms": func() (any, error) {
			return c.PastRooms(ctx, client.PastRoomsRequest{RoomIDs: []string{roomID}, Limit: 5, OrderBy: "ASC"})
		},
		"list_rooms": func() (any, error) {
			var ids []string
			for room, err := range c.Rooms(ctx, "ended") {
				if err != nil {
					return nil, err
				}
				ids = append(ids, room.RoomID)
			}
			return ids, nil
		},
		"events": func() (any, error) {
			var kinds []string
			for event, err := range c.RoomEvents(ctx, roomID, 0) {
				if err != nil {
					return nil, err
				}
				kinds = append(kinds, event.Type)
			}
			return kinds, nil
		},
		"reschedule_room": func() (any, error) {
			timeout, duration := 0, 60
			return c.RescheduleRoom(ctx, client.RescheduleRequest{RoomID: roomID,
				StartAt: "2027-01-31T09:30", EmptyTimeout: &timeout,
				Metadata: &client.RescheduleMetadata{RoomTitle: "Later",
					RoomFeatures: &client.RescheduleFeatures{RoomDuration: &duration}}})
		},
		"get_analytics": func() (any, error) { return c.Analytics(ctx, roomID) },
		"export_attendance": func() (any, error) {
			csv, err := c.ExportAttendance(ctx, roomID)
			return string(csv), err
		},
		"create_quick_video_room": func() (any, error) { return c.CreateQuickVideoRoom(ctx, quickRoom()) },
		"create_schedule_audio":   func() (any, error) { return c.CreateScheduledAudioRoom(ctx, scheduledRoom()) },
	}
}

func TestMeetings_AllCalls(t *testing.T) {
	s := newServer()
	c := start(t, s, credentials, client.Options{})
	got := map[string]any{}
	for name, call := range meetingCalls(t.Context(), c) {
		answer, err := call()
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		}
		got[name] = answer
	}
	const link = "https://meet.example.org/r/" + roomID + "#t=2"
	for name, want := range map[string]any{
		"join_room": link, "create_invitation_link": link, "list_rooms": []string{roomID,
			anotherID}, "events": []string{
			"room.started", "participant.joined"}, "export_attendance": "room_id,session\r\n",
		"room_status": []any{true, "the room is active"},
	} {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s: got %+v, want %+v", name, got[name], want)
		}
	}
	active := got["get_active_room_info"].(*client.ActiveRoom)
	if active.Info.JoinedParticipants != 1 || active.Info.CreationTime != 1800000000 ||
		active.Participants[0].JoinedAt != 1800000060 || active.Participants[0].Metadata.BreakoutRoom != 2 {
		t.Errorf("active room: got %+v, want the values of activeRoomJSON", active)
	}
	if past := got["fetch_past_rooms"].(*client.PastRooms); past.Total != 1 || past.Rooms[0].JoinedParticipants != 3 ||
		past.Rooms[0].Ended.Hour() != 10 {
		t.Errorf("past rooms: got %+v, want one that ended at 10 with 3 participants", past)
	}
	if found := got["get_analytics"].(*client.Analytics); found.Durations["4712"] != 90.007 ||
		found.Participants[0].LeftAt.Nanosecond() != 7e6 || found.Reported[0].Name != "Chen" {
		t.Errorf("analytics: got %+v, want the values of analyticsAnswer", found)
	}
	if _, err := c.ActiveRoom(t.Context(), anotherID); !client.IsNotFound(err) {
		t.Errorf("a room of another project: got error %v, want NotFound", err)
	}
	for _, err := range c.RoomEvents(t.Context(), anotherID, 7) {
		if !client.IsNotFound(err) {
			t.Errorf("the events of a room of another project: got error %v, want NotFound", err)
		}
	}
	s.respondWith(reply(200, `{"events":[],"next_after":3,"has_more":true}`))
	for _, err := range c.RoomEvents(t.Context(), roomID, 3) {
		if !errors.Is(err, client.ErrUnexpectedResponse) {
			t.Errorf("a page that does not advance: got error %v, want ErrUnexpectedResponse", err)
		}
	}
	for _, missing := range []client.Credentials{{ProjectID: projectID, ProjectSecret: projectSecret, APIKey: apiKey},
		{ProjectSecret: projectSecret, GatewaySecret: gatewaySecret}} {
		c := start(t, s, missing, client.Options{})
		if err := c.EndRoom(t.Context(), roomID); !errors.Is(err, client.ErrMissingCredential) {
			t.Errorf("without a credential: got error %v, want ErrMissingCredential", err)
		}
	}
}

// TestMeetings_RetriedWhenSafe checks that link creations are repeated only with
// an idempotency key, and that ending a room is never repeated, because the
// second call would be refused.
func TestMeetings_RetriedWhenSafe(t *testing.T) {
	for name, want := range map[string]int{"join_room": 2, "create_invitation_link": 1, "end_room": 1,
		"fetch_past_rooms": 2, "get_analytics": 2, "events": 3} {
		s := newServer()
		c := start(t, s, credentials, client.Options{})
		s.respondWith(dropConnection)
		_, err := meetingCalls(t.Context(), c)[name]()
		if sent := len(s.requestsSeen()); sent != want || (err == nil) != (want > 1) {
			t.Errorf("%s: got %d requests, error %v, want %d requests", name, sent, err, want)
		}
	}
}

// This example runs a meeting from a backend: a room, a link for each person,
// the active room, its end, and the attendance.
func Example_meeting() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	room, err := parley.CreateQuickVideoRoom(ctx, client.QuickRoomRequest{Name: "Amina", MaxParticipants: 10,
		Metadata: client.Metadata{RoomTitle: "Standup"}})
	if err != nil {
		log.Fatal(err)
	}
	link, err := parley.JoinRoom(ctx, client.JoinRoomRequest{RoomID: room.RoomID,
		Person: client.Person{Name: "Bela", ClientUserID: "4712"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("for Bela:", link)
	open, message, err := parley.RoomStatus(ctx, room.RoomID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(open, message)
	if err := parley.EndRoom(ctx, room.RoomID); err != nil {
		log.Fatal(err)
	}
	found, err := parley.Analytics(ctx, room.RoomID)
	if err != nil {
		log.Fatal(err)
	}
	for _, person := range found.Participants {
		fmt.Println(person.Name, "was there for", time.Duration(person.Duration*float64(time.Second)))
	}
	// Output:
	// for Bela: https://meet.example.org/r/0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71#t=2
	// true the room is active
	// Bela was there for 1m30.007s
}

// This example reads events without webhooks, or after missing some. Keep the
// last Sequence for the next call.
func ExampleClient_RoomEvents() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	seen := int64(0)
	for event, err := range parley.RoomEvents(context.Background(), roomID, seen) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Sequence, event.Type)
		if who := event.Data.Participant; who != nil {
			fmt.Println(who.Name, "is", who.Identity)
		}
		seen = event.Sequence
	}
	fmt.Println("go on after", seen)
	// Output:
	// 1 room.started
	// 2 participant.joined
	// Bela is 4712
	// go on after 2
}

func ExampleClient_Rooms() {
	baseURL, stop := exampleServer(newServer())
	defer stop()
	parley, err := client.New(baseURL, credentials, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for room, err := range parley.Rooms(context.Background(), "ended") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(room.Title, room.State, room.EndReason)
	}
	// Output:
	// Standup ended api
	// Standup ended api
}
