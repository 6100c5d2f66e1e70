package app

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/api/manage"
	"parley/internal/config"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/testkit"
)

// legacyCall is a request of a client that was made for another server of this API family. The
// request goes out exactly as such clients send it.
type legacyCall struct {
	name string
	// method, target and body are those of the client; ROOM, SCHEDULED and PROJECT are replaced.
	method, target, body string
	status               int
	// fields are paths of the response that the client reads with a fixed type: s for text, b for
	// a boolean, i for an integer, l for a list, t for a time, o for an object.
	fields string
}

// dartCalls are the calls of a client of version 3. It sends its API key in the header key and no
// signature, a Content-Type with GET, and reads the message of an error in the field message.
var dartCalls = []legacyCall{
	{"create a quick audio room", "POST", "/api/v3/rooms/create_quick_audio_room",
		`{"project_id":"PROJECT","name":"Amina","moderator_id":"m1","max_participants":10,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":"Hi"}}`,
		200, "status:b final_link:s room_id:s"},
	{"create a quick video room", "POST", "/api/v3/rooms/create_quick_video_room",
		`{"project_id":"PROJECT","name":"Amina","client_room_id":"c1","moderator_id":"m1","max_participants":10,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":"Hi"}}`,
		200, "status:b final_link:s room_id:s"},
	{"create a scheduled audio room", "POST", "/api/v3/rooms/create_schedule_audio_room",
		`{"project_id":"PROJECT","name":"Amina","moderator_id":"m1","max_participants":10,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":"Hi"},"start_at":"TOMORROW"}`,
		200, "status:b room_id:s message:s room_type:s start_time:t"},
	{"create a scheduled video room", "POST", "/api/v3/rooms/create_schedule_video_room",
		`{"project_id":"PROJECT","name":"Amina","moderator_id":"m1","max_participants":10,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":"Hi"},"start_at":"TOMORROW"}`,
		200, "status:b room_id:s message:s room_type:s start_time:t"},
	{"status of a scheduled room", "GET", "/api/v3/rooms/room_status?room_id=SCHEDULED", "", 200, "status:b message:s"},
	{"a scheduled room is not active", "GET", "/api/v3/rooms/get_active_room_info?room_id=SCHEDULED", "", 404, "message:s"},
	{"start a scheduled room", "POST", "/api/v3/rooms/start_schedule_room", `{"room_id":"SCHEDULED","name":"Amina"}`,
		200, "status:b final_link:s room_id:s"},
	{"join a room", "POST", "/api/v3/rooms/join_room",
		`{"room_id":"ROOM","user_info":{"name":"Bela","is_admin":false,"is_hidden":false,"client_user_id":"u1"}}`,
		200, "status:b final_link:s"},
	{"create an invitation", "POST", "/api/v3/rooms/create_invitation_link", `{"room_id":"ROOM","user_id":"u2","role":"viewer"}`,
		200, "status:b invitation_link:s"},
	{"active room", "GET", "/api/v3/rooms/get_active_room_info?room_id=ROOM", "",
		200, "status:b msg:s result.room_info:o result.participants_info:l"},
	{"active rooms", "GET", "/api/v3/rooms/get_active_rooms_info", "", 200, "response.status:b response.msg:s response.rooms:l"},
	{"end a room", "POST", "/api/v3/rooms/end_room", `{"room_id":"ROOM"}`, 200, "status:b msg:s"},
	{"past rooms", "POST", "/api/v3/rooms/fetch_past_rooms", `{"room_ids":["ROOM"],"from":0,"limit":20,"order_by":"DESC"}`,
		200, "status:b rooms.from:i rooms.limit:i rooms.order_by:s rooms.total_rooms:s rooms.rooms_list:l"},
	{"recordings", "GET", "/api/v3/recordings/get_record?room_id=ROOM", "", 200, "status:b data:l"},
	{"analytics", "GET", "/api/v3/analytics/get_analytics?room_id=ROOM", "", 200, "participant_durations:o"},
	{"an error of a creation", "POST", "/api/v3/rooms/create_quick_audio_room",
		`{"project_id":"PROJECT","name":"Amina","moderator_id":"m1","max_participants":0,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":"Hi"}}`,
		400, "message:s error:s"},
	{"recordings of an unknown room", "GET", "/api/v3/recordings/get_record?room_id=01999999-0000-7000-8000-000000000000", "",
		404, "message:s"},
}

