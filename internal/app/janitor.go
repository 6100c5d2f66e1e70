package app

import (
	"context"
	"time"

	"parley/internal/fault"
)

// janitorInterval is how often the work is done that nobody waits for.
const janitorInterval = time.Minute

// runJanitor does, until ctx ends, what keeps the house in order and no answer
// depends on: credentials whose overlap is over are retired and in the end
// forgotten, and the quick start file is brought up to date if it could not be
// before.
func (a *App) runJanitor(ctx context.Context) {
	tick := time.NewTicker(janitorInterval)
	defer tick.Stop()
	for {
		if err := a.keys.Sweep(ctx); err != nil && ctx.Err() == nil {
			level := a.log.Error
			if fault.Is(err, fault.Unavailable) {
				level = a.log.Warn
			}
			level("could not sweep credentials", "error", err)
		} else if err == nil {
			a.updateQuickstart(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
