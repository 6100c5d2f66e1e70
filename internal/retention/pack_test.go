package retention_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/retention"
	"parley/internal/store/storetest"
)

// A sweep packs the events of rooms that were over for an hour, but not in the first day, in which the operator may go
// back to a program that cannot read them.
func TestSweep_PacksEvents(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		var log bytes.Buffer
		service := retention.NewService(f.db, f.periods, f, func(string) {}, func() time.Time { return f.now },
			slog.New(slog.NewTextHandler(&log, nil)))
		sweep := func(wantMore bool, wantLog string) {
			t.Helper()
			log.Reset()
			more, err := service.Sweep(t.Context())
			if err != nil || more != wantMore || !strings.Contains(log.String(), wantLog) || wantLog == "" && log.Len() > 0 {
				t.Fatalf("sweep: got %t, %v and the log %q, want %t and %q", more, err, &log, wantMore, wantLog)
			}
		}
		old := f.meeting(f.project.ID, f.now.Add(-2*time.Hour), guest{"Amina", "user-7"})
		sweep(false, `until then you can go back to an earlier version" from=2027-03-02T12:00:00Z`)
		f.now = f.now.Add(day - time.Minute)
		sweep(false, "")
		f.now = f.now.Add(time.Minute)
		sweep(true, "no earlier version can use the database any more")
		if packs := f.readPacks(); len(packs) != 0 {
			t.Fatalf("before an earlier version would be seen: got %d rows of packed events, want none", len(packs))
		}
		f.now = f.now.Add(time.Minute)
		recent := f.meeting(f.project.ID, f.now.Add(-59*time.Minute), guest{"Bo", ""})
		events := f.rows("Amina")["events"]
		for range 2 {
			sweep(false, "")
		}
		packs := f.readPacks()
		if _, packed := packs[old.ID]; !packed || len(packs) != 1 {
			t.Errorf("after a day: got packed events of %d rooms, want those of the old one", len(packs))
		}
		if got := f.rows("Amina")["events"]; got != events || events == 0 {
			t.Errorf("packed events with the name: got %d, want %d", got, events)
		}
		f.checkNumbers(old.ID, 6)
		f.checkNumbers(recent.ID, 6)
		f.now = f.now.Add(2 * time.Minute)
		sweep(false, "")
		if packs := f.readPacks(); len(packs) != 2 {
			t.Errorf("an hour after the end of the second room: got packed events of %d rooms, want 2", len(packs))
		}
	})
}

// A room with damaged data does not keep a person in other rooms from being erased. The error names the room.
func TestErase_DamagedRoom(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		var rooms []string
		for n := range 3 {
			rooms = append(rooms, f.meeting(f.project.ID, f.now.Add(time.Duration(n-9)*day), guest{"Amina", "user-7"}).ID)
		}
		slices.Sort(rooms) // as an erasure reads them
		f.write(func(ctx context.Context) error {
			return f.db.Exec(ctx, `UPDATE events SET data = '{' WHERE room_id = $1`, rooms[0])
		})
		person := retention.Person{ProjectID: f.project.ID, UserID: "user-7"}
		_, err := f.retention.Erase(t.Context(), person)
		if err == nil || !strings.Contains(err.Error(), "room "+rooms[0]+": ") {
			t.Errorf("got %v, want an error that names the room %s", err, rooms[0])
		}
		for i, want := range []bool{true, false, false} {
			seats, err := f.db.SeatsOfRoom(t.Context(), rooms[i])
			named := slices.ContainsFunc(seats, func(s retention.Seat) bool { return s.Name == "Amina" })
			if err != nil || named != want {
				t.Errorf("room %d: got the name: %t, %v, want %t", i+1, named, err, want)
			}
		}
	})
}

// A room with damaged data keeps neither the erasure of the other rooms nor any deletion from its end. The errors name
// the room.
func TestSweep_DamagedRoom(t *testing.T) {
	periods := retention.Periods{Rooms: 20 * day, People: 10 * day}
	onEachEngine(t, periods, func(t *testing.T, f *fixture) {
		ended := f.now.Add(-11 * day)
		damaged := f.meeting(f.project.ID, ended, guest{"Amina", "user-7"})
		f.meeting(f.project.ID, ended.Add(time.Hour), guest{"Bo", ""})
		storetest.Pack(t, f.db, f.now)
		f.write(func(ctx context.Context) error {
			return errors.Join(
				f.db.Exec(ctx, `UPDATE events SET data = '{' WHERE room_id = $1`, damaged.ID),
				f.db.Exec(ctx, `UPDATE packed_events SET events = $2 WHERE room_id = $1`, damaged.ID, []byte{0}))
		})
		unerased := func() (rooms int) {
			t.Helper()
			err := f.db.QueryRow(t.Context(), nil, `SELECT count(*) FROM rooms WHERE people_erased_at IS NULL`, nil, &rooms)
			if err != nil {
				t.Fatal(err)
			}
			return rooms
		}
		for range 2 { // the second sweep begins with the damaged room
			if err := f.usage.RollUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := f.retention.Sweep(t.Context())
			if err == nil || !strings.Contains(err.Error(), "erase people of room "+damaged.ID+": ") {
				t.Errorf("sweep: got %v, want an error that names the room %s", err, damaged.ID)
			}
			if got := unerased(); got != 1 {
				t.Errorf("got %d rooms whose people are not erased, want only the damaged one", got)
			}
		}
		f.now = f.now.Add(10 * day)
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := f.retention.Sweep(t.Context())
		if rooms := keptRooms(t, f.Raw(t), time.UnixMilli(0)); len(rooms) > 0 {
			t.Errorf("after the period of rooms: got the rooms %v and %v, want none", rooms, err)
		}
		f.sweep()
	})
}
