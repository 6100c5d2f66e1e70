package retention_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/audit"
	"parley/internal/fault"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

func TestErase_NoByteLeft(t *testing.T) {
	onEachEnginePacked(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		const userID, name, oldName = "user-Zebulon-7", "Zebulon Quixote", "Zeb Formerly"
		person := retention.Person{ProjectID: f.project.ID, UserID: userID}
		other := guest{"Bo", "user-8"}
		var ids []string
		for i := range 30 { // more than one batch
			ended := f.now.Add(-time.Duration(i+2) * day)
			guests := []guest{other, {name, userID}}
			if i%3 == 0 {
				guests = []guest{{oldName, userID}, other}
			}
			ids = append(ids, f.meeting(f.project.ID, ended, guests...).ID)
		}
		elsewhere := storetest.Project(t, f.db)
		namesake := f.meeting(elsewhere.ID, f.now.Add(-day), guest{"Namesake", userID})
		before := f.totals()
		done, err := f.retention.Erase(t.Context(), person)
		if err != nil {
			t.Fatal(err)
		}
		want := retention.Erased{
			Rooms:       30,
			Seats:       30,
			Links:       10,
			Events:      90,
			Deliveries:  90,
			HostActions: 90,
			Compaction:  f.compaction(),
		}
		if done != want {
			t.Errorf("receipt: got %+v, want %+v", done, want)
		}
		backup := f.backup()
		for _, text := range []string{name, oldName} {
			if got := f.rows(text); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", text, got)
			}
			if bytes.Contains(backup, []byte(text)) {
				t.Errorf("new backup: got %q in it, want it erased", text)
			}
		}
		if !bytes.Contains(backup, []byte(other.name)) {
			t.Errorf("new backup: got nothing of the other guest %q, want the name, to prove that the search works", other.name)
		}
		wantRows := map[string]int{"rooms": 1, "seats": 1, "links": 1, "events": 3, "webhook_deliveries": 3}
		if got := f.rows(userID); !cmp.Equal(got, wantRows) {
			t.Errorf("rows with the ID: got %v, want those of the other project: %v", got, wantRows)
		}
		if got := f.rows(other.name); got["seats"] != 30 || got["events"] != 90 || got["host_actions"] != 90 {
			t.Errorf("rows of the other guest: got %v, want all", got)
		}
		if after := f.totals(); after != before {
			t.Errorf("usage after the erasure: got %+v, want %+v", after, before)
		}
		if again, err := f.retention.Erase(t.Context(), person); err != nil || again.Rooms != 0 {
			t.Errorf("erase again: got %+v, %v, want no room", again, err)
		}
		for _, id := range ids {
			f.checkNumbers(id, 9)
		}
		if _, err := f.retention.Erase(t.Context(), retention.Person{ProjectID: elsewhere.ID, UserID: userID}); err != nil {
			t.Fatal(err)
		}
		f.checkNoByteLeft([]string{name, oldName, userID, "Namesake"}, namesake.Title)
	})
}

func TestErase_BySeat(t *testing.T) {
	onEachEnginePacked(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Amina", ""}, guest{"Zebulon", ""})
		seats, err := f.db.SeatsOfRoom(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, seat := range seats {
			if seat.Name == "Zebulon" {
				done, err := f.retention.Erase(t.Context(), retention.Person{ProjectID: f.project.ID, SeatID: seat.ID})
				want := retention.Erased{
					Rooms:       1,
					Seats:       1,
					Events:      3,
					Deliveries:  3,
					HostActions: 3,
					Compaction:  f.compaction(),
				}
				if err != nil || done != want {
					t.Errorf("receipt: got %+v, %v, want %+v", done, err, want)
				}
				want = retention.Erased{Compaction: f.compaction()}
				done, err = f.retention.Erase(audit.WithOrigin(t.Context(), audit.Origin{Kind: audit.KindToken}),
					retention.Person{ProjectID: f.project.ID, SeatID: seat.ID})
				if err != nil || done != want {
					t.Errorf("receipt of the repetition: got %+v, %v, want no change", done, err)
				}
				if entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 1}); err != nil || len(entries) != 0 {
					t.Errorf("audit log of the repetition: got %+v, %v, want no entry", entries, err)
				}
			}
		}
		// A seat with an ID of the integrator leads to everything of that user.
		known := f.meeting(f.project.ID, f.now.Add(-day), guest{"Yolanda", "user-9"})
		f.meeting(f.project.ID, f.now.Add(-day), guest{"Yolanda", "user-9"})
		if seats, err = f.db.SeatsOfRoom(t.Context(), known.ID); err != nil {
			t.Fatal(err)
		}
		person := retention.Person{ProjectID: f.project.ID, SeatID: seats[0].ID}
		done, err := f.retention.Erase(t.Context(), person)
		if err != nil || done.Rooms != 2 || done.Seats != 2 || done.Links != 2 {
			t.Errorf("receipt of the known user: got %+v, %v, want two rooms, seats and links", done, err)
		}
		for _, text := range []string{"Yolanda", "user-9"} {
			if got := f.rows(text); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", text, got)
			}
		}
		if got := f.rows("Zebulon"); len(got) != 0 {
			t.Errorf("rows with the name: got %v, want none", got)
		}
		if got := f.rows("Amina"); got["seats"] != 1 || got["links"] != 1 {
			t.Errorf("rows of the other guest: got %v, want all", got)
		}
	})
}

