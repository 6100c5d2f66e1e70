package app

import (
	"context"
	"time"

	"parley/internal/audit"
	"parley/internal/fault"
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
		if err := a.keys.Sweep(ctx); err != nil {
			a.logJanitorFailure(ctx, "sweep credentials failed", err)
		} else {
			a.quickstart.Update(ctx)
		}
		if err := a.tokens.FlushUses(ctx); err != nil {
			a.logJanitorFailure(ctx, "record last use of tokens and sessions failed", err)
		}
		if err := a.usage.RollUp(ctx); err != nil {
			a.logJanitorFailure(ctx, "roll up usage failed, will retry", err)
		}
		if err := a.rooms.MergePastRoomCounts(ctx); err != nil {
			a.logJanitorFailure(ctx, "merge counts of past rooms failed, will retry", err)
		}
		if time.Since(headLogged) >= auditHeadInterval {
			if err := a.logAuditHead(ctx); err != nil {
				a.logJanitorFailure(ctx, "read head of audit log failed, will retry", err)
			} else {
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
		if err := a.pruneAudit(ctx); err != nil {
			a.logJanitorFailure(ctx, "prune audit log failed, will retry", err)
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

func (a *App) logJanitorFailure(ctx context.Context, message string, err error) {
	switch {
	case ctx.Err() != nil: // the service stops
	case fault.Is(err, fault.Unavailable):
		a.log.Warn(message, "error", err)
	default:
		a.log.Error(message, "error", err)
	}
}
