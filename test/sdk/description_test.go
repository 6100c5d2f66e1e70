package sdk

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley.example/client"
	"parley/internal/api/apitest"
	"parley/internal/event"
)

// TestExchanges_MatchDescriptions checks the requests and the successful responses of the table
// against the descriptions of the API, so that the SDKs are tested with what the server does.
func TestExchanges_MatchDescriptions(t *testing.T) {
	var script http.Handler
	current := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { script.ServeHTTP(w, r) })
	checkers := map[string]*apitest.Checker{}
	for _, version := range []string{"v3", "v4", "v5"} {
		description, err := os.ReadFile("../../internal/api/" + version + "/openapi.yaml")
		if err != nil {
			t.Fatal(err)
		}
		checkers[version] = apitest.New(t, description, current)
	}
	_, exchanges := readExchanges(t)
	checked := map[string]bool{}
	for _, e := range exchanges {
		// Today's description has no response of a newer server and none of a proxy.
		if e.Result == nil || e.Operation == "openapi" || e.Name == "room-events-of-an-unknown-type" ||
			slices.ContainsFunc(e.Responses, func(r scriptedResponse) bool { return r.Status != http.StatusOK || r.Cut }) {
			continue
		}
		script = &scriptedServer{exchange: e}
		for _, request := range e.Requests {
			var body []byte
			if request.JSON != nil {
				encoded, err := json.Marshal(request.JSON)
				if err != nil {
					t.Fatal(err)
				}
				body = encoded
			}
			header := http.Header{"Hash-Signature": {strings.Repeat("0", 64)}}
			if request.Signature == "project_secret" || request.Signature == "api_key" {
				header.Set("hash-signature", strings.Repeat("A", 43)+"=")
			}
			if request.Signature == "gateway" {
				header.Set("api-key", "pk_0")
				header.Set("timestamp", "1767225600")
			}
			if body != nil {
				header.Set("Content-Type", "application/json")
			}
			if request.IdempotencyKey != "" {
				header.Set("Idempotency-Key", request.IdempotencyKey)
			}
			version := strings.Split(request.Target, "/")[2]
			_ = checkers[version].Do(t, request.Method, request.Target, header, body).Body.Close()
		}
		checked[e.Operation] = true
	}
	if len(checked) < 24 {
		t.Errorf("got checked exchanges of %d operations, want at least 24", len(checked))
	}
}

// TestGoSDK_HasEveryFieldOfEvents decodes the data of events that have all fields.
func TestGoSDK_HasEveryFieldOfEvents(t *testing.T) {
	at := time.Date(2027, 1, 31, 8, 30, 0, 0, time.UTC)
	suspended := true
	for _, sent := range []any{
		event.Data{
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
		},
		event.ProjectData{Status: "active", Suspended: &suspended, Credential: "api_key", OverlapEndsAt: &at},
	} {
		assertComplete(t, reflect.ValueOf(sent))
		encoded, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.DisallowUnknownFields()
		var got client.RoomEventData
		if err := decoder.Decode(&got); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var want, have map[string]any
		if err := json.Unmarshal(encoded, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &have); err != nil {
			t.Fatal(err)
		}
		compareSubset(t, "", have, want)
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
