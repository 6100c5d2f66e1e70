package roomstest

import (
	"net/http"
	"strings"
	"testing"

	"parley.example/client/sign"
	"parley/internal/api/roomapi"
)

// CheckReplays sends captured requests again and checks that each takes effect
// only once.
func (f *MeetingFixture) CheckReplays(t *testing.T) {
	const alreadyUsed = "this signed request was carried out already: sign each request with a current timestamp, " +
		"and send a different Idempotency-Key with each of two equal requests in one second"
	for route, more := range map[string]map[string]any{
		"/rooms/join_room":              {"user_info": map[string]any{"name": "Bela", "is_admin": true}},
		"/rooms/create_invitation_link": {"role": "viewer"},
		"/rooms/start_schedule_room":    {"name": "Amina"},
		"/rooms/reschedule_room":        {"max_participants": 7},
	} {
		fields := withScheduledRoom(more)(t, f)
		body, target := EncodeJSON(t, fields), f.Prefix+route
		captured := V5SignedHeaders(f.Issued, http.MethodPost, target, "", body)
		send := func(header http.Header) *http.Response {
			return f.Checker.Do(t, http.MethodPost, target, header, body)
		}
		upper := captured.Clone()
		upper.Set("Hash-Signature", strings.ToUpper(captured.Get("Hash-Signature")))
		if resp := send(captured); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d, want 200", route, resp.StatusCode)
		}
		AssertError(t, send(captured), http.StatusConflict, alreadyUsed)
		AssertError(t, send(upper), http.StatusConflict, alreadyUsed)
		one, two := V5SignedHeaders(f.Issued, http.MethodPost, target, "one", body),
			V5SignedHeaders(f.Issued, http.MethodPost, target, "two", body)
		first, again, other := send(one), send(one), send(two)
		if a, b := DecodeFields(t, first), DecodeFields(t, again); first.StatusCode != 200 || again.StatusCode != 200 ||
			a["final_link"] != b["final_link"] {
			t.Errorf("%s with an Idempotency-Key: got %d %v, then %d %v, want 200 and the same link twice", route,
				first.StatusCode, a, again.StatusCode, b)
		}
		if other.StatusCode != 200 {
			t.Errorf("%s with another Idempotency-Key: got %d, want 200", route, other.StatusCode)
		}
	}

	// A failed request had no effect, so it may be sent again.
	id := f.CreateScheduled(t)
	body, target := EncodeJSON(t, map[string]any{"room_id": id, "role": "viewer"}),
		f.Prefix+"/rooms/create_invitation_link"
	header := V5SignedHeaders(f.Issued, http.MethodPost, target, "", body)
	f.withRooms(FailingService{Err: ErrDatabaseDown}, roomapi.Limits{}, func() {
		AssertError(t, f.Checker.Do(t, http.MethodPost, target, header, body), 503, ErrDatabaseDown.Message)
	})
	if resp := f.Checker.Do(t, http.MethodPost, target, header, body); resp.StatusCode != http.StatusOK {
		t.Errorf("after an error: got %d, want 200", resp.StatusCode)
	}
	// A read changes nothing, so it may be repeated.
	body, target = []byte("{}"), f.Prefix+"/rooms/fetch_past_rooms"
	header = V5SignedHeaders(f.Issued, http.MethodPost, target, "", body)
	for range 2 {
		if resp := f.Checker.Do(t, http.MethodPost, target, header, body); resp.StatusCode != http.StatusOK {
			t.Errorf("fetch_past_rooms: got %d, want 200", resp.StatusCode)
		}
	}
}

// CheckJoinEvents uses signed join events as calls while body signatures are
// allowed. event sends a body as a join event of its room.
func (f *MeetingFixture) CheckJoinEvents(t *testing.T, event func(roomID string, body []byte) *http.Response) {
	options := roomapi.Options{Skew: DefaultOptions.Skew, BodySignatures: true}
	f.Checker.WithHandler(WithMiddleware(f.Serve(f.LiveRooms, roomapi.Limits{}, options)), func() {
		id := f.CreateQuick(t)
		person := func(name string) []byte {
			return EncodeJSON(t, map[string]any{"room_id": id, "user_info": map[string]any{"name": name}})
		}
		call := func(route string, body []byte) *http.Response {
			header := http.Header{"Content-Type": {"application/json"}, "Api-Key": {f.Issued.APIKey.Reveal()},
				"Hash-Signature": {sign.Legacy(f.Issued.ProjectSecret.Reveal(), body)}}
			return f.Checker.Do(t, http.MethodPost, f.Prefix+route, header, body)
		}
		for _, route := range []string{"end_room", "start_schedule_room", "create_invitation_link", "reschedule_room",
			"fetch_past_rooms"} {
			AssertError(t, call("/rooms/"+route, person("Ada")), 400,
				"user_info is not a field of this route: "+
					"a body with it is a join event, and its signature over the body is good for that alone")
		}
		if resp := event(id, person("Ada")); resp.StatusCode != 200 {
			t.Fatalf("join event: got %d, want 200", resp.StatusCode)
		}
		for range 2 {
			AssertError(t, call("/rooms/join_room", person("Ada")), 409,
				"this body was sent as a join event already, so its signature "+
					"cannot be used for join_room: add user_info.client_user_id, or sign with SVC-HMAC-V5-1")
		}
		// A client that requests a link, reports the join and requests it again.
		for range 2 {
			if resp := call("/rooms/join_room", person("Bela")); resp.StatusCode != 200 {
				t.Errorf("join_room: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
			}
			if resp := event(id, person("Bela")); resp.StatusCode != 200 {
				t.Errorf("join event after join_room: got %d, want 200", resp.StatusCode)
			}
		}
		if resp := call("/rooms/end_room", EncodeJSON(t, map[string]any{"room_id": id})); resp.StatusCode != 200 {
			t.Errorf("end_room: got %d, want 200", resp.StatusCode)
		}
	})
}
