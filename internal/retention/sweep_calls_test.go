package retention_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/audit"
	"parley/internal/requestlog"
	"parley/internal/store/storetest"
	"parley/internal/webhook"
)

func TestSweep_DeletesDeliveriesAndCalls(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		f.meeting(f.project.ID, f.now, guest{"Amina", ""})
		call := func(at time.Time) requestlog.Block {
			return requestlog.Block{ProjectID: f.project.ID, API: "v4", Calls: []requestlog.NumberedCall{{N: at.UnixNano()}}}
		}
		err := f.db.InsertCalls(t.Context(), []requestlog.Block{call(f.now.Add(-7*day - time.Minute)),
			call(f.now.Add(-7*day + time.Minute))})
		if err != nil {
			t.Fatal(err)
		}
		count := func() (deliveries, calls int) {
			t.Helper()
			all, _, err := f.webhooks.List(t.Context(), webhook.Filter{ProjectID: f.project.ID, Limit: 100}, "")
			if err != nil {
				t.Fatal(err)
			}
			return len(all), f.calls(f.project.ID)
		}
		f.sweep()
		if deliveries, calls := count(); deliveries != 6 || calls != 1 {
			t.Errorf("got %d deliveries and %d calls, want 6 and 1", deliveries, calls)
		}
		f.now = f.now.Add(30*day - time.Minute)
		f.sweep()
		if deliveries, _ := count(); deliveries != 6 {
			t.Errorf("just inside the period: got %d deliveries, want 6", deliveries)
		}
		f.now = f.now.Add(2 * time.Minute)
		f.sweep()
		if deliveries, calls := count(); deliveries != 0 || calls != 0 {
			t.Errorf("after the period: got %d deliveries and %d calls, want none", deliveries, calls)
		}
	})
}

// calls returns the number of recorded calls of a project, at most 10.
func (f *fixture) calls(projectID string) int {
	f.t.Helper()
	page, err := requestlog.NewRecorder(f.db, time.Now).List(f.t.Context(),
		requestlog.Query{ProjectID: projectID, Limit: 10})
	if err != nil {
		f.t.Fatal(err)
	}
	return len(page.Calls)
}

// Records of calls without a project have the period of the installation.
func TestSweep_DeletesCallsWithoutProject(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		old, recent := f.now.Add(-9*day), f.now.Add(-5*day)
		count := func() (calls, rejections int) {
			t.Helper()
			rejected, err := f.db.Rejections(t.Context(), old, requestlog.RejectionCount{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			return f.calls(""), len(rejected)
		}
		for _, at := range []time.Time{old, recent} {
			block := requestlog.Block{API: "manage", Calls: []requestlog.NumberedCall{{N: at.UnixNano()}}}
			rejected := requestlog.RejectionCount{
				Day:    at.Truncate(day),
				API:    "v3",
				Cause:  requestlog.CauseUnknownProject,
				Calls:  1,
				LastAt: at,
			}
			err := errors.Join(f.db.InsertCalls(t.Context(), []requestlog.Block{block}),
				f.db.AddRejections(t.Context(), []requestlog.RejectionCount{rejected}))
			if err != nil {
				t.Fatal(err)
			}
		}
		if calls, rejections := count(); calls != 2 || rejections != 2 {
			t.Fatalf("before: got %d calls and %d rejections, want 2 and 2", calls, rejections)
		}
		f.sweep()
		if calls, rejections := count(); calls != 1 || rejections != 1 {
			t.Errorf("after: got %d calls and %d rejections, want 1 and 1", calls, rejections)
		}
	})
}

// The audit log has one entry a day for all deliveries that sweeps delete, and one for all calls, of all projects.
func TestSweep_RecordsDeliveriesAndCalls(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		other := storetest.Project(t, f.db)
		f.meeting(f.project.ID, f.now.Add(-31*day), guest{"Amina", ""})
		f.meeting(other.ID, f.now.Add(-31*day), guest{"Bo", ""})
		deliveries := 0
		for _, id := range []string{f.project.ID, other.ID} {
			all, _, err := f.webhooks.List(t.Context(), webhook.Filter{ProjectID: id, Limit: 100}, "")
			if err != nil {
				t.Fatal(err)
			}
			deliveries += len(all)
		}
		old := f.now.Add(-8 * day).UnixNano()
		insert := func(blocks ...requestlog.Block) {
			t.Helper()
			if err := f.db.InsertCalls(t.Context(), blocks); err != nil {
				t.Fatal(err)
			}
		}
		service := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
		sweep := func(want ...string) {
			t.Helper()
			if _, err := f.retention.Sweep(service); err != nil {
				t.Fatal(err)
			}
			entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range slices.Backward(entries) { // the oldest first
				if e.Action == audit.DeliveriesDeleted || e.Action == audit.CallsDeleted {
					got = append(got, string(e.Action)+" "+e.After)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries of the audit log (-want +got):\n%s", diff)
			}
		}
		two := []requestlog.NumberedCall{{N: old}, {N: old + 1}}
		insert(requestlog.Block{ProjectID: f.project.ID, API: "v4", Calls: two},
			requestlog.Block{ProjectID: other.ID, API: "v4", Calls: two},
			requestlog.Block{API: requestlog.ManagementAPI, Calls: two})
		before := audit.Timestamp(f.now.Add(-7 * day))
		first := []string{
			fmt.Sprintf(`calls.deleted {"calls":6,"received_before":%q}`, before),
			fmt.Sprintf(`deliveries.deleted {"created_before":%q,"deliveries":%d}`, audit.Timestamp(f.now.Add(-30*day)),
				deliveries),
		}
		sweep(first...)
		insert(requestlog.Block{ProjectID: f.project.ID, API: "v4", Calls: two})
		sweep(first...) // of the same day
		f.now = f.now.Add(day)
		sweep(append(first, fmt.Sprintf(`calls.deleted {"calls":2,"received_before":%q}`, before))...)
	})
}
