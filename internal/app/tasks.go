package app

import (
	"cmp"
	"context"
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
}

var (
	taskDelete       = task{"delete_old_data", "delete old data"}
	taskCompact      = task{"compact_database", "compact the database"}
	taskCredentials  = task{"retire_credentials", "retire credentials whose overlap has ended"}
	taskUses         = task{"record_uses", "record the last use of tokens and sessions"}
	taskUsage        = task{"roll_up_usage", "roll up usage"}
	taskRoomCounts   = task{"merge_room_counts", "merge counts of past rooms"}
	taskAuditHead    = task{"read_audit_head", "read head of audit log"}
	taskAuditPruning = task{"prune_audit_log", "prune audit log"}
	taskCallCounts   = task{"store_call_counts", "store counts of API calls"}
	taskCalls        = task{"store_calls", "store records of API calls"}
	taskSurplus      = task{"delete_surplus_calls", "delete surplus records of API calls"}
)

// taskNotice is how long a task must fail before it is a finding. After a failure, most tasks repeat each minute.
const taskNotice = time.Hour

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
	since time.Time
	err   error // of the last attempt
}

func newTasks(registry prometheus.Registerer, log *slog.Logger, now func() time.Time) *tasks {
	t := &tasks{log: log, now: now, failing: map[task]taskFailure{}, metric: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parley_background_task_failing",
		Help: "Whether the last attempt of a background task failed, 1 or 0.",
	}, []string{"task"})}
	registry.MustRegister(t.metric)
	return t
}

// ended records how an attempt of a task ended, and logs a failure, unless the end of ctx has interrupted it.
func (t *tasks) ended(ctx context.Context, of task, err error) {
	if ctx.Err() != nil {
		return
	}
	t.record(of, err)
	level := slog.LevelError
	if fault.Is(err, fault.Unavailable) {
		level = slog.LevelWarn
	}
	if err != nil {
		t.log.Log(ctx, level, of.verb+" failed, will retry", "error", err)
	}
}

func (t *tasks) record(of task, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		delete(t.failing, of)
		t.metric.WithLabelValues(of.name).Set(0)
		return
	}
	failure := t.failing[of]
	if failure.err == nil {
		failure.since = t.now()
	}
	failure.err = err
	t.failing[of] = failure
	t.metric.WithLabelValues(of.name).Set(1)
}

// failures returns the tasks that fail.
func (t *tasks) failures() map[task]taskFailure {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.failing)
}

// taskFindings returns the tasks of this node that have failed for a while.
func (a *App) taskFindings(now time.Time) (found []overview.Finding) {
	failing := a.tasks.failures()
	byName := func(a, b task) int { return cmp.Compare(a.name, b.name) }
	for _, of := range slices.SortedFunc(maps.Keys(failing), byName) {
		failure := failing[of]
		if now.Sub(failure.since) < taskNotice {
			continue
		}
		// A sweep that leaves out what is damaged returns an error of several lines.
		first, others, _ := strings.Cut(failure.err.Error(), "\n")
		if others != "" {
			first += fmt.Sprintf(" (and %d more)", strings.Count(others, "\n")+1)
		}
		action := fmt.Sprintf("Remove the cause. If you do not know it, report the lines with %q of the log of the node.",
			of.verb)
		if db.IsDiskFull(failure.err) || db.IsServerDiskFull(failure.err) {
			action = a.writeRemedy(failure.err)
		}
		found = append(found, overview.Finding{ID: "background_task_failing", Level: overview.Warning,
			Text: fmt.Sprintf("The node has failed to %s since %s: %s.", of.verb, failure.since.UTC().Format(time.RFC3339),
				strings.TrimRight(first, ".")), Action: action})
	}
	return found
}
