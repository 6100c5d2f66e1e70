package room_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// assertError fails unless err has that kind, code and message.
func assertError(t testing.TB, err error, kind fault.Kind, code, message string) {
	t.Helper()
	if f := fault.From(err); err == nil || f.Kind != kind || f.Code != code || f.Message != message {
		t.Errorf("got  %v (%s)\nwant %s (%s)", err, fault.From(err).Code, message, code)
	}
}

// The first browser that joins with the creator's link becomes and stays the host.
// Others join as guests, or get an error if they expected another role.
func TestCreatorLink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, link := f.create(t, room.Spec{MaxParticipants: 5})
	with := func(n int, link string, role room.Role) room.JoinRequest {
		v := guest(n)
		v.LinkToken, v.ExpectedRole = link, role
		return v
	}
	preview := func(v room.JoinRequest, want room.Preview) {
		t.Helper()
		got, err := f.Preview(ctx, id, v)
		if err != nil {
			t.Fatal(err)
		}
		got.Room = nil
		want.Grants = room.Grants{Microphone: true, Camera: true, ScreenShare: true, Chat: true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("preview (-want +got):\n%s", diff)
		}
	}
	take := func(v room.JoinRequest, role room.Role, link room.LinkStatus) room.Admission {
		t.Helper()
		a, err := f.ReserveSeat(ctx, id, v)
		if err != nil || a.Seat.Role != role || a.LinkStatus != link {
			t.Errorf("seat of %s: got %s %s %v, want %s %s", v.Name, a.Seat.Role, a.LinkStatus, err, role, link)
		}
		return a
	}
	// A preview does not redeem the link.
	for n := range 3 {
		preview(with(n, link, ""), room.Preview{Role: room.Host, Name: "Ada", LinkStatus: room.LinkOK})
	}
	preview(room.JoinRequest{LinkToken: link}, room.Preview{Role: room.Host, Name: "Ada", LinkStatus: room.LinkOK})
	preview(room.JoinRequest{}, room.Preview{Role: room.Guest})
	preview(room.JoinRequest{LinkToken: link + "x"}, room.Preview{Role: room.Guest, LinkStatus: room.LinkUnknown})

	first := take(with(1, link, room.Host), room.Host, room.LinkOK)
	preview(with(1, link, ""), room.Preview{
		TakenSeats: 1,
		Role:       room.Host,
		Name:       "Guest 1",
		Returning:  true,
		LinkStatus: room.LinkOK,
	})
	preview(with(1, "", ""), room.Preview{TakenSeats: 1, Role: room.Host, Name: "Guest 1", Returning: true})
	preview(with(2, link, ""), room.Preview{TakenSeats: 1, Others: 1, Role: room.Guest, LinkStatus: room.LinkTaken})

	// The same browser gets the same seat, with and without the link.
	for _, l := range []string{link, "", link + "x"} {
		status := map[string]room.LinkStatus{link: room.LinkOK, "": room.NoLink, link + "x": room.LinkUnknown}[l]
		if again := take(with(1, l, room.Host), room.Host, status); again.Seat.ID != first.Seat.ID {
			t.Errorf("the same browser: got seat %s, want %s", again.Seat.ID, first.Seat.ID)
		}
	}

	// Another browser that expects the host's role gets an error; one that does not
	// becomes a guest.
	for l, message := range map[string]string{
		link:      "this link was already used in another browser",
		"unknown": "this link is not valid any more",
	} {
		_, err := f.ReserveSeat(ctx, id, with(2, l, room.Host))
		assertError(t, err, fault.Conflict, "link_taken", message)
	}
	take(with(2, link, room.Guest), room.Guest, room.LinkTaken)
	take(with(3, "unknown", ""), room.Guest, room.LinkUnknown)
	take(with(4, "", room.Host), room.Guest, room.NoLink)

	// A host who left and returns is still the host.
	f.engine.connect(first.SessionID, first.Seat.ID, "PA_1", f.clock.Now())
	f.ParticipantJoined(first.SessionID, first.Seat.ID, "PA_1", f.clock.Now())
	f.leave(first, "PA_1", room.LeftByChoice)
	if again := take(with(1, "", room.Host), room.Host, room.NoLink); again.Seat.ID != first.Seat.ID {
		t.Errorf("the same browser: got seat %s, want %s", again.Seat.ID, first.Seat.ID)
	}
}

