package app

import (
	"context"
	"time"

	"parley/internal/fault"
)

// janitorInterval is the time between two passes of the janitor.
const janitorInterval = time.Minute

// runJanitor does periodic maintenance until ctx ends: it retires credentials
// whose overlap has ended, purges them later, and repeats an update of the
// quickstart file that failed before.
func (a *App) runJanitor(ctx context.Context) {
	tick := time.NewTicker(janitorInterval)
	defer tick.Stop()
	for {
		if err := a.keys.Sweep(ctx); err != nil && ctx.Err() == nil {
			level := a.log.Error
			if fault.Is(err, fault.Unavailable) {
				level = a.log.Warn
			}
			level("sweep credentials failed", "error", err)
		} else if err == nil {
			a.quickstart.Update(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
