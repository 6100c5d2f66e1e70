package store_test

import (
	"context"
	"testing"

	"parley/internal/event"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// BenchmarkRead reads rows from one goroutine: a room, and the 20 seats and 20
// events of a room.
func BenchmarkRead(b *testing.B) {
	for name, open := range storetest.Engines {
		db := open(b)
		r := storetest.Room(storetest.Project(b, db).ID)
		r.ClientRoomID, r.StartAt = "client id", r.CreatedAt
		err := db.Write(context.Background(), func(ctx context.Context) error {
			if err := db.InsertRoom(ctx, r); err != nil {
				return err
			}
			for i := range 20 {
				seat := room.Seat{
					ID:        storetest.NewID(),
					RoomID:    r.ID,
					KeyHash:   storetest.NewID(),
					Name:      "Ada",
					Role:      room.Guest,
					State:     room.Joined,
					CreatedAt: r.CreatedAt,
				}
				if err := db.InsertSeat(ctx, seat); err != nil {
					return err
				}
				if err := db.AppendEvents(ctx, []event.Event{storetest.Event(r, i+1)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		for query, read := range map[string]func(ctx context.Context) error{
			"room":  func(ctx context.Context) error { _, err := db.Room(ctx, r.ID); return err },
			"seats": func(ctx context.Context) error { _, err := db.Seats(ctx, r.ID); return err },
			"events": func(ctx context.Context) error {
				_, err := db.DeliveredEvents(ctx, r.ID, 0, 100)
				return err
			},
		} {
			b.Run(name+"/"+query, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := read(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
