package room_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// Two services on one database, as two nodes are: the same key at once makes
// one room, and whoever comes after reads the first answer.
func TestIdempotencyKey_ConcurrentOnTwoNodes(t *testing.T) {
	t.Parallel()
	for name, open := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			p := storetest.Project(t, db)
			nodes := []*room.Service{newNodeService(db, time.Now), newNodeService(db, time.Now)}
			once := func() *room.IdempotencyKey {
				return &room.IdempotencyKey{ProjectID: p.ID, Route: "/route", Key: "key", Body: []byte("{}"),
					Render: func(c room.Created) ([]byte, error) { return []byte(c.FinalLink), nil }}
			}
			var made atomic.Int32
			var work sync.WaitGroup
			for i := range 32 {
				work.Go(func() {
					ctx, node, o := context.Background(), nodes[i%2], once()
					answer, end, err := node.BeginIdempotent(ctx, o)
					if err == nil && answer == nil {
						defer end()
						_, err = node.CreateQuick(ctx, p, room.CreateRequest{Type: room.Audio, Name: "A", Title: "T", MaxParticipants: 2, IdempotencyKey: o})
						if err == nil {
							made.Add(1)
						}
					} else if err == nil {
						end()
					}
					if err != nil && fault.From(err).Code != "request_in_flight" {
						t.Error(err)
					}
				})
			}
			work.Wait()
			if made.Load() != 1 {
				t.Errorf("%d rooms", made.Load())
			}
			for _, n := range nodes {
				answer, end, err := n.BeginIdempotent(t.Context(), once())
				if err != nil || len(answer) == 0 {
					t.Fatalf("%q %v", answer, err)
				}
				end()
			}
			other := once()
			other.Body = []byte("{ }")
			if _, _, err := nodes[0].BeginIdempotent(t.Context(), other); !fault.Is(err, fault.Mismatch) {
				t.Errorf("another body: %v", err)
			}
			tomorrow := newNodeService(db, func() time.Time { return time.Now().Add(24 * time.Hour) })
			if answer, _, err := tomorrow.BeginIdempotent(t.Context(), other); err != nil || answer != nil {
				t.Errorf("a day later: %q %v", answer, err)
			}
			if err := tomorrow.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if answer, _, err := nodes[1].BeginIdempotent(t.Context(), other); err != nil || answer != nil {
				t.Errorf("after the purge: %q %v", answer, err)
			}
		})
	}
}

// A room that cannot be made leaves no answer behind.
func TestIdempotencyKey_NotSavedWhenCreationFails(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	p := storetest.Project(t, db)
	n := newNodeService(db, time.Now)
	q := room.CreateRequest{Type: room.Audio, Name: "A", Title: "T", MaxParticipants: 2, ClientRoomID: "mine"}
	if _, err := n.CreateQuick(t.Context(), p, q); err != nil {
		t.Fatal(err)
	}
	q.IdempotencyKey = &room.IdempotencyKey{ProjectID: p.ID, Route: "/route", Key: "key", Render: func(room.Created) ([]byte, error) { return []byte("answer"), nil }}
	for range 2 {
		answer, end, err := n.BeginIdempotent(t.Context(), q.IdempotencyKey)
		if err != nil || answer != nil {
			t.Fatalf("%q %v", answer, err)
		}
		if _, err := n.CreateQuick(t.Context(), p, q); !fault.Is(err, fault.Conflict) {
			t.Fatal(err)
		}
		end()
	}
}

func newNodeService(db *store.DB, now func() time.Time) *room.Service {
	return room.NewService(db, stubMedia{}, func() string { return "https://meet.example.org" }, now, storetest.NewID, slog.New(slog.DiscardHandler))
}
