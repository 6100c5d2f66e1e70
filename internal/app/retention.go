package app

import (
	"context"

	"parley/internal/config"
	"parley/internal/retention"
)

// retentionPeriods returns the retention periods of the settings.
func retentionPeriods(cfg config.Config) retention.Periods {
	return retention.Periods{
		Rooms:      cfg.RetentionRooms.Std(),
		People:     cfg.RetentionPeople.Std(),
		Deliveries: cfg.RetentionDeliveries.Std(),
		Calls:      cfg.RetentionCalls.Std(),
	}
}

// runRetention sweeps until ctx ends.
func (a *App) runRetention(ctx context.Context) {
	a.retention.Run(ctx, func(swept, compacted error) {
		a.tasks.ended(ctx, taskDelete, swept)
		a.tasks.record(taskCompact, compacted) // the store has logged it
	})
}
