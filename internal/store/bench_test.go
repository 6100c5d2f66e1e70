package store_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// callers is the number of concurrent requests.
const callers = 64

// BenchmarkCreateRoom creates rooms from 64 concurrent callers.
func BenchmarkCreateRoom(b *testing.B) {
	for name, open := range storetest.Engines {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			createRooms(b, db, storetest.Project(b, db))
		})
	}
}

func createRooms(b *testing.B, db room.Store, p project.Project) {
	ctx := context.Background()
	rooms := room.NewService(db, nil, func() string { return "https://example.com" }, time.Now, storetest.NewID,
		slog.New(slog.DiscardHandler), room.Options{})
	q := room.Spec{
		Type:            room.Audio,
		CreatorName:     "Ada",
		MaxParticipants: 10,
		Title:           "Title",
		WelcomeMessage:  "Welcome",
	}
	b.SetParallelism(callers / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	before := storetest.CPUTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := rooms.CreateQuick(ctx, p, q, nil); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rooms/s")
	b.ReportMetric(float64((storetest.CPUTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}
