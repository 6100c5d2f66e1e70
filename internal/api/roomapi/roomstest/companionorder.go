package roomstest

import (
	"net/http"
	"strings"
	"testing"

	"parley/internal/api/roomapi"
	"parley/internal/project"
	"parley/internal/room"
)

// CheckErrorOrder fixes a request error by error, to check the order of the checks.
func (f *MeetingFixture) CheckErrorOrder(t *testing.T) {
	limiter := &StubLimiter{}
	f.withRooms(f.LiveRooms, roomapi.Limits{Writes: limiter}, func() {
		over, id, path := f.CreateQuick(t), f.CreateQuick(t), f.Prefix+"/rooms/join_room"
		_, err := f.LiveRooms.End(t.Context(), over, room.EndedAPI)
		Must(t, err)
		limiter.AllowAll = true
		used := request{method: http.MethodPost, target: path, key: "used",
			body: EncodeJSON(t, map[string]any{"room_id": id, "user_info": map[string]any{"name": "A"}})}
		if resp := f.send(t, used, nil); resp.StatusCode != http.StatusOK {
			t.Fatalf("first link: got %d, want 200", resp.StatusCode)
		}
		limiter.AllowAll = false
		Must(t, f.Projects.SetStatus(t.Context(), f.Project.ID, project.Inactive))
		Must(t, f.Projects.Suspend(t.Context(), f.Project.ID))

		s := request{method: http.MethodDelete, target: path + "/x", body: []byte(strings.Repeat("x", 65537)),
			key: strings.Repeat("k", 256)}
		kind, signature := "text/plain", "00"
		body := func(roomID, name string) func() {
			return func() {
				s.body = EncodeJSON(t, map[string]any{"room_id": roomID, "user_info": map[string]any{"name": name}})
			}
		}
		for _, tc := range []struct {
			status  int
			message string
			fix     func()
		}{
			{404, "there is no such path in this version of the API", func() { s.target = path }},
			{405, "this path takes POST, not DELETE", func() { s.method = http.MethodPost }},
			{415, "the header Content-Type must be application/json (UTF-8)", func() { kind = "application/json" }},
			{413, "the body must not be larger than 65536 bytes", func() { s.body = []byte("{") }},
			{401, "invalid signature", func() { signature = "" }},
			{429, "too many calls with this key, try again later", func() { limiter.AllowAll = true }},
			{403, "the project is suspended", func() { Must(t, f.Projects.Resume(t.Context(), f.Project.ID)) }},
			{403, "the project is inactive",
				func() { Must(t, f.Projects.SetStatus(t.Context(), f.Project.ID, project.Active)) }},
			{400, "the body ends before its JSON does", body("mine", "")},
			{400, "the header Idempotency-Key must have 1 to 255 printable ASCII characters",
				func() { s.key = "used" }},
			{422, "this Idempotency-Key was used with another body", func() { s.key = "fresh" }},
			{404, roomNotFound, body(over, "")},
			{400, "user_info.name must have 1 to 255 characters and not be blank", body(over, "A")},
			{409, "the room is over already: its state is ended", body(id, "A")},
		} {
			AssertError(t, f.send(t, s, func(header http.Header) {
				header.Set("Content-Type", kind)
				if signature != "" {
					header.Set("Hash-Signature", signature)
				}
			}), tc.status, tc.message)
			tc.fix()
		}
		if resp := f.send(t, s, nil); resp.StatusCode != http.StatusOK {
			t.Errorf("after all fixes: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
		}
	})
}