// scriptCalls are the calls of a client of version 4. It sends its API key in the header key, and signs
// the body, or path and query of GET, with the project secret, without a time.
var scriptCalls = []legacyCall{
	{"create a scheduled video room", "POST", "/api/v4/rooms/create_schedule_video_room",
		`{"project_id":"PROJECT","client_room_id":"lms-1","name":"Lesson","start_at":"TOMORROW","empty_timeout":3600,"max_participants":100,"metadata":{"room_title":"Lesson","welcome_message":"Welcome to your live session."}}`,
		200, "room_id:s final_link:s"},
	{"create a host's invitation", "POST", "/api/v4/rooms/create_invitation_link",
		`{"room_id":"SCHEDULED","user_id":"lms-1-host","role":"admin"}`, 200, "invitation_link:s invitation_url:s"},
	{"create a guest's invitation", "POST", "/api/v4/rooms/create_invitation_link",
		`{"room_id":"SCHEDULED","user_id":"lms-1-guest","role":"viewer"}`, 200, "invitation_link:s invitation_url:s"},
	{"a scheduled room is not active", "GET", "/api/v4/rooms/get_active_room_info?room_id=SCHEDULED", "", 404, "error:s"},
	{"start a scheduled room", "POST", "/api/v4/rooms/start_schedule_room", `{"room_id":"SCHEDULED","name":"Lesson"}`,
		200, "final_link:s"},
	{"active room", "GET", "/api/v4/rooms/get_active_room_info?room_id=SCHEDULED", "", 200, "result:o"},
	{"recordings", "GET", "/api/v4/recordings/get_record?room_id=SCHEDULED", "", 200, "data:l"},
	{"end a room", "POST", "/api/v4/rooms/end_room", `{"room_id":"SCHEDULED"}`, 200, "status:b"},
}

// TestLegacyClients_Work replays the calls of unchanged clients against a server with
// --legacy-clients, and checks that each response has what the client reads.
func TestLegacyClients_Work(t *testing.T) {
	s := startServer(t, func(cfg *config.Config) { cfg.LegacyClients = true })
	t.Run("version 3", func(t *testing.T) {
		s.replay(t, dartCalls, func(legacyCall, string) string {
			return "user-agent: Dart/3.5 (dart:io)\r\ncontent-type: application/json\r\naccept-encoding: gzip\r\nkey: " +
				s.APIKey + "\r\nsecret-key: " + s.ProjectSecret + "\r\n"
		})
	})
	t.Run("version 4", func(t *testing.T) {
		s.replay(t, scriptCalls, func(call legacyCall, message string) string {
			mac := hmac.New(sha256.New, []byte(s.ProjectSecret))
			mac.Write([]byte(message))
			header := "accept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\nkey: " + s.APIKey +
				"\r\nhash-signature: " + base64.StdEncoding.EncodeToString(mac.Sum(nil)) + "\r\n"
			if call.method == http.MethodPost {
				header += "Content-Type: application/json\r\n"
			}
			return header
		})
	})
	for _, secret := range []string{s.ProjectSecret, s.APIKey} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("log: got a credential that a client sent in a header, want none")
		}
	}
}

// replay sends calls over a plain connection. headers returns those of the client, for the message that
// it signs.
func (s *server) replay(t *testing.T, calls []legacyCall, headers func(call legacyCall, message string) string) {
	t.Helper()
	tomorrow := time.Now().UTC().Add(24 * time.Hour).Format("2006-01-02T15:04")
	known := map[string]string{"PROJECT": s.ProjectID, "TOMORROW": tomorrow}
	for _, call := range calls {
		for name, value := range known {
			call.target = strings.ReplaceAll(call.target, name, value)
			call.body = strings.ReplaceAll(call.body, name, value)
		}
		message := call.body
		if call.method == http.MethodGet {
			message = call.target
		}
		status, fields := s.sendRaw(t, fmt.Sprintf("%s %s HTTP/1.1\r\nhost: %s\r\n%scontent-length: %d\r\n\r\n%s", call.method,
			call.target, s.app.Listener.Addr(), headers(call, message), len(call.body), call.body))
		if status != call.status {
			t.Errorf("%s: got status %d with %v, want %d", call.name, status, fields, call.status)
		}
		for field := range strings.FieldsSeq(call.fields) {
			path, kind, _ := strings.Cut(field, ":")
			if value := lookUp(fields, path); kindOf(value) != kind && (kind != "s" || kindOf(value) != "t") {
				t.Errorf("%s: got %s %v, want a value of the kind %s; the response is %v", call.name, path, value, kind, fields)
			}
		}
		if id, isText := fields["room_id"].(string); isText && strings.Contains(call.target, "create_quick_audio") {
			known["ROOM"] = id
		} else if isText && strings.Contains(call.target, "create_schedule_video") {
			known["SCHEDULED"] = id
		}
	}
}

