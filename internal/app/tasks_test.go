package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/internal/config"
	"parley/internal/overview"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// While the data of rooms is damaged, the deletion of old data fails. After an hour that is a finding, and before it is
// in the metrics. Both end when the data is repaired.
func TestTasks_DamagedRooms(t *testing.T) {
	s := startServer(t, nil)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	rooms := s.addOldData()
	db, err := store.Open(t.Context(), "", s.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	const damage = `UPDATE events SET data = CASE WHEN $1 THEN substr(data, 2) ELSE '{' || data END
		WHERE room_id IN ($2, $3)`
	change := func(db *store.DB, damaged bool) error {
		return db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			return db.Exec(ctx, damage, damaged, rooms[14], rooms[9])
		})
	}
	if err := errors.Join(change(db, true), db.Close()); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, func(c *config.Config) { c.DataDir, c.RetentionPeople = s.cfg.DataDir, config.Duration(6*day) })
	finding := func(after time.Duration) (found overview.Finding) {
		for _, f := range s.app.healthFindings(t.Context(), time.Now().Add(after)) {
			if f.ID == "background_task_failing" {
				found = f
			}
		}
		return found
	}
	fails := func() bool {
		return strings.Contains(s.metrics(), `parley_background_task_failing{task="delete_old_data"} 1`)
	}
	testkit.Eventually(t, "the metrics say that the task fails", fails)
	if f := finding(59 * time.Minute); f.ID != "" {
		t.Errorf("before an hour: got the finding %+v, want none", f)
	}
	f := finding(61 * time.Minute)
	wants := []string{"The node has failed to delete old data since ", "project " + s.ProjectID, " (and 1 more)."}
	for _, want := range wants {
		if !strings.Contains(f.Text, want) {
			t.Errorf("got the finding %+v, want %q in its text", f, want)
		}
	}
	named := strings.Contains(f.Text, rooms[14]) || strings.Contains(f.Text, rooms[9])
	if !named || !strings.Contains(f.Action, "delete old data") {
		t.Errorf("got the finding %+v, want one that names a damaged room, and the lines of the log", f)
	}

	if err := errors.Join(change(s.app.db, false), s.app.projects.Suspend(t.Context(), s.ProjectID)); err != nil {
		t.Fatal(err)
	}
	// The server sweeps at once when the deletion of a project begins.
	if err := s.app.retention.DeleteProject(t.Context(), s.ProjectID); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the task does not fail any more", func() bool { return !fails() })
	if f := finding(61 * time.Minute); f.ID != "" {
		t.Errorf("after the repair: got the finding %+v, want none", f)
	}
}