// The creator has no ID in the integrator's system: the seat leads to the links that were
// redeemed from the same browser.
func TestErase_CreatorBySeat(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", ""}, guest{"Amina", ""})
		person := retention.Person{ProjectID: f.project.ID, SeatID: f.seatOf(r.ID, "Zebulon")}
		page, _, err := f.retention.Export(t.Context(), person, "")
		if err != nil || len(page) != 1 || !page[0].IsCreator || len(page[0].Links) != 1 {
			t.Errorf("export: got %+v, %v, want the creator with one link", page, err)
		}
		done, err := f.retention.Erase(t.Context(), person)
		want := retention.Erased{
			Rooms:       1,
			Seats:       1,
			Links:       1,
			Events:      3,
			Deliveries:  3,
			HostActions: 3,
			Compaction:  f.compaction(),
		}
		if err != nil || done != want {
			t.Errorf("receipt: got %+v, %v, want %+v", done, err, want)
		}
		if got := f.rows("Zebulon"); len(got) != 0 {
			t.Errorf("rows with the name: got %v, want none", got)
		}
		if got := f.rows("Amina"); got["seats"] != 1 || got["events"] != 3 {
			t.Errorf("rows of the other guest: got %v, want all", got)
		}
	})
}

// Two people of the same name are told apart by their seats.
func TestErase_NamesakeStays(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Amina", "user-7"}, guest{"Amina", ""}, guest{"Amina", "user-8"})
		knock := room.Knock{
			ID:        storetest.NewID(),
			RoomID:    r.ID,
			KeyHash:   storetest.NewID(),
			Name:      "Amina",
			CreatedAt: f.now,
			ExpiresAt: f.now.Add(day),
		}
		personKnock := knock
		personKnock.ID = storetest.NewID()
		seats, err := f.db.SeatsOfRoom(t.Context(), r.ID)
		for _, seat := range seats {
			if seat.UserID == "user-8" {
				personKnock.KeyHash = seat.KeyHash
			}
		}
		if err != nil || personKnock.KeyHash == knock.KeyHash {
			t.Fatalf("seats: got %+v, %v, want one of user-8", seats, err)
		}
		f.write(func(ctx context.Context) error {
			return errors.Join(f.db.UpsertKnock(ctx, knock), f.db.UpsertKnock(ctx, personKnock))
		})
		person := retention.Person{ProjectID: f.project.ID, UserID: "user-8"}
		page, _, err := f.retention.Export(t.Context(), person, "")
		if err != nil || len(page) != 1 || len(page[0].Seats) != 1 || len(page[0].Events) != 3 || page[0].IsCreator ||
			len(page[0].Knocks) != 1 || len(page[0].HostActions) != 3 || !page[0].HostActions[1].Done ||
			page[0].HostActions[0].Kind != "host.muted" {
			t.Errorf("export: got %+v, %v, want one seat, 3 events, one knock, and 3 actions of which one is theirs", page, err)
		}
		done, err := f.retention.Erase(t.Context(), person)
		want := retention.Erased{
			Rooms:       1,
			Seats:       1,
			Events:      3,
			Deliveries:  3,
			HostActions: 3,
			Knocks:      1,
			Compaction:  f.compaction(),
		}
		if err != nil || done != want {
			t.Errorf("receipt: got %+v, %v, want %+v", done, err, want)
		}
		wantRows := map[string]int{"rooms": 1, "seats": 2, "links": 1, "events": 6, "webhook_deliveries": 6, "knocks": 1,
			"host_actions": 3}
		if got := f.rows("Amina"); !cmp.Equal(got, wantRows) {
			t.Errorf("rows with the name: got %v, want those of the other two: %v", got, wantRows)
		}
		if got := f.rows("user-7"); got["seats"] != 1 || got["events"] != 3 {
			t.Errorf("rows of user-7: got %v, want all", got)
		}
	})
}

