package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/retention"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// The shorter period of one project does not touch the others.
func TestSweep_PeriodOfProject(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		other := storetest.Project(t, f.db)
		short := f.project
		short.Settings.Retention.RoomsDays = 3
		f.write(func(ctx context.Context) error { return f.db.UpdateProject(ctx, short) })
		mine, theirs := f.meeting(f.project.ID, f.now.Add(-4*day), guest{"Amina", ""}),
			f.meeting(other.ID, f.now.Add(-4*day), guest{"Bo", ""})
		f.sweep()
		if _, err := f.db.Room(t.Context(), mine.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("the room of the project: got %v, want NotFound", err)
		}
		if _, err := f.db.Room(t.Context(), theirs.ID); err != nil {
			t.Errorf("the room of another project: got %v, want it kept", err)
		}
	})
}

// countedWrites is a store that counts the transactions of sweeps.
type countedWrites struct {
	*store.DB
	n *int
}

func (s countedWrites) WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error {
	*s.n++
	return s.DB.WriteInBackground(ctx, work)
}

// A sweep starts no transaction for a project without old data, because an installation has
// thousands of them.
func TestSweep_ProjectsWithoutOldData(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		writes := 0
		counted := retention.NewService(countedWrites{f.db, &writes}, defaults, f, nil, func() time.Time { return f.now },
			slog.New(slog.DiscardHandler))
		sweep := func() int {
			t.Helper()
			writes = 0
			if _, err := counted.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			return writes
		}
		without := sweep()
		const projects = 120 // more than one query returns
		for range projects {
			storetest.Project(t, f.db)
		}
		f.meeting(f.project.ID, f.now.Add(-day), guest{"Amina", ""})
		if got := sweep(); got != without {
			t.Errorf("got %d transactions with %d more projects, want %d", got, projects, without)
		}
		f.meeting(f.project.ID, f.now.Add(-91*day), guest{"Bo", ""})
		if got := sweep(); got <= without {
			t.Errorf("got %d transactions with an old meeting, want more than %d", got, without)
		}
	})
}

// failingProject is a store in which the deliveries of one project cannot be deleted.
type failingProject struct {
	*store.DB
	id string
}

var errProject = errors.New("this project fails")

func (s failingProject) DeleteDeliveries(ctx context.Context, id string, before time.Time, limit int) (int, error) {
	if id == s.id {
		return 0, errProject
	}
	return s.DB.DeleteDeliveries(ctx, id, before, limit)
}

// The error of one project does not stop the sweep of the others.
func TestSweep_ContinuesAfterFailedProject(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		projects := []string{f.project.ID, storetest.Project(t, f.db).ID, storetest.Project(t, f.db).ID}
		slices.Sort(projects)
		for _, id := range projects {
			f.meeting(id, f.now.Add(-91*day), guest{"Amina " + id, ""})
		}
		failing := retention.NewService(failingProject{f.db, projects[1]}, defaults, f, nil,
			func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		_, err := failing.Sweep(t.Context())
		if !errors.Is(err, errProject) || !strings.Contains(err.Error(), "project "+projects[1]) {
			t.Errorf("got %v, want the error of project %s", err, projects[1])
		}
		for i, id := range projects {
			if got := f.rows("Amina " + id); (len(got) > 0) != (i == 1) {
				t.Errorf("project %d: got the rows %v with a name, want some only in project 1", i, got)
			}
		}
	})
}
