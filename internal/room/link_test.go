package room_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// configureProject changes the settings of the fixture's project.
func (f *fixture) configureProject(t testing.TB, settings project.Settings) {
	t.Helper()
	configureProject(t, f.db, f.project.ID, settings)
	f.project.Settings = settings
}

// allowHidden lets the project have hidden participants.
func (c *cluster) allowHidden(t testing.TB) {
	t.Helper()
	c.project.Settings.HiddenParticipants = true
	configureProject(t, c.db, c.project.ID, c.project.Settings)
}

func configureProject(t testing.TB, db *store.DB, id string, settings project.Settings) {
	t.Helper()
	projects := project.NewService(db, time.Now, storetest.NewID, func(string) {})
	if err := projects.Configure(context.Background(), id, settings); err != nil {
		t.Fatal(err)
	}
}

// The status of a link depends on the link and the browser, and decides about
// admission if invitations are required.
func TestLinkStatus_ByLinkAndBrowser(t *testing.T) {
	t.Parallel()
	for _, invitations := range []bool{false, true} {
		for _, returning := range []bool{false, true} {
			t.Run(fmt.Sprintf("invitations required %v, returning %v", invitations, returning), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				ctx := context.Background()
				id, creator := f.create(t, room.Spec{MaxParticipants: 20})
				elsewhere, _ := f.create(t, room.Spec{MaxParticipants: 5})
				redeemed := f.invite(t, id, room.Invitation{Role: room.CoHost, SingleUse: true})
				late := f.invite(t, id, expiringInAMinute(room.Invitation{Role: room.CoHost}))
				foreign := f.invite(t, elsewhere, room.Invitation{Role: room.Host})
				first := guest(99)
				first.LinkToken = redeemed
				f.enter(t, id, first, "PA_99")
				f.clock.advance(time.Minute)
				const asked = "this room requires an invitation"
				for n, c := range []struct {
					link    string
					status  room.LinkStatus
					role    room.Role
					refusal string
				}{
					{creator, room.LinkOK, room.Host, ""},
					{f.invite(t, id, room.Invitation{Role: room.Guest}), room.LinkOK, room.Guest, ""},
					{f.invite(t, id, room.Invitation{Role: room.CoHost, SingleUse: true}), room.LinkOK, room.CoHost, ""},
					{redeemed, room.LinkTaken, room.Guest, asked + ", and yours was already used in another browser: ask for a new one"},
					{late, room.LinkExpired, room.Guest, asked + ", and yours has expired: ask for a new one"},
					{foreign, room.LinkUnknown, room.Guest, asked + ": open the link you were sent"},
					{"", room.NoLink, room.Guest, asked + ": open the link you were sent"}, // a stolen id
				} {
					f.configureProject(t, project.Settings{})
					v := guest(n)
					if returning {
						if _, err := f.ReserveSeat(ctx, id, v); err != nil {
							t.Fatal(err)
						}
					}
					f.configureProject(t, project.Settings{InvitationsRequired: invitations})
					v.LinkToken = c.link
					p, perr := f.Preview(ctx, id, v)
					a, err := f.ReserveSeat(ctx, id, v)
					if invitations && !returning && c.refusal != "" {
						assertError(t, perr, fault.Forbidden, "invitation_required", c.refusal)
						assertError(t, err, fault.Forbidden, "invitation_required", c.refusal)
						continue
					}
					if perr != nil || p.LinkStatus != c.status || p.Role != c.role || p.Returning != returning {
						t.Errorf("preview with link status %s: got %+v, error %v, want role %q and Returning %v", c.status, p, perr,
							c.role, returning)
					}
					if err != nil || a.LinkStatus != c.status || a.Seat.Role != c.role {
						t.Errorf("admission: got link status %s, role %q, error %v, want link status %s, role %q", a.LinkStatus,
							a.Seat.Role, err, c.status, c.role)
					}
				}
			})
		}
	}
}

// A visitor who redeemed a link in time can return with it after it expired.
func TestLink_ExpiredStillAdmitsItsUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	v, other := guest(1), guest(2)
	v.LinkToken = f.invite(t, id, expiringInAMinute(room.Invitation{Role: room.CoHost, SingleUse: true}))
	other.LinkToken, other.ExpectedRole = f.invite(t, id, expiringInAMinute(room.Invitation{Role: room.CoHost})),
		room.CoHost
	f.clock.advance(time.Minute - time.Millisecond)
	f.enter(t, id, v, "PA_1")
	f.clock.advance(time.Millisecond)
	if a, err := f.ReserveSeat(ctx, id, v); err != nil || a.LinkStatus != room.LinkOK || a.Seat.Role != room.CoHost {
		t.Errorf("user of an expired link: got %+v, error %v, want link status %s and role %q", a, err, room.LinkOK,
			room.CoHost)
	}
	_, err := f.ReserveSeat(ctx, id, other)
	assertError(t, err, fault.Conflict, "link_taken", "this link has expired")
}

