package store_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// callers is how many requests are under way at once.
const callers = 64

// BenchmarkCreateRoom makes rooms from 64 callers at once: "shared" as the
// service does it, "alone" with a transaction for each, to compare.
func BenchmarkCreateRoom(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, how := range []string{"shared", "alone"} {
			b.Run(engine+"/"+how, func(b *testing.B) {
				at, connections := testDatabase{dir: b.TempDir()}, 1
				if engine == "postgres" {
					at, connections = testDatabase{url: storetest.Postgres(b)}, 16
				}
				db := at.open(b)
				p := storetest.Project(b, db)
				if how == "shared" {
					createRooms(b, db, p)
					return
				}
				other, err := store.Open(context.Background(), at.url, at.dir) // whose lane has no connection yet
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = other.Close() }()
				createRooms(b, unbatchedDB{other, other.Unbatched(connections)}, p)
			})
		}
	}
}

type unbatchedDB struct {
	*store.DB
	writeUnbatched func(context.Context, func(context.Context) error) error
}

func (a unbatchedDB) Write(ctx context.Context, work func(context.Context) error) error {
	return a.writeUnbatched(ctx, work)
}

func createRooms(b *testing.B, db room.Store, p project.Project) {
	ctx := context.Background()
	rooms := room.NewService(db, nil, func() string { return "https://example.com" }, time.Now, storetest.NewID, slog.New(slog.DiscardHandler))
	q := room.CreateRequest{Type: room.Audio, Name: "Ada", MaxParticipants: 10, Title: "Title", WelcomeMessage: "Welcome"}
	b.SetParallelism(callers / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	before := storetest.CPUTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := rooms.CreateQuick(ctx, p, q); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rooms/s")
	b.ReportMetric(float64((storetest.CPUTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}