// If many browsers join with the creator's link at once, one becomes the host.
func TestCreatorLink_ConcurrentOneHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 50})
	var wg sync.WaitGroup
	var mu sync.Mutex
	roles := map[room.Role]int{}
	for n := range 30 {
		wg.Go(func() {
			v := guest(n)
			v.LinkToken = link
			a, err := f.ReserveSeat(context.Background(), id, v)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			roles[a.Seat.Role]++
		})
	}
	wg.Wait()
	if roles[room.Host] != 1 || roles[room.Guest] != 29 {
		t.Errorf("roles: got %v, want one %s and 29 times %s", roles, room.Host, room.Guest)
	}
}

// A host who is refused because the room is full of invited guests has not redeemed
// the link.
func TestCreatorLink_NotRedeemedInFullRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 1})
	expected := guest(1)
	expected.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, SingleUse: true})
	in := f.enter(t, id, expected, "PA_1")
	host := guest(2)
	host.LinkToken, host.ExpectedRole = link, room.Host
	_, err := f.ReserveSeat(context.Background(), id, host)
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
	f.leave(in, "PA_1", room.LeftByChoice)
	host.SeatKey += "-another"
	if a, err := f.ReserveSeat(context.Background(), id, host); err != nil || a.Seat.Role != room.Host {
		t.Errorf("admission with the creator's link: got role %q, error %v, want role %q", a.Seat.Role, err, room.Host)
	}
}

func TestReserveSeat_Refusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	for _, c := range []struct {
		change  func(v *room.JoinRequest)
		message string
	}{
		{func(v *room.JoinRequest) { v.Name = "" }, "name must have 1 to 255 characters and not be blank"},
		{func(v *room.JoinRequest) { v.Name = strings.Repeat("é", 256) }, "name must have at most 255 characters, not 256"},
		{func(v *room.JoinRequest) { v.Name = "\u200b\n" }, "name must have 1 to 255 characters and not be blank"},
		{func(v *room.JoinRequest) { v.Name = "\u3164" }, "name must contain at least one visible character"},
		{func(v *room.JoinRequest) { v.SeatKey = "" }, "seat_key must have 22 to 128 characters"},
		{func(v *room.JoinRequest) { v.SeatKey = strings.Repeat("k", 21) }, "seat_key must have 22 to 128 characters"},
		{func(v *room.JoinRequest) { v.SeatKey = strings.Repeat("k", 129) }, "seat_key must have 22 to 128 characters"},
	} {
		v := guest(1)
		c.change(&v)
		_, err := f.ReserveSeat(ctx, id, v)
		assertError(t, err, fault.Invalid, "invalid_request", c.message)
	}
	short := room.JoinRequest{SeatKey: "short"}
	_, err := f.Preview(ctx, id, short)
	assertError(t, err, fault.Invalid, "invalid_request", "seat_key must have 22 to 128 characters")
	for _, length := range []int{22, 128} {
		v := guest(1)
		v.SeatKey = strings.Repeat("k", length)
		if _, err := f.ReserveSeat(ctx, id, v); err != nil {
			t.Error(err)
		}
	}
	_, err = f.ReserveSeat(ctx, storetest.NewID(), guest(1))
	assertError(t, err, fault.NotFound, "room_not_found", "there is no such room")
	_, err = f.Preview(ctx, storetest.NewID(), room.JoinRequest{})
	assertError(t, err, fault.NotFound, "room_not_found", "there is no such room")
}

// A visitor cannot see which character of a pasted name is refused, so the name is cleaned.
func TestReserveSeat_CleansName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	v := guest(1)
	v.Name = " \ufeffAna\u00ad\tLima\u200b\n"
	if a, err := f.ReserveSeat(context.Background(), id, v); err != nil || a.Seat.Name != "Ana Lima" {
		t.Errorf("got the name %q, error %v, want Ana Lima", a.Seat.Name, err)
	}
}

