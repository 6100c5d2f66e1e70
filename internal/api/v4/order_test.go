package v4

import (
	"net/http"
	"testing"
	"time"

	"parley/internal/api/roomapi"
	. "parley/internal/api/roomapi/roomstest"
)

// TestOperations_OrderOfChecks mends a request of each route fault by fault. Where the
// project stands in the query or the path, the signature comes before the body
// is read.
func TestOperations_OrderOfChecks(t *testing.T) {
	t.Parallel()
	busy := &StubLimiter{}
	b, handler := setup(t, roomapi.Options{Limits: roomapi.Limits{Writes: busy}})
	fields := `"start_at":"` + time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04") +
		`","max_participants":"2","empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}`
	t.Run("creation", func(t *testing.T) {
		NewFaultyRequest(t, b, handler, busy, scheduleVideo, fields).AssertErrorOrder(t,
			CreateErrors(t, b, scheduleVideo, fields))
	})
	body := func(text string) func(f *FaultyRequest) { return func(f *FaultyRequest) { f.Body = text } }
	t.Run("status update", func(t *testing.T) {
		b.Project, b.Issued = b.CreateProject(t)
		faults := append(TransportErrors(http.MethodPut, updateStatusPath, `{`),
			ExpectError(400, "project_id is required in the query",
				func(f *FaultyRequest) { f.Target = updateStatusPath + "?project_id=mine" }),
			ExpectError(400, "project_id in the query must be one UUID",
				func(f *FaultyRequest) { f.Target = updateStatusPath + "?project_id=" + b.Project.ID }))
		faults = append(append(faults, AccessErrors(b.Issued.APIKey, ResumeProject(t))...),
			ExpectError(400, "the body ends before its JSON does", body(`{"status":"on"}`)),
			ExpectError(400, `status must be "active" or "inactive"`, body(`{"status":"active"}`)))
		NewFaultyRequest(t, b, handler, busy, scheduleVideo, fields).AssertErrorOrder(t, faults)
	})
	t.Run("join event", func(t *testing.T) {
		b.Project, b.Issued = b.CreateProject(t)
		id, over := scheduleRoom(t, b), createExpired(t, b)
		faults := append(TransportErrors(http.MethodPost, joinEventPath+"01890000-0000-7000-8000-000000000000", `{`),
			ExpectError(404, "there is no such room", func(f *FaultyRequest) { f.Target = joinEventPath + over }))
		faults = append(append(faults, AccessErrors(b.Issued.ProjectSecret, ResumeProject(t))...),
			ExpectError(400, "the body ends before its JSON does", body(`{"room_id":"`+id+`","user_info":{}}`)),
			ExpectError(400, "user_info.name is required", body(`{"room_id":"`+id+`","user_info":{"name":"A"}}`)),
			ExpectError(400, "room_id must be that of the path", body(`{"room_id":"`+over+`","user_info":{"name":"A"}}`)),
			ExpectError(409, "this room has ended", func(f *FaultyRequest) {
				f.Target, f.Body = joinEventPath+id, `{"room_id":"`+id+`","user_info":{"name":"A"}}`
			}))
		NewFaultyRequest(t, b, handler, busy, scheduleVideo, fields).AssertErrorOrder(t, faults)
	})
}

// TestOperations_Served is what the compiler cannot check: routes are a table.
func TestOperations_Served(t *testing.T) {
	t.Parallel()
	_, handler := setup(t, roomapi.Options{})
	AssertOperationsServed(t, Description(t), handler)
}