// A link never takes a role away, and no link admits to a room that is over.
func TestLink_NeverLowersRole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, creator := f.create(t, room.Spec{MaxParticipants: 5})
	v := guest(1)
	for _, c := range []struct {
		link string
		want room.Role
	}{
		{"", room.Guest}, {f.invite(t, id, room.Invitation{Role: room.CoHost}), room.CoHost}, {f.invite(t, id, room.Invitation{Role: room.Guest}), room.CoHost},
		{creator, room.Host}, {f.invite(t, id, room.Invitation{Role: room.CoHost}), room.Host},
		{f.invite(t, id, room.Invitation{Role: room.Guest, UserID: "ada"}), room.Host}, {"", room.Host},
	} {
		v.LinkToken = c.link
		if a, err := f.ReserveSeat(ctx, id, v); err != nil || a.Seat.Role != c.want {
			t.Errorf("%s %v, want %s", a.Seat.Role, err, c.want)
		}
	}
	if _, err := f.End(ctx, id, room.EndedAPI); err != nil {
		t.Fatal(err)
	}
	v.LinkToken = creator
	_, err := f.ReserveSeat(ctx, id, v)
	assertError(t, err, fault.Gone, "room_ended", "this room has ended")
	_, err = f.Invite(ctx, f.project, id, room.Invitation{Role: room.Guest})
	assertError(t, err, fault.Conflict, "room_over", "the room is over already: its state is ended")
}

// A person's seat moves to the browser that last used the personal link. The key of
// the other browser no longer gives access to it.
func TestPersonalLink_MovesSeatToOtherBrowser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.create(t, room.Spec{MaxParticipants: 2})
	person := func(n int) room.JoinRequest {
		v := guest(n)
		v.LinkToken = f.invite(t, id, room.Invitation{Role: room.Host, SingleUse: true, UserID: "ada"})
		return v
	}
	first, second := person(1), person(2)
	elsewhere := func(when string, v room.JoinRequest, want bool) {
		t.Helper()
		if p, err := f.Preview(ctx, id, v); err != nil || p.JoinedElsewhere != want {
			t.Errorf("%s: elsewhere %t %v, want %t", when, p.JoinedElsewhere, err, want)
		}
	}
	elsewhere("nobody is in", second, false)
	a := f.enter(t, id, first, "PA_1")
	elsewhere("in with this browser", first, false)
	elsewhere("in with the other browser", second, true)
	elsewhere("no link", guest(2), false)
	b := f.enter(t, id, second, "PA_2")
	elsewhere("in with the second browser", first, true)
	if b.Seat.ID != a.Seat.ID || b.Seat.Role != room.Host {
		t.Fatalf("seat in the second browser: got %+v, want ID %s and role %q", b.Seat, a.Seat.ID, room.Host)
	}
	f.leave(a, "PA_1", room.LeftReplaced)
	_, err := f.OpenBreakouts(ctx, id, first.SeatKey, room.OpenBreakoutsRequest{Names: []string{"One"}})
	assertError(t, err, fault.Forbidden, "not_in_room", "you are not in this room")
	if seat, err := f.db.Seat(ctx, id, a.Seat.ID); err != nil || seat.State != room.Joined {
		t.Errorf("seat after the first browser left: got %+v, error %v, want state %s", seat, err, room.Joined)
	}
	// Without the link, the first browser is a stranger's; with it, the person's.
	stranger := guest(1)
	if c, err := f.ReserveSeat(ctx, id, stranger); err != nil || c.Seat.ID == a.Seat.ID || c.Seat.Role != room.Guest {
		t.Errorf("first browser without the link: got seat %+v, error %v, want an ID other than %s and role %q", c.Seat, err,
			a.Seat.ID, room.Guest)
	}
	if c, err := f.ReserveSeat(ctx, id, first); err != nil || c.Seat.ID != a.Seat.ID {
		t.Errorf("first browser with the link: got seat %+v, error %v, want ID %s", c.Seat, err, a.Seat.ID)
	}
	f.leave(b, "PA_2", room.LeftReplaced)
	elsewhere("who only may come back is not in", second, false)
	if o, err := f.db.Occupancy(ctx, id); err != nil || o.Taken != 1 {
		t.Errorf("occupancy: got %+v, error %v, want 1 taken seat", o, err)
	}
}

