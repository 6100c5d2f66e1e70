package room_test

import (
	"fmt"
	"slices"
	"testing"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
)

// Hosts and co-hosts see the breakout room of every participant, however they moved,
// but no hidden participants.
func TestPeople_BreakoutOfEachSeat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, link := f.create(t, room.Spec{MaxParticipants: 9, BreakoutRooms: 2})
	cohost, watcher := guest(2), guest(5)
	cohost.LinkToken = f.invite(t, id, room.Invitation{Role: room.CoHost})
	watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	f.enter(t, id, host(1, link), "PA_1")
	f.enter(t, id, cohost, "PA_2")
	moves := f.enter(t, id, guest(3), "PA_3")
	goes := f.enter(t, id, guest(4), "PA_4")
	f.enter(t, id, watcher, "PA_5")
	seen := func(want ...string) {
		t.Helper()
		for n := 1; n <= 2; n++ {
			people, err := f.People(ctx, id, guest(n).SeatKey)
			var got []string
			for _, seat := range people.Seats {
				got = append(got, fmt.Sprintf("%s %s %d", seat.Name, seat.Role, seat.Breakout))
			}
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("people for guest %d: got %q, %v, want %q", n, got, err, want)
			}
		}
	}
	seen("Guest 1 host 0", "Guest 2 cohost 0", "Guest 3 guest 0", "Guest 4 guest 0")
	if _, err := f.OpenBreakouts(ctx, id, cohost.SeatKey,
		room.OpenBreakoutsRequest{Names: []string{"One", "Two"}, Assign: map[string]int{moves.Seat.ID: 0}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Move(ctx, id, guest(3).SeatKey, "", 2); err != nil {
		t.Fatal(err)
	}
	f.leave(goes, "PA_4", room.LeftByChoice)
	seen("Guest 1 host 0", "Guest 2 cohost 0", "Guest 3 guest 2")
	if err := f.CloseBreakouts(ctx, id, cohost.SeatKey); err != nil {
		t.Fatal(err)
	}
	seen("Guest 1 host 0", "Guest 2 cohost 0", "Guest 3 guest 0")
	_, err := f.People(ctx, id, guest(3).SeatKey)
	assertError(t, err, fault.Forbidden, "not_host", "only a host or co-host may do this")
}

// A preview has the brand of the project, also for rooms that exist already.
func TestPreview_Brand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 2})
	for _, want := range []project.Settings{{}, {BrandName: "Acme", BrandColor: "#0a6b3d"}} {
		f.configureProject(t, want)
		p, err := f.Preview(t.Context(), id, guest(1))
		if err != nil || p.BrandName != want.BrandName || p.BrandColor != want.BrandColor {
			t.Errorf("got %q %q %v, want %q %q", p.BrandName, p.BrandColor, err, want.BrandName, want.BrandColor)
		}
	}
}

// A preview names up to three of the people in the room, hosts first. It leaves out
// the visitor, also after a reload, hidden participants and, for a visitor whom a
// host has to let in, all names.
func TestPreview_Others(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, link := f.create(t, room.Spec{MaxParticipants: 9})
	watcher := guest(6)
	watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	assertOthers := func(v room.JoinRequest, count int, names ...string) {
		t.Helper()
		p, err := f.Preview(t.Context(), id, v)
		if err != nil || p.Others != count || !slices.Equal(p.OtherNames, names) {
			t.Errorf("%s: got %d %q %v, want %d %q", v.Name, p.Others, p.OtherNames, err, count, names)
		}
	}
	assertOthers(guest(2), 0)
	f.enter(t, id, guest(2), "PA_2")
	assertOthers(guest(2), 0)
	f.enter(t, id, watcher, "PA_6")
	for n := 3; n <= 4; n++ {
		f.enter(t, id, guest(n), fmt.Sprint("PA_", n))
	}
	f.enter(t, id, host(1, link), "PA_1")
	assertOthers(guest(9), 4, "Guest 1", "Guest 2", "Guest 3")
	assertOthers(guest(2), 3, "Guest 1", "Guest 3", "Guest 4")
	assertOthers(watcher, 4, "Guest 1", "Guest 2", "Guest 3")

	on := true
	if err := f.UpdateLocks(t.Context(), id, guest(1).SeatKey, room.LockChange{WaitingRoom: &on}); err != nil {
		t.Fatal(err)
	}
	assertOthers(guest(9), 4)
}
