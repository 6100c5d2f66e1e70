package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/retention"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

func TestDeleteProject_LeavesOnlyUsage(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		other := storetest.Project(t, f.db)
		f.meeting(f.project.ID, f.now.Add(-3*day), guest{"Amina", "user-7"})
		recent := f.meeting(f.project.ID, f.now.Add(-time.Hour), guest{"Amina", "user-7"})
		f.meeting(other.ID, f.now.Add(-3*day), guest{"Bo", ""})
		if err := f.retention.DeleteProject(t.Context(), f.project.ID); !fault.Is(err, fault.Conflict) {
			t.Fatalf("a project that is not suspended: got %v, want Conflict", err)
		}
		if _, err := f.retention.DeleteOrganization(t.Context(), f.project.OrganizationID); !fault.Is(err, fault.Conflict) {
			t.Fatalf("an organization with a project: got %v, want Conflict", err)
		}
		f.suspend()
		for range 2 {
			if err := f.retention.DeleteProject(t.Context(), f.project.ID); err != nil {
				t.Fatal(err)
			}
		}
		if !cmp.Equal(f.ended, []string{f.project.ID, f.project.ID}) {
			t.Errorf("rooms were ended of the projects %v, want %s twice", f.ended, f.project.ID)
		}
		if !f.sweep() {
			t.Error("sweep before the last room can be deleted: got the deletion finished, want it unfinished")
		}
		if got := f.rows("Amina"); len(got) != 0 {
			t.Errorf("rows with the name after the first sweep: got %v, want none", got)
		}
		if _, err := f.db.Room(t.Context(), recent.ID); err != nil {
			t.Errorf("a room whose usage may still change: got %v, want it kept", err)
		}
		f.now = f.now.Add(2 * day)
		before := f.totals()
		if f.sweep() {
			f.sweep()
		}
		if _, err := f.db.Project(t.Context(), f.project.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("the project: got %v, want NotFound", err)
		}
		// Each of the two meetings was on another day, and began and ended in another hour.
		if got := f.rows(f.project.ID); !cmp.Equal(got, map[string]int{"usage_hours": 4, "usage_days": 2}) {
			t.Errorf("rows with the ID of the project: got %v, want only its usage", got)
		}
		if after := f.totals(); after != before || after.VideoMillis == 0 {
			t.Errorf("usage of the organization: got %+v, want %+v", after, before)
		}
		if _, err := f.db.Project(t.Context(), other.ID); err != nil {
			t.Errorf("read another project: got error %v, want none", err)
		}
		done, err := f.retention.DeleteOrganization(t.Context(), f.project.OrganizationID)
		want := retention.OrganizationDeletion{UsageHours: 8, Compaction: f.compaction()} // with those of the organization
		if err != nil || done != want {
			t.Errorf("receipt: got %+v, %v, want %+v", done, err, want)
		}
		if got := f.rows(f.project.OrganizationID); len(got) != 0 {
			t.Errorf("rows with the ID of the organization: got %v, want none", got)
		}
	})
}

// The rooms of a deleted project are deleted a day later than its names. The receipt has the
// sum of both, also after a restart in between.
func TestDeleteProject_NoByteLeft(t *testing.T) {
	onEachEnginePacked(t, defaults, func(t *testing.T, f *fixture) {
		const name, userID = "Zebulon Quixote", "user-Zebulon-7"
		other := storetest.Project(t, f.db)
		kept := f.meeting(other.ID, f.now.Add(-3*day), guest{"Bo", ""})
		f.meeting(f.project.ID, f.now.Add(-3*day), guest{name, userID}, guest{"Amina Noor", ""})
		f.meeting(f.project.ID, f.now.Add(-time.Hour), guest{name, userID})
		f.suspend()
		if err := f.retention.DeleteProject(t.Context(), f.project.ID); err != nil {
			t.Fatal(err)
		}
		f.sweep()
		f.now = f.now.Add(2 * day)
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := f.totals()
		restarted := retention.NewService(f.db, defaults, f, func(string) {}, func() time.Time { return f.now },
			slog.New(slog.DiscardHandler))
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
		if _, err := restarted.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := f.db.Project(t.Context(), f.project.ID); !fault.Is(err, fault.NotFound) {
			t.Fatalf("the project: got %v, want NotFound", err)
		}
		f.checkNoByteLeft([]string{name, userID, "Amina Noor"}, kept.Title)
		f.checkNumbers(kept.ID, 6)
		if after := f.totals(); after != before || after.VideoMillis == 0 {
			t.Errorf("usage after the deletion: got %+v, want %+v", after, before)
		}
		entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 10})
		if err != nil || len(entries) == 0 || entries[0].Action != audit.ProjectDeleted {
			t.Fatalf("audit log: got %+v, %v, want project.deleted as the last entry", entries, err)
		}
		want := `{"compaction":"` + string(f.compaction()) +
			`","connections":3,"deliveries":15,"events":15,"links":2,"rooms":2,"seats":3}`
		if entries[0].After != want {
			t.Errorf("receipt: got %s, want %s", entries[0].After, want)
		}
	})
}

