package v4

import (
	"net/http"
	"testing"
	"time"

	"parley/internal/api/legacy"
	. "parley/internal/api/legacy/legacytest"
)

// TestOrderOfChecks mends a request of each route fault by fault. Where the
// project stands in the query or the path, the signature comes before the body
// is read.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	busy := &Busy{}
	b, handler := setup(t, Options{Limits: legacy.Limits{Rate: busy}})
	fields := `"start_at":"` + time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04") + `","max_participants":"2","empty_timeout":0,"metadata":{"room_title":"T","welcome_message":""}`
	t.Run("creation", func(t *testing.T) {
		NewFaulty(t, b, handler, busy, scheduleVideo, fields).Mended(t, Creation(t, b, scheduleVideo, fields))
	})
	body := func(text string) func(f *Faulty) { return func(f *Faulty) { f.Body = text } }
	t.Run("status update", func(t *testing.T) {
		b.Project, b.Issued = b.Another(t)
		faults := append(Transport(http.MethodPut, status, `{`),
			Told(400, "project_id is required in the query", func(f *Faulty) { f.Target = status + "?project_id=mine" }),
			Told(400, "project_id in the query must be one UUID", func(f *Faulty) { f.Target = status + "?project_id=" + b.Project.ID }))
		faults = append(append(faults, Access(b.Issued.APIKey, Resume(t))...),
			Told(400, "the body ends before its JSON does", body(`{"status":"on"}`)),
			Told(400, `status must be "active" or "inactive"`, body(`{"status":"active"}`)))
		NewFaulty(t, b, handler, busy, scheduleVideo, fields).Mended(t, faults)
	})
	t.Run("join event", func(t *testing.T) {
		b.Project, b.Issued = b.Another(t)
		id, over := schedule(t, b), expired(t, b)
		faults := append(Transport(http.MethodPost, events+"01890000-0000-7000-8000-000000000000", `{`),
			Told(404, "there is no such room", func(f *Faulty) { f.Target = events + over }))
		faults = append(append(faults, Access(b.Issued.ProjectSecret, Resume(t))...),
			Told(400, "the body ends before its JSON does", body(`{"room_id":"`+id+`","user_info":{}}`)),
			Told(400, "user_info.name is required", body(`{"room_id":"`+id+`","user_info":{"name":"A"}}`)),
			Told(400, "room_id must be that of the path", body(`{"room_id":"`+over+`","user_info":{"name":"A"}}`)),
			Told(409, "this room has ended", func(f *Faulty) {
				f.Target, f.Body = events+id, `{"room_id":"`+id+`","user_info":{"name":"A"}}`
			}))
		NewFaulty(t, b, handler, busy, scheduleVideo, fields).Mended(t, faults)
	})
}
