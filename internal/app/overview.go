package app

import (
	"context"
	"fmt"
	"time"

	"parley/internal/config"
	"parley/internal/doctor"
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

// healthFindings returns what is wrong with this node and what it depends on.
func (a *App) healthFindings(ctx context.Context, now time.Time) []overview.Finding {
	report, _ := a.checkHealth(ctx) // /healthz logs the causes
	var found []overview.Finding
	add := func(id string, level overview.Level, text, action string) {
		found = append(found, overview.Finding{ID: id, Level: level, Text: text, Action: action})
	}
	if report["database"] == "read_only" {
		add("database_read_only", overview.Error, "The database accepts no writes, so nobody can join or create rooms.",
			"Look for the cause in the log of the node, usually a full disk or a database that is a standby, and remove it.")
	}
	if report["media"] != "ok" {
		add("media_unavailable", overview.Error, "The media engine of this node does not work.",
			"Look for the cause in the log of the node. If it does not recover, restart the node.")
	}
	if report["redis"] == "unavailable" {
		add("redis_unavailable", overview.Error,
			"This node does not reach Redis. Meetings go on, but people on different nodes may not meet in new rooms.",
			"Start Redis, or correct --redis-url. The nodes reconnect by themselves.")
	}
	found = append(found, a.certificateFindings(now)...)
	for _, err := range a.Unopened() {
		found = append(found, overviewFindings(doctor.PortFindings(a.cfg, err))...)
	}
	found = append(found, overviewFindings(a.machine.last())...)
	if a.supervisor != nil && a.supervisor.Restarts() > 0 {
		at := a.supervisor.CrashedAt()
		switch {
		case a.supervisor.CrashLoop(now):
			add("crash_loop", overview.Error, fmt.Sprintf("This node has crashed several times in a row, %d times in total.",
				a.supervisor.Restarts()), "Look for the cause in the log of the node, and report it with the lines of the crash.")
		case now.Sub(at) < restartNotice:
			add("restarted", overview.Warning, fmt.Sprintf("This node crashed and restarted at %s.",
				at.UTC().Format(time.RFC3339)), "Report it with the lines of the crash in the log of the node.")
		}
	}
	if a.scheduled != nil && a.scheduled.overdue() {
		found = append(found, overview.Finding{
			ID:    "backup_overdue",
			Level: overview.Warning,
			Text: fmt.Sprintf("The newest backup in %s is older than the schedule, %s.", a.cfg.BackupDir,
				a.cfg.BackupEvery),
			Action: "Look for the error of the last backup in the log of the node, usually a full disk, or make a backup " +
				"now.",
			Commands: []string{"parley backup FILE"},
		})
	}
	return found
}

// overviewFindings returns findings of the doctor for parley status and the console.
func overviewFindings(found []doctor.Finding) (findings []overview.Finding) {
	for _, f := range found {
		level := overview.Warning
		if f.Level == doctor.Error {
			level = overview.Error
		}
		findings = append(findings, overview.Finding{ID: f.ID, Level: level, Text: f.Text, Action: f.Change})
	}
	return findings
}
