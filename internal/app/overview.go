package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"parley/internal/config"
	"parley/internal/db"
	"parley/internal/doctor"
	"parley/internal/fault"
	"parley/internal/overview"
)

// restartNotice is how long after a crash a restart is a finding.
const restartNotice = 24 * time.Hour

func (a *App) newOverview(now func() time.Time) *overview.Service {
	sources := overview.Sources{
		Rooms:    a.rooms,
		Webhooks: a.webhooks,
		Usage:    a.usage,
		Keys:     a.keys,
		NodeID:   a.rooms.NodeID(),
		Health:   func(ctx context.Context) []overview.Finding { return a.healthFindings(ctx, now()) },
	}
	if a.callStats.requestLog != nil {
		sources.Calls = a.callStats.requestLog
	}
	return overview.NewService(sources, now)
}

// redisAvailable returns the function that reports whether this node reaches Redis, or nil
// without Redis.
func (a *App) redisAvailable() func() bool {
	if a.redis == nil {
		return nil
	}
	return a.redis.Available
}

// settingValues returns the settings with the values that follow from others.
func (a *App) settingValues() []config.Value {
	cfg := a.cfg
	cfg.PublicURL, cfg.MasterKeyFile = a.baseURL, cfg.KeyFile()
	return cfg.Values()
}

// findingsInterval is the time between two looks at the health of this node for the other nodes.
const findingsInterval = 5 * time.Second

// keepFindings keeps a.findings up to date until ctx ends. Its own loop looks at the health, because that may wait for
// the database, and a heartbeat must not.
func (a *App) keepFindings(ctx context.Context, now func() time.Time) {
	for {
		a.findings.Store(new(overview.EncodeFindings(a.healthFindings(ctx, now()))))
		select {
		case <-ctx.Done():
			return
		case <-time.After(findingsInterval):
		}
	}
}

// encodedFindings returns what is wrong with this node, for its heartbeats.
func (a *App) encodedFindings() string {
	if found := a.findings.Load(); found != nil {
		return *found
	}
	return ""
}

// healthFindings returns what is wrong with this node and what it depends on.
func (a *App) healthFindings(ctx context.Context, now time.Time) []overview.Finding {
	report, _ := a.checkHealth(ctx) // /healthz logs the causes
	var found []overview.Finding
	add := func(id string, level overview.Level, text, action string) {
		found = append(found, overview.Finding{ID: id, Level: level, Text: text, Action: action})
	}
	if report["database"] == "read_only" {
		err := a.db.RecentWriteError()
		add("database_read_only", overview.Error, withCause("The database accepts no writes, so nobody can join or create "+
			"rooms", err), a.writeRemedy(err))
	}
	if report["media"] != "ok" {
		add("media_unavailable", overview.Error, withCause("The media engine of the node does not work",
			a.engine.Healthy()), "Restart the node, and report it with the lines of its log.")
	}
	if report["redis"] == "unavailable" {
		add("redis_unavailable", overview.Error,
			"The node does not reach Redis. Meetings go on, but people on different nodes may not meet in new rooms.",
			"Start Redis, or correct --redis-url. The nodes reconnect by themselves.")
	}
	found = append(found, a.certificateFindings(now)...)
	found = append(found, overviewFindings(doctor.SocketFindings(a.cfg, a.Unopened()))...)
	found = append(found, overviewFindings(doctor.MediaPortFindings(a.cfg, a.engine.TryUnopenedPorts()))...)
	found = append(found, overviewFindings(a.machine.last())...)
	if a.supervisor != nil && a.supervisor.Restarts() > 0 {
		at := a.supervisor.CrashedAt()
		switch {
		case a.supervisor.CrashLoop(now):
			add("crash_loop", overview.Error, fmt.Sprintf("The node has crashed several times in a row, %d times in total.",
				a.supervisor.Restarts()), "Look for the cause in the log of the node, and report it with the lines of the crash.")
		case now.Sub(at) < restartNotice:
			add("restarted", overview.Warning, fmt.Sprintf("The node crashed and restarted at %s.",
				at.UTC().Format(time.RFC3339)), "Report it with the lines of the crash in the log of the node.")
		}
	}
	if a.scheduled != nil && a.scheduled.overdue() {
		found = append(found, a.backupFinding(a.scheduled.lastError()))
	}
	if report["database"] == "ok" { // otherwise most tasks fail, and for the same reason
		found = append(found, a.taskFindings()...)
	}
	return found
}

// withCause returns a sentence with its cause, if that is known.
func withCause(text string, err error) string {
	if err == nil {
		return text + "."
	}
	cause := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Message != "" { // it has the cause, too
		cause = f.ForOperator()
	}
	return text + ": " + strings.TrimRight(strings.Join(strings.Fields(cause), " "), ".") + "."
}

// writeRemedy says what to change if the database accepts no writes.
func (a *App) writeRemedy(err error) string {
	switch {
	case db.IsDiskFull(err):
		return fmt.Sprintf("Free space on the disk of %s, or enlarge it.", a.cfg.DataDir)
	case db.IsServerDiskFull(err):
		return "Free space on the disk of PostgreSQL, or enlarge it."
	case a.cfg.DatabaseURL != "":
		return "Set --database-url to the primary of PostgreSQL. If its disk has failed, repair it."
	}
	return fmt.Sprintf("Make the disk of %s writable, or repair it.", a.cfg.DataDir)
}

// backupFinding describes that no scheduled backup was made in time, with the error of the last attempt.
func (a *App) backupFinding(err error) overview.Finding {
	f := overview.Finding{
		ID:    "backup_overdue",
		Level: overview.Warning,
		Text: withCause(fmt.Sprintf("The newest backup in %s is older than the schedule, %s", a.cfg.BackupDir,
			a.cfg.BackupEvery), err),
		Action:   "Remove the cause. To have a backup until then, make one in another place.",
		Commands: []string{"parley backup FILE"},
	}
	switch {
	case err == nil:
		f.Action = "Let the server make a backup, which it does soon, or make one in another place."
	case db.IsDiskFull(err):
		f.Commands = nil
		f.Action = fmt.Sprintf("Free space on the disks of %s and %s, or enlarge them.", a.cfg.BackupDir, a.cfg.DataDir)
	case errors.Is(err, fs.ErrNotExist):
		f.Commands = nil
		f.Action = fmt.Sprintf("Mount the disk of %s, or create the directory for the user of the server.", a.cfg.BackupDir)
	case errors.Is(err, fs.ErrPermission):
		f.Commands = nil
		f.Action = fmt.Sprintf("Let the user of the server write to %s.", a.cfg.BackupDir)
	}
	return f
}

// ofNode replaces the words of the doctor for the machine on which it runs, because every node shows the findings of
// the others.
var ofNode = strings.NewReplacer("this machine", "the node", "This machine", "The node")

// overviewFindings returns findings of the doctor for parley status and the console.
func overviewFindings(found []doctor.Finding) (findings []overview.Finding) {
	for _, f := range found {
		level := overview.Warning
		if f.Level == doctor.Error {
			level = overview.Error
		}
		findings = append(findings, overview.Finding{
			ID:     f.ID,
			Level:  level,
			Text:   ofNode.Replace(f.Text),
			Action: ofNode.Replace(f.Change),
		})
	}
	return findings
}
