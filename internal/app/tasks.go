package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/db"
	"parley/internal/fault"
	"parley/internal/overview"
)

// task is work that every node repeats in the background.
type task struct {
	name string // in the metric
	verb string // what the node does, in a finding and in the log
	line string // what the lines of its failures in the log have; empty for the verb
}

var (
	taskDelete       = task{"delete_old_data", "delete old data", ""}
	taskCompact      = task{"compact_database", "compact the database", ""}
	taskCredentials  = task{"retire_credentials", "retire credentials whose overlap has ended", ""}
	taskUses         = task{"record_uses", "record the last use of tokens and sessions", ""}
	taskUsage        = task{"roll_up_usage", "roll up usage", ""}
	taskRoomCounts   = task{"merge_room_counts", "merge counts of past rooms", ""}
	taskAuditHead    = task{"read_audit_head", "read head of audit log", ""}
	taskAuditPruning = task{"prune_audit_log", "prune audit log", ""}
	taskCallCounts   = task{"store_call_counts", "store counts of API calls", ""}
	taskCalls        = task{"store_calls", "store records of API calls", ""}
	taskSurplus      = task{"delete_surplus_calls", "delete surplus records of API calls", ""}
	taskRooms        = task{"update_due_rooms", "open, end and expire rooms in time", "due room"}
	taskWebhooks     = task{"find_due_webhooks", "find webhooks that are due", "due webhook"}
	taskQuickstart   = task{"update_quickstart", "update the quickstart file", "quickstart file"}

	allTasks = []task{taskDelete, taskCompact, taskCredentials, taskUses, taskUsage, taskRoomCounts, taskAuditHead,
		taskAuditPruning, taskCallCounts, taskCalls, taskSurplus, taskRooms, taskWebhooks, taskQuickstart}
)

const (
	// taskNotice is the time between the first and the last failure in a row from which a task is a finding. After a
	// failure, a task repeats within a minute, except the compaction.
	taskNotice = time.Hour
	// taskLogInterval is the time between two lines of the log about a task that fails.
	taskLogInterval = 50 * time.Second
)

// tasks remembers which tasks of this node fail.
type tasks struct {
	log    *slog.Logger
	now    func() time.Time
	metric *prometheus.GaugeVec

	mu      sync.Mutex
	failing map[task]taskFailure
}

// taskFailure is why a task fails.
type taskFailure struct {
	first, last time.Time // failures in a row
	logged      time.Time
	err         error // of the last one
}

func newTasks(registry prometheus.Registerer, log *slog.Logger, now func() time.Time) *tasks {
	t := &tasks{log: log, now: now, failing: map[task]taskFailure{}, metric: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parley_background_task_failing",
		Help: "Whether the last attempt of a background task failed, 1 or 0.",
	}, []string{"task"})}
	for _, of := range allTasks {
		t.metric.WithLabelValues(of.name).Set(0)
	}
	registry.MustRegister(t.metric)
	return t
}

// ended is record that also logs a failure. It ignores an attempt that the end of ctx has interrupted.
func (t *tasks) ended(ctx context.Context, of task, err error) {
	if ctx.Err() != nil || !t.record(of, err) {
		return
	}
	level := slog.LevelError
	if fault.Is(err, fault.Unavailable) {
		level = slog.LevelWarn
	}
	t.log.Log(ctx, level, of.verb+" failed, will retry", "error", err)
}

// record records how an attempt of a task ended. It reports whether to log a failure, which is not the case for each of
// many failures in a row.
func (t *tasks) record(of task, err error) (log bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	failure, failing := t.failing[of]
	switch {
	case err == nil && failing:
		delete(t.failing, of)
		t.metric.WithLabelValues(of.name).Set(0)
		return false
	case err == nil:
		return false
	case !failing:
		failure.first = t.now()
		t.metric.WithLabelValues(of.name).Set(1)
	}
	failure.last, failure.err = t.now(), err
	if log = failure.last.Sub(failure.logged) >= taskLogInterval; log {
		failure.logged = failure.last
	}
	t.failing[of] = failure
	return log
}

// failures returns the tasks that fail.
func (t *tasks) failures() map[task]taskFailure {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.failing)
}

// taskFindings returns the tasks of this node that have failed for a while.
func (a *App) taskFindings() (found []overview.Finding) {
	failing := a.tasks.failures()
	byName := func(a, b task) int { return cmp.Compare(a.name, b.name) }
	for _, of := range slices.SortedFunc(maps.Keys(failing), byName) {
		failure := failing[of]
		if failure.last.Sub(failure.first) < taskNotice {
			continue
		}
		action := "Remove the cause."
		if db.IsDiskFull(failure.err) || db.IsServerDiskFull(failure.err) {
			action = a.writeRemedy(failure.err)
		}
		if of == taskCompact {
			action += " The node tries again within a day, and when it starts."
		} else {
			action += fmt.Sprintf(" If you do not know it, report the lines with %q of the log of the node.",
				cmp.Or(of.line, of.verb))
		}
		found = append(found, overview.Finding{ID: "background_task_failing", Level: overview.Warning,
			Text:   fmt.Sprintf("The node has failed to %s for more than an hour: %s.", of.verb, briefly(failure.err)),
			Action: action})
	}
	return found
}

// briefly returns the first line of an error, without what is for the log only, and the number of the other lines. A
// sweep that leaves out what is damaged returns an error of several lines.
func briefly(err error) string {
	text := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		text = strings.Replace(text, f.Error(), f.ForOperator(), 1)
	}
	first, others, _ := strings.Cut(text, "\n")
	if first = strings.TrimRight(first, "."); others != "" {
		first += fmt.Sprintf(" (and %d more)", strings.Count(others, "\n")+1)
	}
	return first
}
