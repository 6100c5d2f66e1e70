package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/config"
	"parley/internal/fault"
	"parley/internal/store"
	"parley/internal/store/storetest"
	"parley/internal/testkit"
)

// A task is a finding from an hour after its first failure in a row, if it still fails then. The log has a line a
// minute.
func TestTasks_Finding(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	a := &App{tasks: newTasks(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&log, nil)),
		func() time.Time { return now })}
	damaged := errors.New("invalid character 'x'")
	refused := fault.New(fault.Unavailable, "busy", "the database is busy")
	refused.Err = errors.New("dial db.internal.example.org")
	attempt := func(after time.Duration, err error, wantText string) {
		t.Helper()
		now = now.Add(after)
		a.tasks.ended(t.Context(), taskDelete, err)
		text := ""
		for _, f := range a.taskFindings() {
			if text += f.Text; f.ID != "background_task_failing" {
				t.Errorf("got the finding %+v, want a background task", f)
			}
		}
		if text != wantText {
			t.Errorf("%s: got the findings %q, want %q", now.Format(time.TimeOnly), text, wantText)
		}
	}
	attempt(0, damaged, "")
	attempt(59*time.Minute, damaged, "")
	const prefix = "The node has failed to delete old data for more than an hour: "
	attempt(time.Minute, errors.Join(damaged, damaged, damaged), prefix+"invalid character 'x' (and 2 more).")
	attempt(time.Minute, fmt.Errorf("project 7: %w", refused), prefix+"project 7: the database is busy.")
	attempt(time.Minute, nil, "")
	attempt(time.Minute, damaged, "")
	attempt(time.Hour, nil, "") // one failure, and a long attempt
	for range 240 {
		attempt(250*time.Millisecond, damaged, "")
	}
	if got := strings.Count(log.String(), "delete old data failed, will retry"); got != 7 {
		t.Errorf("got %d lines about failures in the log, want 7:\n%s", got, log.String())
	}
}

// While the data of rooms is damaged, the deletion of old data fails. The metrics show it, and the error names a room.
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
	err = db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
		return db.Exec(ctx, `UPDATE events SET data = '{' WHERE room_id IN ($1, $2)`, rooms[14], rooms[9])
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, func(c *config.Config) { c.DataDir, c.RetentionPeople = s.cfg.DataDir, config.Duration(6*day) })
	testkit.Eventually(t, "the metrics say that the task fails", func() bool {
		return s.metric(`parley_background_task_failing{task="delete_old_data"}`) == 1
	})
	if got := s.metric(`parley_background_task_failing{task="roll_up_usage"}`); got != 0 {
		t.Errorf("roll up usage: got %g, want 0", got)
	}
	text := briefly(s.app.tasks.failures()[taskDelete].err)
	named := strings.Contains(text, rooms[14]) || strings.Contains(text, rooms[9])
	if !named || !strings.HasPrefix(text, "project "+s.ProjectID) || !strings.HasSuffix(text, " (and 1 more)") {
		t.Errorf("got the error %q, want one that names a damaged room and its project, and says that there is one more", text)
	}
}

// A room that cannot be ended is in the metrics until it is repaired, and the error names it.
func TestTasks_DamagedDueRoom(t *testing.T) {
	s := startServer(t, nil)
	id, _ := s.createRoom(2, 60)
	change := func(statement string) {
		t.Helper()
		err := s.app.db.Write(storetest.Patient(t.Context()), func(ctx context.Context) error {
			return s.app.db.Exec(ctx, statement+" WHERE id = $1", id)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const series = `parley_background_task_failing{task="update_due_rooms"}`
	change(`UPDATE rooms SET created_at = 1, opened_at = 1, due_at = 1, event_sequence = 0`) // has an event with number 1
	testkit.Eventually(t, "the metrics say that the task fails", func() bool { return s.metric(series) == 1 })
	if text := briefly(s.app.tasks.failures()[taskRooms].err); !strings.HasPrefix(text, "room "+id+": ") {
		t.Errorf("got the error %q, want one that names the room %s", text, id)
	}
	change(`UPDATE rooms SET event_sequence = 1`)
	testkit.Eventually(t, "the metrics say that the task works", func() bool { return s.metric(series) == 0 })
}
