package room_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// quiet is a media engine in which nothing happens by itself: the doors are
// tested here, and what is behind them with real participants elsewhere.
type quiet struct{ room.Media }

func (quiet) Open(context.Context, room.MediaSession) error { return nil }
func (quiet) Pass(room.MediaPass) (string, error)           { return "token", nil }
func (quiet) Remove(context.Context, string, string) error  { return nil }
func (quiet) Close(_ context.Context, _ string) error       { return nil }

// rooms returns a service on a database, with a project to make rooms in.
func rooms(t testing.TB, url string) (*room.Service, project.Project) {
	t.Helper()
	db := storetest.Open(t, url, t.TempDir())
	p := storetest.Project(t, db)
	return room.NewService(db, quiet{}, func() string { return "https://meet.example.org" }, time.Now, storetest.NewID, slog.New(slog.DiscardHandler)), p
}

// Fifty people ask at once for ten seats, and each time exactly ten get one;
// everybody else reads why not.
func TestSeatsAreExact(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, url string
		rounds    int
	}{{"SQLite", "", 100}, {"PostgreSQL", storetest.Postgres(t), 100}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, p := rooms(t, tc.url)
			for round := range tc.rounds {
				created, err := s.CreateQuick(t.Context(), p, room.Request{Type: room.Audio, Name: "Host", Title: "Full", MaxParticipants: 10})
				if err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				var people sync.WaitGroup
				admitted, refused := map[string]bool{}, 0
				for n := range 50 {
					people.Go(func() {
						visit := room.Visit{Name: "Guest", SeatKey: strings.Repeat("k", 30) + fmt.Sprint(n)}
						a, err := s.TakeSeat(t.Context(), created.ID, visit)
						for fault.Is(err, fault.Unavailable) { // a slow disk: ask again, as the page does
							a, err = s.TakeSeat(t.Context(), created.ID, visit)
						}
						mu.Lock()
						defer mu.Unlock()
						switch f := fault.From(err); {
						case err == nil:
							admitted[a.Seat.ID] = true
						case f.Code == "room_full" && f.Message == "this room is full: all 10 seats are taken":
							refused++
						default:
							t.Errorf("round %d: %v", round, err)
						}
					})
				}
				people.Wait()
				if len(admitted) != 10 || refused != 40 {
					t.Fatalf("round %d: %d came in and %d were refused", round, len(admitted), refused)
				}
			}
		})
	}
}