// sendRaw sends a request as it is, and returns the status and the JSON of the response.
func (s *server) sendRaw(t *testing.T, request string) (status int, fields map[string]any) {
	t.Helper()
	conn, err := net.Dial("tcp", s.app.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&fields); err != nil {
		t.Fatalf("response to %q: %v", request, err)
	}
	return response.StatusCode, fields
}

func lookUp(fields map[string]any, path string) any {
	var value any = fields
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// kindOf returns the letter of legacyCall.fields for a value of JSON.
func kindOf(value any) string {
	switch value := value.(type) {
	case bool:
		return "b"
	case float64:
		if value == float64(int64(value)) {
			return "i"
		}
	case []any:
		return "l"
	case map[string]any:
		return "o"
	case string:
		if _, err := time.Parse(time.RFC3339, value); err == nil {
			return "t"
		}
		return "s"
	}
	return ""
}

// TestLegacyClients_NeedTheSwitch sends calls that only --legacy-clients allows.
func TestLegacyClients_NeedTheSwitch(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(10, 300)
	for _, test := range []struct {
		name, target string
		status       int
	}{
		{"a key without a signature", "/api/v3/rooms/room_status?room_id=" + id, http.StatusUnauthorized},
		{"recordings", "/api/v3/recordings/get_record?room_id=" + id, http.StatusNotFound},
	} {
		status, fields := s.sendRaw(t, "GET "+test.target+" HTTP/1.1\r\nhost: x\r\nkey: "+s.APIKey+"\r\n\r\n")
		if status != test.status {
			t.Errorf("%s: got status %d with %v, want %d", test.name, status, fields, test.status)
		}
	}
}

// TestLegacyClients_OtherKeysRefused sends calls that even --legacy-clients refuses.
func TestLegacyClients_OtherKeysRefused(t *testing.T) {
	s := startServer(t, func(cfg *config.Config) { cfg.LegacyClients = true })
	id, _ := s.createRoom(10, 300)
	target := "/api/v3/rooms/room_status?room_id=" + id
	for _, test := range []struct{ name, target, headers string }{
		{"no key", target, ""},
		{"an unknown key", target, "key: pk_0000TestKeyDoNotUse00000000000\r\n"},
		{"two keys, one of them unknown", target, "api-key: " + s.APIKey + "\r\nkey: pk_0000TestKeyDoNotUse00000000000\r\n"},
		{"a key and a wrong signature", target, "key: " + s.APIKey + "\r\nhash-signature: AAAA\r\n"},
		{"version 4 without a signature", strings.Replace(target, "v3", "v4", 1), "key: " + s.APIKey + "\r\n"},
	} {
		status, fields := s.sendRaw(t, "GET "+test.target+" HTTP/1.1\r\nhost: x\r\n"+test.headers+"\r\n")
		if status != http.StatusUnauthorized {
			t.Errorf("%s: got status %d with %v, want 401", test.name, status, fields)
		}
	}
	withKey := "GET " + target + " HTTP/1.1\r\nhost: x\r\nkey: " + s.APIKey + "\r\n\r\n"
	if status, fields := s.sendRaw(t, withKey); status != http.StatusOK {
		t.Errorf("the key of the project: got status %d with %v, want 200", status, fields)
	}
	err := s.app.projects.Configure(t.Context(), s.ProjectID, project.Settings{RequireSecretSignatures: true})
	if err != nil {
		t.Fatal(err)
	}
	if status, fields := s.sendRaw(t, withKey); status != http.StatusUnauthorized {
		t.Errorf("a project that requires signatures with its secret: got status %d with %v, want 401", status, fields)
	}
	testkit.Eventually(t, "the operator sees the reason", func() bool {
		return slices.ContainsFunc(s.calls("limit=100&project_id="+s.ProjectID), func(c manage.Call) bool {
			return c.Hint == requestlog.HintUnsigned
		})
	})
}