// Two people who share a browser do not get each other's seat or role.
func TestPersonalLink_TwoPeopleInOneBrowser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	v := guest(1)
	take := func(q room.Invitation) room.Seat {
		t.Helper()
		v.LinkToken = f.invite(t, id, q)
		a, err := f.ReserveSeat(ctx, id, v)
		if err != nil {
			t.Fatal(err)
		}
		return a.Seat
	}
	ada := take(room.Invitation{Role: room.Host, UserID: "ada"})
	ben := take(room.Invitation{Role: room.Guest, UserID: "ben"})
	if ben.ID == ada.ID || ben.Role != room.Guest || ben.UserID != "ben" {
		t.Errorf("seat of ben: got %+v, want an ID other than %s, role %q and user ben", ben, ada.ID, room.Guest)
	}
	if again := take(room.Invitation{Role: room.Guest, UserID: "ada"}); again.ID != ada.ID || again.Role != room.Host {
		t.Errorf("seat of ada when she returns: got %+v, want ID %s and role %q", again, ada.ID, room.Host)
	}
}

// A guest in a full room who opens a personal link in the same browser takes their own place,
// as another person with any role.
func TestPersonalLink_InFullRoom(t *testing.T) {
	t.Parallel()
	for _, role := range []room.Role{room.Guest, room.CoHost, room.Host} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ctx := context.Background()
			id, _ := f.create(t, room.Spec{MaxParticipants: 2})
			before := f.enter(t, id, guest(1), "PA_1")
			f.enter(t, id, guest(2), "PA_2")
			v, after := f.enterInvited(t, id, 1, room.Invitation{Role: role, UserID: "ada"})
			if after.Seat.ID == before.Seat.ID || after.Seat.Role != role || after.Seat.UserID != "ada" {
				t.Errorf("got the seat %+v, want another than %s, of ada with the role %s", after.Seat, before.Seat.ID, role)
			}
			if out := f.engine.drainRemoved(); !slices.Equal(out, []string{before.Seat.ID}) {
				t.Errorf("got %v disconnected, want only %s", out, before.Seat.ID)
			}
			rows, err := storetest.Attendance(ctx, f.db, id)
			if err != nil || len(rows) != 3 || rows[0].Reason != room.LeftReplaced {
				t.Errorf("got the attendance %+v, error %v, want three, the first ended as replaced", rows, err)
			}
			v.LinkToken = ""
			if again, err := f.ReserveSeat(ctx, id, v); err != nil || again.Seat.ID != after.Seat.ID {
				t.Errorf("without the link: got the seat %+v, error %v, want %s", again.Seat, err, after.Seat.ID)
			}
		})
	}
}

// A participant who becomes visible takes a seat, and one who becomes hidden gives it
// up. Their earlier connection ends at once.
func TestSeat_HiddenChangeReconnects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, _ := f.create(t, room.Spec{MaxParticipants: 1})
	hidden, seen := guest(1), guest(1)
	hidden.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
	seen.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest})
	for v, want := range map[room.JoinRequest]bool{hidden: false, seen: true} {
		if p, err := f.Preview(ctx, id, v); err != nil || p.Grants.Microphone != want || p.Grants.Chat != want {
			t.Errorf("may publish %+v %v, want %v", p.Grants, err, want)
		}
	}
	a := f.enter(t, id, hidden, "PA_1")
	if p, err := f.Preview(ctx, id, guest(1)); err != nil || p.Grants != (room.Grants{}) {
		t.Errorf("grants of a hidden participant who returns: got %+v, error %v, want none", p.Grants, err)
	}
	b := f.enter(t, id, guest(2), "PA_2")
	_, err := f.ReserveSeat(ctx, id, seen)
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
	if out := f.engine.drainRemoved(); len(out) > 0 {
		t.Errorf("removed after a refused request: got %v, want none", out)
	}
	f.leave(b, "PA_2", room.LeftByChoice)
	if c, err := f.ReserveSeat(ctx, id, seen); err != nil || c.Seat.ID != a.Seat.ID || c.Seat.Hidden {
		t.Errorf("seat with the visible link: got %+v, error %v, want ID %s and Hidden false", c.Seat, err, a.Seat.ID)
	}
	if out := f.engine.drainRemoved(); len(out) != 1 || out[0] != a.Seat.ID {
		t.Errorf("removed: got %v, want only %s", out, a.Seat.ID)
	}
	if present, err := f.db.CurrentAttendance(ctx, id); err != nil || len(present) > 0 {
		t.Errorf("current attendance: got %+v, error %v, want none", present, err)
	}
	f.enter(t, id, seen, "PA_3")
	if _, err := f.ReserveSeat(ctx, id, hidden); err != nil {
		t.Error(err)
	}
	f.enter(t, id, guest(2), "PA_4") // there is a seat again
}
