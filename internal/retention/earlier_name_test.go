package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/retention"
	"parley/internal/store"
)

// rename changes the name of a person in a room, as joining again with another name does, and returns the person.
func (f *fixture) rename(roomID, from, to string) retention.Person {
	f.t.Helper()
	_, err := f.Raw(f.t).Exec(fmt.Sprintf(`UPDATE seats SET name = '%s' WHERE room_id = '%s' AND name = '%s'`, to, roomID, from))
	if err != nil {
		f.t.Fatal(err)
	}
	seats, err := f.db.SeatsOfRoom(f.t.Context(), roomID)
	n := slices.IndexFunc(seats, func(s retention.Seat) bool { return s.Name == to })
	if err != nil || n < 0 {
		f.t.Fatalf("seats of the room: got %+v, %v, want one with the name %q", seats, err, to)
	}
	return retention.Person{ProjectID: f.project.ID, SeatID: seats[n].ID}
}

// A person who has changed the name loses the earlier one too, also where only the name is recorded: in a refused
// attempt to join, and in a visit that was not admitted.
func TestErase_EarlierName(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Amina", ""}, guest{"Refused", ""})
		person := f.rename(r.ID, "Refused", "Zebulon")
		records, _, err := f.retention.Export(t.Context(), person, "")
		if err != nil || len(records) != 1 {
			t.Fatalf("export: got %+v, %v, want one room", records, err)
		}
		if !slices.ContainsFunc(records[0].Events, func(e event.Event) bool { return e.Data.FailedJoin != nil }) {
			t.Errorf("exported events: got %+v, want the refused attempt to join among them", records[0].Events)
		}
		if _, err := f.retention.Erase(t.Context(), person); err != nil {
			t.Fatal(err)
		}
		f.checkNoByteLeft([]string{"Refused", "Zebulon"}, r.Title)
	})
}

// stoppedErasure is a store that fails in the second transaction of an erasure.
type stoppedErasure struct {
	*store.DB
	transactions *int
}

func (s stoppedErasure) WriteInBackground(ctx context.Context, work func(ctx context.Context) error) error {
	if *s.transactions++; *s.transactions == 2 {
		return errInterrupted
	}
	return s.DB.WriteInBackground(ctx, work)
}

// An erasure that was interrupted still knows the earlier names when it is repeated.
func TestErase_EarlierNameAfterInterruption(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		// The events of the second guest are erased in the first transaction, and no action of a host has the name.
		guests := []guest{{"Amina", ""}, {"Refused", ""}}
		for range 80 {
			guests = append(guests, guest{"Amina", ""})
		}
		r := f.meeting(f.project.ID, f.now.Add(-day), guests...)
		person := f.rename(r.ID, "Refused", "Zebulon")
		transactions := 0
		interrupted := retention.NewService(stoppedErasure{f.db, &transactions}, retention.Periods{}, f, func(string) {},
			func() time.Time { return f.now }, slog.New(slog.DiscardHandler))
		ctx := audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindToken})
		if _, err := interrupted.Erase(ctx, person); !errors.Is(err, errInterrupted) {
			t.Fatalf("interrupted erasure: got %v, want %v", err, errInterrupted)
		}
		if _, err := f.retention.Erase(ctx, person); err != nil {
			t.Fatal(err)
		}
		f.checkNoByteLeft([]string{"Refused", "Zebulon"}, r.Title)
	})
}