// Changes of the project's state and settings apply to visitors at once.
func TestReserveSeat_ProjectStatus(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	projects := project.NewService(f.db, f.clock.Now, storetest.NewID, func(string) {})
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	f.enter(t, id, guest(1), "PA_1")
	for _, c := range []struct {
		off, on       func() error
		code, message string
	}{
		{func() error { return projects.SetStatus(ctx, f.project.ID, project.Inactive) },
			func() error { return projects.SetStatus(ctx, f.project.ID, project.Active) }, "project_inactive",
			"the project is inactive"},
		{func() error { return projects.Suspend(ctx, f.project.ID) },
			func() error { return projects.Resume(ctx, f.project.ID) }, "project_suspended", "the project is suspended"},
	} {
		if err := c.off(); err != nil {
			t.Fatal(err)
		}
		_, err := f.ReserveSeat(ctx, id, guest(2))
		assertError(t, err, fault.Forbidden, c.code, c.message)
		_, err = f.Preview(ctx, id, room.JoinRequest{})
		assertError(t, err, fault.Forbidden, c.code, c.message)
		if r := f.room(t, id); r.State != room.Active {
			t.Errorf("state of the running room while joins are refused with %s: got %s, want %s", c.code, r.State, room.Active)
		}
		if err := c.on(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReserveSeat(ctx, id, guest(2)); err != nil {
			t.Error(err)
		}
	}
}

// A room whose end is due refuses visitors even before a sweep.
func TestReserveSeat_RefusedBeforeSweep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		visited bool
		reason  string
	}{"nobody came": {false, "expired"}, "everybody left": {true, "empty_timeout"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ctx := context.Background()
			id, _ := f.create(t, room.Spec{MaxParticipants: 5})
			if c.visited {
				f.leave(f.enter(t, id, guest(1), "PA_1"), "PA_1", room.LeftByChoice)
			}
			for _, swept := range []bool{false, true} {
				f.clock.advance(300 * time.Second)
				if swept {
					f.Sweep(ctx)
				}
				_, seat := f.ReserveSeat(ctx, id, guest(1))
				_, preview := f.Preview(ctx, id, guest(1))
				for _, err := range []error{seat, preview} {
					assertError(t, err, fault.Gone, "room_ended", "this room has ended")
					if e := fault.From(err); e.Reason != c.reason {
						t.Errorf("got reason %q, want %q", e.Reason, c.reason)
					}
				}
				if over := f.room(t, id).Over(); over != swept {
					t.Errorf("room is over: got %v, want %v", over, swept)
				}
			}
		})
	}
}

// If the media engine is unavailable, the visitor is refused and the reserved seat is
// held as usual.
func TestReserveSeat_MediaUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.create(t, room.Spec{MaxParticipants: 1})
	f.engine.setError(errors.New("away"))
	_, err := f.ReserveSeat(ctx, id, guest(1))
	assertError(t, err, fault.Unavailable, "unavailable", "the media engine does not respond, try again in a moment")
	f.engine.setError(nil)
	a, err := f.ReserveSeat(ctx, id, guest(1))
	if err != nil {
		t.Fatal(err)
	}
	if want := "token for " + a.Seat.ID + " to " + a.SessionID; a.Token != want {
		t.Errorf("got %q, want %q", a.Token, want)
	}
}

func TestSessionID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		room string
		n    int
		ok   bool
	}{
		room.SessionID("0198c0de-0000-7000-8000-000000000001", 12): {"0198c0de-0000-7000-8000-000000000001", 12, true},
		"r.0": {}, "r.-1": {}, "r.": {}, "r": {}, "": {}, "r.1.2": {}, "r.x": {}, ".1": {},
	} {
		roomID, n, ok := room.ParseSessionID(id)
		if ok != want.ok || ok && (roomID != want.room || n != want.n) {
			t.Errorf("ParseSessionID(%q): got %q, %d, %v, want %q, %d, %v", id, roomID, n, ok, want.room, want.n, want.ok)
		}
	}
}