// An erasure changes many events of a room in several transactions. The audit log has an
// entry for the first room, and one for all others.
func TestErase_ManyEvents(t *testing.T) {
	onEachEnginePacked(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		const rejoins = 700
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", "user-7"})
		f.rejoin(r, "user-7", "Zebulon", rejoins)
		for range 2 {
			f.meeting(f.project.ID, f.now.Add(-day), guest{"Zebulon", "user-7"})
		}
		origin := audit.Origin{Kind: audit.KindToken, ActorID: "token"}
		done, err := f.retention.Erase(audit.WithOrigin(t.Context(), origin),
			retention.Person{ProjectID: f.project.ID, UserID: "user-7"})
		want := retention.Erased{
			Rooms:       3,
			Seats:       3,
			Links:       3,
			Events:      rejoins + 9,
			Deliveries:  9,
			HostActions: 12,
			Compaction:  f.compaction(),
		}
		if err != nil || done != want {
			t.Errorf("receipt: got %+v, %v, want %+v", done, err, want)
		}
		for _, text := range []string{"Zebulon", "user-7"} {
			if got := f.rows(text); len(got) != 0 {
				t.Errorf("rows with %q: got %v, want none", text, got)
			}
		}
		entries, err := f.db.AuditEntries(t.Context(), audit.Query{Limit: 10})
		if err != nil || len(entries) != 2 {
			t.Errorf("audit log: got %+v, %v, want one entry for the first transaction and one for the others", entries, err)
		}
		if want.Compaction = ""; f.recordedErasures() != want {
			t.Errorf("audit log: got the sum %+v, want %+v", f.recordedErasures(), want)
		}
	})
}

func TestErase_Refused(t *testing.T) {
	onEachEngine(t, retention.Periods{}, func(t *testing.T, f *fixture) {
		r := f.meeting(f.project.ID, f.now.Add(-day), guest{"Amina", "user-7"})
		other := storetest.Project(t, f.db)
		seats, err := f.db.SeatsOfRoom(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		setState := func(state room.SeatState) {
			f.write(func(ctx context.Context) error {
				seat, err := f.db.Seat(ctx, r.ID, seats[0].ID)
				if err != nil {
					return err
				}
				seat.State = state
				return f.db.UpdateSeat(ctx, seat)
			})
		}
		person := retention.Person{ProjectID: f.project.ID, UserID: "user-7"}
		setState(room.Reserved) // as after a lost connection
		if _, err := f.retention.Erase(t.Context(), person); !fault.Is(err, fault.Conflict) {
			t.Errorf("reconnecting: got %v, want a conflict", err)
		}
		setState(room.Joined)
		for name, c := range map[string]struct {
			person  retention.Person
			kind    fault.Kind
			message string
		}{
			"nobody": {retention.Person{ProjectID: f.project.ID}, fault.Invalid, "send either user_id or seat_id"},
			"both": {retention.Person{ProjectID: f.project.ID, UserID: "a", SeatID: "b"}, fault.Invalid,
				"send either user_id or seat_id"},
			"long": {retention.Person{ProjectID: f.project.ID, UserID: strings.Repeat("x", 256)}, fault.Invalid,
				"user_id must have at most 255 characters, not 256"},
			"project": {retention.Person{ProjectID: storetest.NewID(), UserID: "user-7"}, fault.NotFound,
				"there is no such project"},
			"seat of another project": {retention.Person{ProjectID: other.ID, SeatID: seats[0].ID}, fault.NotFound,
				"there is no such seat in this project"},
			"connected": {retention.Person{ProjectID: f.project.ID, UserID: "user-7"}, fault.Conflict,
				"the person is in the room " + r.ID + ", or their page is reconnecting to it: end the room, remove the person, or " +
					"wait a minute"},
		} {
			if _, err := f.retention.Erase(t.Context(), c.person); !fault.Is(err, c.kind) || err.Error() != c.message {
				t.Errorf("%s: got %v, want %s", name, err, c.message)
			}
		}
		if got := f.rows("Amina"); got["seats"] != 1 || got["events"] != 3 {
			t.Errorf("rows after the refusals: got %v, want all", got)
		}
	})
}
