package v4

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/api/apitest"
	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

func joinEventCases() []ErrorCase {
	unauthorized := SignatureCases()
	for i, r := range unauthorized {
		if strings.Contains(r.Name, "api-key") { // keys in headers say nothing here
			unauthorized[i] = ErrorCase{Name: "signed with the API key", Status: 401, Message: "invalid signature",
				Header: func(b *Fixture, h http.Header, body []byte) {
					h["Hash-Signature"] = SignedHeaders(b.Issued.APIKey, body)["Hash-Signature"]
				}}
		}
	}
	return append(slices.Concat(unauthorized, TransportCases(), BodyCases()),
		BodyCase("a field twice", `{"room_id":"a","room_id":"b"}`, "the body has a field twice: room_id"),
		FieldCase("room_id missing", RemoveField("room_id"), "room_id is required"),
		FieldCase("room_id a number", SetField("room_id", 1), "room_id must be a string"),
		FieldCase("room_id another", SetField("room_id", "01890000-0000-7000-8000-000000000000"),
			"room_id must be that of the path"),
		FieldCase("user_info missing", RemoveField("user_info"), "user_info is required"),
		FieldCase("user_info a string", SetField("user_info", "A"), "user_info must be an object"),
		FieldCase("name missing", SetField("user_info", map[string]any{}), "user_info.name is required"),
		FieldCase("name a number", SetField("user_info.name", 1), "user_info.name must be a string"),
		FieldCase("name empty", SetField("user_info.name", ""),
			"user_info.name must have 1 to 255 characters and not be blank"),
		FieldCase("name too long", SetField("user_info.name", strings.Repeat("é", 256)),
			"user_info.name must have at most 255 characters, not 256"),
		FieldCase("name with a line break", SetField("user_info.name", "a\nb"),
			"user_info.name must not contain control characters such as U+000A"),
	)
}

// createExpired makes a room that is over: nobody came to it.
func createExpired(t testing.TB, b *Fixture) string {
	t.Helper()
	id := scheduleRoom(t, b)
	r, err := b.Rooms.Get(t.Context(), id)
	Must(t, err)
	r.State, r.EndedAt, r.DueAt = room.Expired, time.Now(), time.Time{}
	Must(t, b.DB.Write(storetest.Patient(t.Context()), func(ctx context.Context) error { return b.DB.UpdateRoom(ctx, r) }))
	return id
}

func checkEndedRoom(t *testing.T, c *apitest.Checker, b *Fixture) {
	id := createExpired(t, b)
	body := EncodeJSON(t, map[string]any{"room_id": id, "user_info": map[string]any{"name": "Amina"}})
	for range 2 { // a refusal leaves nothing that would let the second one through
		AssertError(t, c.Do(t, http.MethodPost, joinEventPath+id, SignedHeaders(b.Issued.ProjectSecret, body), body), 409,
			"this room has ended")
	}
	AssertError(t, c.Do(t, http.MethodPost, joinEventPath+id, SignedHeaders("wrong", body), body), 401,
		"invalid signature")
}

func TestReceiveRoomEvent_MarksAttendance(t *testing.T) {
	t.Parallel()
	b, handler := setup(t, roomapi.Options{})
	c := apitest.New(t, Description(t), handler)
	id := scheduleRoom(t, b)
	before, err := b.Rooms.Get(t.Context(), id)
	Must(t, err)
	marks := func() (names []string) {
		list, err := storetest.Events(t.Context(), b.DB, id)
		Must(t, err)
		for i, e := range list {
			if e.Sequence != int64(i+1) {
				t.Errorf("event %d: got %+v, want sequence %d", i+1, e, i+1)
			}
			if e.Type == event.ParticipantReported && e.Data.Mark.Source == "external" {
				names = append(names, e.Data.Mark.Name)
			}
		}
		return names
	}
	send := func(target, name string) {
		t.Helper()
		body := EncodeJSON(t, map[string]any{"room_id": id, "user_info": map[string]any{"name": name}})
		answer := c.Do(t, http.MethodPost, joinEventPath+target, SignedHeaders(b.Issued.ProjectSecret, body), body)
		if out := DecodeFields(t, answer); answer.StatusCode != 200 || len(out) != 1 || out["joined"] != true {
			t.Errorf("got %d %v, want 200 and joined true", answer.StatusCode, out)
		}
	}
	send(id, "Amina")
	send(id, "Amina") // the same bytes within a minute
	send(strings.ToUpper(id), strings.Repeat("é", 255))
	if got := marks(); len(got) != 2 || got[0] != "Amina" {
		t.Errorf("attendance marks: got %q, want two, Amina first", got)
	}
	after, err := b.Rooms.Get(t.Context(), id)
	Must(t, err)
	after.EventSequence = before.EventSequence
	if diff := cmp.Diff(before, after, storetest.Exact); diff != "" {
		t.Errorf("room after the attendance marks, without EventSequence (-want +got):\n%s", diff)
	}
}
