package filltest_test

import (
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/usage"
	"parley/internal/webhook"
)

func TestMeetings(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		p := storetest.Project(t, db)
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		end := start.AddDate(1, 0, 0)
		const meetings = 1001 // the last transaction has one
		began := time.Now()
		past := filltest.Past{
			ProjectID:  p.ID,
			Meetings:   meetings,
			Start:      start,
			End:        end,
			Seed:       1,
			WebhookURL: "https://receiver.example.org/parley",
		}
		if err := filltest.Meetings(t.Context(), db, past); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d meetings in %s", meetings, time.Since(began))
		service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return end.AddDate(0, 0, 1) })
		got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: p.OrganizationID}, start,
			end.AddDate(0, 0, 1))
		if err != nil || got.RoomsCreated != meetings || got.Sessions != meetings || got.VideoMillis == 0 {
			t.Errorf("got usage %+v, %v, want %d rooms", got, err, meetings)
		}
		failed, _, err := webhook.NewService(db, time.Now, storetest.NewID).List(t.Context(),
			webhook.Filter{State: webhook.Failed, Limit: 100}, "")
		if err != nil || len(failed) != meetings/100+1 {
			t.Errorf("got %d failed deliveries, %v, want %d", len(failed), err, meetings/100+1)
		}
		if backlog, err := db.WebhookBacklog(t.Context(), 1); err != nil || backlog.Pending != 0 {
			t.Errorf("got backlog %+v, %v, want none", backlog, err)
		}
	})
}

func TestRecords(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		p := storetest.Project(t, db)
		end := time.Now()
		start := end.AddDate(0, 0, -6)
		const projects, calls, entries = 11, 1010, 110
		if err := filltest.SmallProjects(t.Context(), db, projects, start, end); err != nil {
			t.Fatal(err)
		}
		projectList, err := db.Projects(t.Context(), project.ListQuery{})
		if err != nil || len(projectList) != projects+1 {
			t.Errorf("got %d projects, %v, want %d", len(projectList), err, projects+1)
		}
		if err := filltest.Calls(t.Context(), db, p.ID, calls, start, end); err != nil {
			t.Fatal(err)
		}
		all := requestlog.Query{ProjectID: p.ID, Limit: 2 * calls}
		page, err := requestlog.NewRecorder(db, time.Now).List(t.Context(), all)
		if err != nil || len(page.Calls) != calls {
			t.Errorf("got %d calls, %v, want %d", len(page.Calls), err, calls)
		}
		if err := filltest.AuditEntries(t.Context(), db, p.ID, entries, start, end); err != nil {
			t.Fatal(err)
		}
		report, err := audit.NewService(db, time.Now).Verify(t.Context())
		if err != nil || report.Rows != entries {
			t.Errorf("got report %+v, %v, want %d entries", report, err, entries)
		}
	})
}
