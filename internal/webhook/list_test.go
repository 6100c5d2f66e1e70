package webhook_test

import (
	"strings"
	"testing"
	"time"

	"parley/internal/store/filltest"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

// A list of the deliveries to one URL, or of a period, finds each of them once, although a page reads a
// bounded number of those to other URLs.
func TestList_TargetAndPeriod(t *testing.T) {
	storetest.OnEachEngine(t, func(t *testing.T, d storetest.Database) {
		db := d.Open(t)
		p := storetest.Project(t, db)
		const (
			rare, frequent = "https://rare.example.org/", "https://frequent.example.org/"
			few, many      = 3, 120
			ofMeeting      = 2 + 2*filltest.People
		)
		start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		middle := start.AddDate(0, 0, 5)
		for _, past := range []filltest.Past{
			{Meetings: few, Start: start, End: middle.Add(-3 * time.Hour), WebhookURL: rare},
			{Meetings: many, Start: middle, End: middle.AddDate(0, 0, 20), WebhookURL: frequent},
		} {
			past.ProjectID = p.ID
			if err := filltest.Meetings(t.Context(), db, past); err != nil {
				t.Fatal(err)
			}
		}
		hooks := webhook.NewService(db, time.Now, storetest.NewID)
		list := func(f webhook.Filter, target string) (found, pages int) {
			t.Helper()
			seen := map[string]bool{}
			for more := true; more; pages++ {
				page, next, err := hooks.List(t.Context(), f, target)
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range page {
					if seen[one.ID] || !strings.HasPrefix(one.URL, target) {
						t.Errorf("got the delivery %s to %s, want each to %s once", one.ID, one.URL, target)
					}
					seen[one.ID] = true
				}
				f.Cursor, more = next, next != ""
			}
			return len(seen), pages
		}
		for name, c := range map[string]struct {
			filter       webhook.Filter
			target       string
			want, within int
		}{
			"the rare target":       {webhook.Filter{ProjectID: p.ID}, rare, few * ofMeeting, 3},
			"its host, of all":      {webhook.Filter{}, "https://rare.", few * ofMeeting, 3},
			"the frequent target":   {webhook.Filter{ProjectID: p.ID}, frequent, many * ofMeeting, 14},
			"the first days":        {webhook.Filter{ProjectID: p.ID, Before: middle}, "", few * ofMeeting, 1},
			"the last days":         {webhook.Filter{ProjectID: p.ID, Since: middle}, "", many * ofMeeting, 13},
			"a failure":             {webhook.Filter{State: webhook.Failed, Since: start, Before: middle}, "", 1, 1},
			"no period":             {webhook.Filter{ProjectID: p.ID, Since: middle.AddDate(1, 0, 0)}, "", 0, 1},
			"another target, early": {webhook.Filter{ProjectID: p.ID, Before: middle}, frequent, 0, 1},
		} {
			c.filter.Limit = 100
			if got, pages := list(c.filter, c.target); got != c.want || pages > c.within {
				t.Errorf("%s: got %d deliveries on %d pages, want %d on at most %d", name, got, pages, c.want, c.within)
			}
		}
	})
}
