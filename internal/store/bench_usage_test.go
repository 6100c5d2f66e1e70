package store_test

import (
	"fmt"
	"testing"
	"time"

	"parley/internal/store/storetest"
	"parley/internal/usage"
)

// BenchmarkUsage reads the usage of a month in which an organization had a number of
// meetings, and another one as many.
func BenchmarkUsage(b *testing.B) {
	for name, open := range storetest.Engines {
		for _, meetings := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, meetings), func(b *testing.B) {
				db := open(b)
				start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
				now := start.AddDate(0, 0, 29)
				p, other := storetest.Project(b, db), storetest.Project(b, db)
				storetest.Fill(b, db, p.ID, meetings, start, now, 1)
				storetest.Fill(b, db, other.ID, meetings, start, now, 2)
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
