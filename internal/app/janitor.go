package app

import (
	"context"
	"time"

	"parley/internal/audit"
)

const (
	janitorInterval = time.Minute // between two passes of the janitor
	// auditHeadInterval is the time between two lines of the log with the head of the
	// audit log.
	auditHeadInterval = time.Hour
	// auditPruneInterval is the time between two checks for entries of the audit log that
	// are too old, because each deletion adds an entry.
	auditPruneInterval = 24 * time.Hour
)

// runJanitor does periodic maintenance until ctx ends: it retires credentials
// whose overlap has ended, purges them later, repeats an update of the quickstart
// file that failed before, records the last use of management tokens and sessions, rolls up
// the usage, and merges the counts of past rooms.
func (a *App) runJanitor(ctx context.Context) {
	tick := time.NewTicker(janitorInterval)
	defer tick.Stop()
	var headLogged time.Time
	for {
		err := a.keys.Sweep(ctx)
		a.tasks.ended(ctx, taskCredentials, err)
		if err == nil {
			a.tasks.record(taskQuickstart, a.quickstart.Update(ctx)) // which logs its error
		}
		a.tasks.ended(ctx, taskUses, a.tokens.FlushUses(ctx))
		a.tasks.ended(ctx, taskUsage, a.usage.RollUp(ctx))
		a.tasks.ended(ctx, taskRoomCounts, a.rooms.MergePastRoomCounts(ctx))
		if time.Since(headLogged) >= auditHeadInterval {
			err := a.logAuditHead(ctx)
			a.tasks.ended(ctx, taskAuditHead, err)
			if err == nil {
				headLogged = time.Now()
			}
		}
		select {
		case <-ctx.Done():
			if err := a.tokens.FlushUses(context.WithoutCancel(ctx)); err != nil {
				a.log.Warn("record last use of tokens and sessions failed", "error", err)
			}
			return
		case <-tick.C:
		}
	}
}

// runAuditPruner prunes the audit log until ctx ends. It is not part of the janitor, because the first deletion of a
// long log takes minutes.
func (a *App) runAuditPruner(ctx context.Context) {
	for {
		wait := auditPruneInterval
		err := a.pruneAudit(ctx)
		a.tasks.ended(ctx, taskAuditPruning, err)
		if err != nil {
			wait = janitorInterval
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// pruneAudit deletes the entries of the audit log that are older than --retention-audit.
func (a *App) pruneAudit(ctx context.Context) error {
	return a.audit.Prune(a.withServiceOrigin(ctx), time.Now().Add(-a.cfg.RetentionAudit.Std()))
}

// withServiceOrigin returns a context in which changes are recorded as those of the
// service itself.
func (a *App) withServiceOrigin(ctx context.Context) context.Context {
	return audit.WithOrigin(ctx, audit.Origin{Kind: audit.KindService, Node: a.rooms.NodeID()})
}

// logAuditHead logs the head of the audit log, so that the log shows later whether
// entries before it were changed or cut off.
func (a *App) logAuditHead(ctx context.Context) error {
	n, hash, err := a.audit.Head(ctx)
	if err == nil && n > 0 {
		a.log.Info("head of audit log", "n", n, "hash", hash)
	}
	return err
}
