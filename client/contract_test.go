package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/client"
	"parley/internal/api/apitest"
	"parley/internal/event"
)

// TestRoomEventData_HasEveryField decodes the data of an event with all fields.
func TestRoomEventData_HasEveryField(t *testing.T) {
	at := time.Date(2027, 1, 31, 8, 30, 0, 0, time.UTC)
	sent := event.Data{
		RoomID:       "r",
		ClientRoomID: "c",
		SessionID:    "r.1",
		RoomType:     "video",
		StartAt:      &at,
		EndReason:    "host",
		Participant: &event.Participant{
			Identity:   "i",
			Name:       "n",
			Role:       "guest",
			Session:    "r.1",
			Connection: "x",
			JoinedAt:   at,
			Reason:     "left",
		},
		Mark:       &event.AttendanceMark{Name: "n", Source: event.SourceExternal},
		FailedJoin: &event.FailedJoin{Name: "n", Code: "room_full"},
		Feedback:   &event.Feedback{Identity: "i", Name: "n", Role: "guest", Rating: "good"},
	}
	assertComplete(t, reflect.ValueOf(sent))
	encoded, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got client.RoomEventData
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(encoded), string(again)); diff != "" {
		t.Errorf("data of an event (-want +got):\n%s", diff)
	}
}

// assertComplete fails unless each field of a struct, and of those in it, has a value.
func assertComplete(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		field := v.Field(i)
		if field.IsZero() {
			t.Errorf("%s.%s: got the zero value, want any other, so that the test covers it", v.Type(), v.Type().Field(i).Name)
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
			assertComplete(t, field)
		}
	}
}

// TestClient_MatchesDescriptions checks requests and the test server's answers
// against the published OpenAPI descriptions.
func TestClient_MatchesDescriptions(t *testing.T) {
	s := newServer()
	s.calls = calls(3)
	checkers := map[string]*apitest.Checker{}
	for _, version := range []string{"v3", "v4", "v5"} {
		description, err := os.ReadFile("../internal/api/" + version + "/openapi.yaml")
		if err != nil {
			t.Fatal(err)
		}
		checkers[version] = apitest.New(t, description, s)
	}
	checked := roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		version := strings.Split(r.URL.Path, "/")[2]
		return checkers[version].Do(t, r.Method, r.URL.RequestURI(), r.Header, body), nil
	})
	c := connect(t, "https://parley.test", credentials, client.Options{MaxAttempts: 1,
		HTTPClient: &http.Client{Transport: checked}})

	full := scheduledRoom()
	full.Name, full.ExternalUserID, full.ClientRoomID, full.IdempotencyKey = "Amina", "4711", "weekly-1", "order-1"
	full.LogoutURL, full.WebhookURL = "https://example.org/bye", "https://example.org/hook"
	full.Metadata.RoomFeatures = &client.RoomFeatures{RoomDuration: 60, BreakoutRooms: &client.BreakoutRoomFeatures{}}
	for name, call := range map[string]func() error{
		"quick audio": func() error { return create(withIdempotencyKey(quickRoom()))(t.Context(), c) },
		"scheduled video v3": func() error {
			_, err := c.CreateScheduledVideoRoomV3(t.Context(),
				scheduledV3Room())
			return err
		},
		"scheduled audio v3": func() error {
			_, err := c.CreateScheduledAudioRoomV3(t.Context(),
				scheduledV3Room())
			return err
		},
		"scheduled video": func() error { _, err := c.CreateScheduledVideoRoom(t.Context(), full); return err },
		"project status":  func() error { return status(t.Context(), c) },
		"join event":      func() error { return joinEvent(t.Context(), c) },
		"keys":            func() error { return keys(t.Context(), c) },
		"usage":           func() error { _, err := c.Usage(t.Context()); return err },
		"limits":          func() error { _, err := c.Limits(t.Context()); return err },
		"openapi":         func() error { _, err := c.OpenAPI(t.Context()); return err },
		"requests": func() error {
			_, err := c.Requests(t.Context(), client.RequestsQuery{Limit: 2, Cursor: "a/b+c=&1"})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Errorf("call %s: got error %v, want none", name, err)
		}
	}
	for name, call := range meetingCalls(t.Context(), c) {
		if _, err := call(); err != nil {
			t.Errorf("call %s: got error %v, want none", name, err)
		}
	}
	s.respondWith(errorResponse(401, "invalid signature", "WWW-Authenticate", "Signature"))
	if err := status(t.Context(), c); !client.IsUnauthorized(err) {
		t.Errorf("response 401: got error %v, want one for which IsUnauthorized is true", err)
	}
	s.respondWith(errorResponseV5(429, client.CodeRateLimited, "too many calls, try again later", "Retry-After", "1"))
	if err := keys(t.Context(), c); !client.IsRateLimited(err) {
		t.Errorf("response 429: got error %v, want one for which IsRateLimited is true", err)
	}
}