// calledProject is a store of a project whose backend makes calls while the database is compacted.
type calledProject struct {
	*store.DB
	t         *testing.T
	projectID string
	now       time.Time
}

func (s calledProject) Compact(ctx context.Context, log *slog.Logger) (bool, error) {
	if _, limited := ctx.Deadline(); limited {
		s.t.Error("the deletion does not wait for the end of the compaction, although it can delete nothing before")
	}
	call := requestlog.NumberedCall{N: s.now.UnixNano(), Call: requestlog.Call{Method: "GET"}}
	err := errors.Join(
		s.InsertCalls(ctx, []requestlog.Block{{ProjectID: s.projectID, API: "v5", Calls: []requestlog.NumberedCall{call}}}),
		s.SetKeyCallers(ctx, []requestlog.KeyCaller{{ProjectID: s.projectID, KeySlot: "current", At: s.now}}),
		s.Write(ctx, func(ctx context.Context) error {
			_, err := s.UseQuota(ctx, s.projectID, "rooms", s.now)
			return err
		}))
	if err != nil {
		s.t.Error(err)
	}
	return s.DB.Compact(ctx, log)
}

// A project that is called until its end is deleted nevertheless, with the records of these calls, and its keys are
// unknown from when they are deleted.
func TestDeleteProject_CalledMeanwhile(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		f.suspend()
		called := calledProject{DB: f.db, t: t, projectID: f.project.ID, now: f.now}
		service := retention.NewService(called, defaults, f, func(id string) {
			f.changed = append(f.changed, id)
			_, err := f.db.Project(t.Context(), id)
			if deleted := fault.Is(err, fault.NotFound); deleted != (len(f.changed) == 3) {
				t.Errorf("change %d of the project: got deleted %t, want it only at the third", len(f.changed), deleted)
			}
		}, func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindService})
		if err := service.DeleteProject(ctx, f.project.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := service.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if len(f.changed) != 3 { // marked, emptied and deleted
			t.Errorf("changes of the project: got %d, want 3", len(f.changed))
		}
		if got, want := f.rows(f.project.ID), map[string]int{"audit": 2}; !cmp.Equal(got, want) {
			t.Errorf("rows with the ID of the project: got %v, want only the entries of its deletion: %v", got, want)
		}
	})
}

// countedHours is a store that records how many rows of an organization each transaction
// has deleted, and fails after the first while it is interrupted.
type countedHours struct {
	*store.DB
	rows        *[]int
	interrupted *bool
}

var errInterrupted = errors.New("the deletion is interrupted")

func (s countedHours) DeleteOrganizationRows(ctx context.Context, id string, limit int) (hours, rows int, err error) {
	if *s.interrupted && len(*s.rows) == 1 {
		return 0, 0, errInterrupted
	}
	hours, rows, err = s.DB.DeleteOrganizationRows(ctx, id, limit)
	*s.rows = append(*s.rows, rows)
	return hours, rows, err
}

func TestDeleteOrganization_ManyHours(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		const hours = 1200
		o := project.Organization{ID: storetest.NewID(), Name: "Large", Billing: project.Plan, CreatedAt: f.now}
		f.write(func(ctx context.Context) error { return f.db.InsertOrganization(ctx, o) })
		raw := f.Raw(t)
		for i := range hours {
			_, err := raw.Exec(fmt.Sprintf(`INSERT INTO usage_hours (organization_id, project_id, hour, audio_base,
				video_base, audio_change, video_change, audio_millis, video_millis, rise, rooms, sessions)
				VALUES ('%s', '', %d, 0, 0, 0, 0, 0, 0, 0, 0, 0)`, o.ID, i*3600000))
			if err != nil {
				t.Fatal(err)
			}
		}
		var rows []int
		interrupted := true
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindToken, ActorID: "token"})
		service := retention.NewService(countedHours{f.db, &rows, &interrupted}, retention.Periods{}, f, nil,
			func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		if done, err := service.DeleteOrganization(ctx, o.ID); !errors.Is(err, errInterrupted) || done.UsageHours != 500 {
			t.Errorf("interrupted deletion: got %+v, %v, want 500 hours and %v", done, err, errInterrupted)
		}
		interrupted = false
		done, err := service.DeleteOrganization(ctx, o.ID)
		want := retention.OrganizationDeletion{UsageHours: hours, Compaction: f.compaction()}
		if err != nil || done != want {
			t.Errorf("receipt: got %+v, %v, want %+v", done, err, want)
		}
		if want := []int{500, 500, 200}; !cmp.Equal(rows, want) {
			t.Errorf("rows of the transactions: got %v, want %v", rows, want)
		}
		entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 10})
		if err != nil || len(entries) != 1 || entries[0].After != `{"usage_hours":1200}` {
			t.Errorf("audit log: got %+v, %v, want one entry with all hours", entries, err)
		}
	})
}
