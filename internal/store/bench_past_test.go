package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"parley/internal/room"
	"parley/internal/store/storetest"
)

// BenchmarkPastRooms reads pages of the past rooms of a project that had a number of
// meetings in a year.
func BenchmarkPastRooms(b *testing.B) {
	for name, open := range storetest.Engines {
		for _, meetings := range []int{1_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, meetings), func(b *testing.B) {
				db, ctx := open(b), context.Background()
				p := storetest.Project(b, db)
				start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				storetest.Fill(b, db, p.ID, meetings, start, start.AddDate(1, 0, 0), 1)
				rooms := room.NewService(db, nil, nil, time.Now, storetest.NewID, nil, room.Options{})
				if err := rooms.MergePastRoomCounts(ctx); err != nil {
					b.Fatal(err)
				}
				if name == "postgres" { // does this by itself within a minute
					err := db.Write(ctx, func(ctx context.Context) error { return db.Exec(ctx, `ANALYZE`) })
					if err != nil {
						b.Fatal(err)
					}
				}
				for page, from := range map[string]int{"first": 0, "middle": meetings / 2, "last": meetings - 20} {
					b.Run(page, func(b *testing.B) {
						for b.Loop() {
							all, total, err := db.PastRooms(ctx, p.ID, room.PastQuery{Offset: from, Limit: 20})
							if err != nil || len(all) != 20 || total != meetings {
								b.Fatalf("got %d of %d rooms, %v, want 20 of %d", len(all), total, err, meetings)
							}
						}
					})
				}
			})
		}
	}
}
