package store_test

import (
	"fmt"
	"testing"
	"time"

	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// BenchmarkUsage reads the usage of a month at the end of its first day and of its last but
// one, with the same number of meetings on each day, of which another organization has as
// many. The cost of both should be about the same.
func BenchmarkUsage(b *testing.B) {
	for name, open := range storetest.Engines {
		for _, daily := range []int{10, 300} {
			for _, days := range []int{1, 30} {
				b.Run(fmt.Sprintf("%s/meetings=%d/days=%d", name, daily, days), func(b *testing.B) {
					db := open(b)
					start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
					now := start.AddDate(0, 0, days).Add(-30 * time.Minute)
					p, other := storetest.Project(b, db), storetest.Project(b, db)
					storetest.Fill(b, db, p.ID, daily*days, start, now, 1)
					storetest.Fill(b, db, other.ID, daily*days, start, now, 2)
					service := usage.NewService(db, usage.NoProvider{}, func() time.Time { return now })
					if err := service.RollUp(b.Context()); err != nil {
						b.Fatal(err)
					}
					scope := usage.Scope{OrganizationID: p.OrganizationID}
					for b.Loop() {
						if _, err := service.Totals(b.Context(), scope, start, now); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
