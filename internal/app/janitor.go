package app

import (
	"context"
	"time"

	"parley/internal/fault"
)

// janitorInterval is the time between two passes of the janitor.
const janitorInterval = time.Minute

// runJanitor does periodic maintenance until ctx ends: it retires credentials
// whose overlap has ended, purges them later, repeats an update of the quickstart
// file that failed before, and rolls up the usage.
func (a *App) runJanitor(ctx context.Context) {
	tick := time.NewTicker(janitorInterval)
	defer tick.Stop()
	for {
		if err := a.keys.Sweep(ctx); err != nil {
			a.logJanitorFailure(ctx, "sweep credentials failed", err)
		} else {
			a.quickstart.Update(ctx)
		}
		if err := a.usage.RollUp(ctx); err != nil {
			a.logJanitorFailure(ctx, "roll up usage failed, will retry", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
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
