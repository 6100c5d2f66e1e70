package filltest_test

import (
	"testing"
	"time"

	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/usage"
)

func TestMeetings(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		p := storetest.Project(t, db)
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		end := start.AddDate(1, 0, 0)
		const meetings = 1001 // the last transaction has one
		began := time.Now()
		if err := filltest.Meetings(t.Context(), db, p.ID, meetings, start, end, 1); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d meetings in %s", meetings, time.Since(began))
		service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return end.AddDate(0, 0, 1) })
		got, err := service.Totals(t.Context(), usage.Scope{OrganizationID: p.OrganizationID}, start,
			end.AddDate(0, 0, 1))
		if err != nil || got.RoomsCreated != meetings || got.Sessions != meetings || got.VideoMillis == 0 {
			t.Errorf("got usage %+v, %v, want %d rooms", got, err, meetings)
		}
	})
}
