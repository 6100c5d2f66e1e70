package roomstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"parley/internal/api/apitest"
	"parley/internal/project"
)

// CheckRandomCalls sends calls with random mistakes. The checker fails the test for each response
// that the description does not have, and for each call that is accepted although the
// description does not allow it.
func (f *MeetingFixture) CheckRandomCalls(t *testing.T, calls int) {
	r := rand.New(rand.NewPCG(1, 2)) // a fixed seed, so that a failure repeats
	operations := f.Checker.Operations()
	statuses := map[int]int{}
	for range calls {
		o := operations[r.IntN(len(operations))]
		call := f.randomCall(t, r, o)
		resp := f.Checker.Do(t, call.method, call.target, call.header, call.body)
		statuses[resp.StatusCode]++
		if t.Failed() {
			t.Fatalf("the call: %s %s with %v\n%s", call.method, call.target, call.header, call.body)
		}
		// The call may have deactivated the project.
		Must(t, f.Projects.SetStatus(t.Context(), f.Project.ID, project.Active))
	}
	for _, status := range []int{200, 400, 401, 404, 409, 415} {
		if statuses[status] == 0 {
			t.Errorf("%d random calls: got the statuses %v, want %d among them", calls, statuses, status)
		}
	}
	if n := statuses[http.StatusInternalServerError]; n > 0 {
		t.Errorf("%d random calls: got %d internal errors, want none", calls, n)
	}
}

// randomCall is a call that may be wrong in several ways.
type randomCall struct {
	method, target string
	header         http.Header
	body           []byte
}

func (f *MeetingFixture) randomCall(t *testing.T, r *rand.Rand, o apitest.Operation) (call randomCall) {
	id := f.randomRoom(t, r)
	call = randomCall{method: o.Method, target: strings.ReplaceAll(o.Path, "{room_id}", url.PathEscape(id))}
	if r.IntN(30) == 0 {
		call.target += "x"
	}
	query := url.Values{}
	switch {
	case strings.HasSuffix(call.target, "/update_project_status"):
		query.Set("project_id", f.Project.ID)
	case !o.HasJSON && r.IntN(10) > 0:
		query.Set("room_id", id)
	}
	for _, name := range []string{"room_id", "project_id", "limit", "cursor", "state", "after", "x"} {
		if r.IntN(12) == 0 {
			query[name] = append(query[name], fmt.Sprint(randomValue(r)))
		}
	}
	if len(query) > 0 {
		call.target += "?" + query.Encode()
	}
	if o.HasJSON {
		call.body = f.randomBody(t, r, o, id)
	}
	f.sign(r, o, &call)
	return call
}

// randomRoom returns the ID of a room, or another text in place of one.
func (f *MeetingFixture) randomRoom(t *testing.T, r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return unknownID
	case 1:
		return fmt.Sprintf("room %d", r.IntN(10))
	case 2, 3, 4:
		return f.CreateScheduled(t)
	case 5:
		id := f.CreateQuick(t)
		Must(t, f.LiveRooms.EndByAPI(t.Context(), f.Project, id))
		return id
	}
	return f.CreateQuick(t)
}

// randomBody returns the example of the description with up to three random changes.
func (f *MeetingFixture) randomBody(t *testing.T, r *rand.Rand, o apitest.Operation, id string) []byte {
	described := f.Checker.RequestBody(t, o)
	var fields map[string]any
	Must(t, json.Unmarshal(described.Example, &fields))
	for name, value := range map[string]string{"project_id": f.Project.ID, "room_id": id, "client_room_id": id} {
		if _, exists := fields[name]; exists {
			fields[name] = value
		}
	}
	for range r.IntN(4) {
		name := described.Properties[r.IntN(len(described.Properties))].Path
		if r.IntN(10) == 0 {
			name = "unknown_field"
		}
		outer, _, nested := strings.Cut(name, ".")
		if _, isObject := fields[outer].(map[string]any); nested && !isObject {
			continue
		}
		if depth := strings.Count(name, "."); depth > 1 {
			continue // an object within an object may be replaced by another value
		}
		SetField(name, randomValue(r))(fields)
	}
	body := EncodeJSON(t, fields)
	switch r.IntN(40) {
	case 0:
		return body[:r.IntN(len(body))]
	case 1:
		return append(body, ' ', '{', '}')
	case 2:
		return []byte("[]")
	case 3:
		return []byte(`{"room_id":1,"room_id":2}`)
	case 4:
		return append(body, make([]byte, 70_000)...)
	}
	return body
}

// sign adds the headers of a signed call, which may be wrong.
func (f *MeetingFixture) sign(r *rand.Rand, o apitest.Operation, call *randomCall) {
	key := ""
	if r.IntN(8) == 0 {
		key = []string{"a", "two words", strings.Repeat("k", 256), "é"}[r.IntN(4)]
	}
	call.header = SignedHeaders(f.Issued.ProjectSecret, call.body)
	if key != "" {
		call.header.Set("Idempotency-Key", key)
	}
	if slices.Contains(o.Schemes, "timedSignature") {
		call.header = V5SignedHeaders(f.Issued, call.method, call.target, key, call.body)
	}
	switch r.IntN(25) {
	case 0:
		call.header.Del("Hash-Signature")
	case 1:
		call.header["Hash-Signature"] = []string{"a", "b"}
	case 2:
		call.header.Set("Timestamp", "1")
	case 3:
		call.header.Set("Content-Type", "text/plain")
	case 4:
		call.header.Del("Content-Type")
	case 5:
		call.header.Set("Api-Key", "pk_x")
	case 6:
		call.method = []string{"GET", "POST", "PUT", "DELETE", "PATCH"}[r.IntN(5)]
	}
}

// randomValue returns a value that some fields accept and others refuse.
func randomValue(r *rand.Rand) any {
	values := []any{nil, "", " ", "Zoë", "\u0000", "line\nbreak", strings.Repeat("é", 256), strings.Repeat("x", 3000),
		"2027-01-31T09:30", "2027-01-31T09:30:00Z", "2020-01-31T09:30", unknownID, "https://example.org/hook", "javascript:x",
		0, 1, -1, 5, 1001, 86401, 1 << 53, 1.5, json.Number("1e2"), "5", "05", true, false, "true", "admin", "viewer", "ASC",
		"ended", "active", []any{}, []any{"a", 1}, []any{unknownID}, map[string]any{}, map[string]any{"name": "Bela"}}
	return values[r.IntN(len(values))]
}
