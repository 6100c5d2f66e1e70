package db_test

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

// callers is the number of concurrent requests.
const callers = 64

// BenchmarkCreateRoom creates rooms from 64 concurrent callers: "shared" with
// group commit, as the service does it, and for comparison "alone" with a
// transaction for each caller.
func BenchmarkCreateRoom(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, mode := range []string{"shared", "alone"} {
			b.Run(engine+"/"+mode, func(b *testing.B) {
				at, connections := storetest.Database{Dir: b.TempDir()}, 1
				if engine == "postgres" {
					at, connections = storetest.Database{URL: storetest.Postgres(b)}, 16
				}
				db := at.Open(b)
				p := storetest.Project(b, db)
				if mode == "shared" {
					createRooms(b, db, p)
					return
				}
				// The writer of another DB has not opened its connection yet.
				other, err := store.Open(context.Background(), at.URL, at.Dir)
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
	*store.Store
	writeUnbatched func(context.Context, func(context.Context) error) error
}

func (a unbatchedDB) Write(ctx context.Context, work func(context.Context) error) error {
	return a.writeUnbatched(ctx, work)
}

func createRooms(b *testing.B, db room.Store, p project.Project) {
	ctx := context.Background()
	rooms := room.NewService(db, nil, func() string { return "https://example.com" }, time.Now, storetest.NewID,
		slog.New(slog.DiscardHandler), room.Options{})
	q := room.Spec{
		Type: room.Audio, CreatorName: "Ada", MaxParticipants: 10, Title: "Title", WelcomeMessage: "Welcome",
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
