package app

import (
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
