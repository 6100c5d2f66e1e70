package roomstest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/internal/api/apitest"
	"parley/internal/project"
)

// CheckNulls sends the example of each operation with one field set to null, for each field of
// its request at any depth. The version must accept the request if the description allows null
// for the field. Otherwise the error must say that the field is required.
func (f *MeetingFixture) CheckNulls(t *testing.T) {
	for _, o := range f.Checker.Operations() {
		if !o.HasJSON {
			continue
		}
		t.Run(o.ID, func(t *testing.T) {
			body := f.Checker.RequestBody(t, o)
			if resp := f.sendExample(t, o, body, ""); resp.StatusCode != http.StatusOK {
				t.Fatalf("the example: got %d %s, want 200", resp.StatusCode, ErrorMessage(t, resp))
			}
			for _, p := range body.Properties {
				t.Run(p.Path, func(t *testing.T) {
					resp := f.sendExample(t, o, body, p.Path)
					switch {
					case resp.StatusCode == http.StatusOK && !p.AllowsNull:
						t.Error("null: got 200, want 400, because the description does not allow null")
					case resp.StatusCode != http.StatusOK && p.AllowsNull:
						t.Errorf("null: got %d %s, want 200, because the description allows null", resp.StatusCode,
							ErrorMessage(t, resp))
					case !p.AllowsNull:
						AssertError(t, resp, http.StatusBadRequest, p.Path+" is required")
					}
				})
			}
		})
	}
}

// sendExample sends the example of a request body for the fixture's project and a new scheduled
// room, or an open one for the route that needs it. The field at the path null is null in it, unless the path is empty.
func (f *MeetingFixture) sendExample(t testing.TB, o apitest.Operation, described apitest.RequestBody,
	null string) *http.Response {
	t.Helper()
	var fields map[string]any
	Must(t, json.Unmarshal(described.Example, &fields))
	create := f.CreateScheduled
	if o.ID == "simulateMeeting" {
		create = f.CreateQuick
	}
	id := create(t)
	for name, value := range map[string]string{"project_id": f.Project.ID, "room_id": id, "client_room_id": id} {
		if _, exists := fields[name]; exists {
			fields[name] = value
		}
	}
	if null != "" {
		SetField(null, nil)(fields)
	}
	if null == "name" {
		delete(fields, "external_user_id") // because it requires a name
	}
	// The example of update_project_status deactivates the project.
	Must(t, f.Projects.SetStatus(t.Context(), f.Project.ID, project.Active))
	target := strings.ReplaceAll(o.Path, "{room_id}", id)
	if strings.HasSuffix(target, "/update_project_status") {
		target += "?project_id=" + f.Project.ID
	}
	body := EncodeJSON(t, fields)
	header := SignedHeaders(f.Issued.ProjectSecret, body)
	if slices.Contains(o.Schemes, "timedSignature") {
		header = V5SignedHeaders(f.Issued, o.Method, target, "", body)
	}
	return f.Checker.Do(t, o.Method, target, header, body)
}
