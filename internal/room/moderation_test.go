package room_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

const notHost = "only a host or co-host may do this"

// A guest may use no moderation action, and a co-host none on a host.
func TestModeration_Permissions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	f.configureProject(t, project.Settings{HiddenParticipants: true})
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 6})
	co, _ := f.enterInvited(t, id, 2, room.Invitation{Role: room.CoHost})
	ben := f.enter(t, id, guest(3), "PA_3")
	f.enter(t, id, guest(4), "PA_4")
	_, hidden := f.enterInvited(t, id, 5, room.Invitation{Role: room.Guest, Hidden: true})

	on := true
	actions := map[string]func(key, identity string) error{
		"mute":    func(key, identity string) error { return f.Mute(ctx, id, key, identity) },
		"unmute":  func(key, identity string) error { return f.AskToUnmute(ctx, id, key, identity) },
		"role":    func(key, identity string) error { return f.SetRole(ctx, id, key, identity, room.CoHost) },
		"locks":   func(key, _ string) error { return f.UpdateLocks(ctx, id, key, room.LockChange{Camera: &on}) },
		"remove":  func(key, identity string) error { return f.Remove(ctx, id, key, identity) },
		"readmit": func(key, identity string) error { return f.Readmit(ctx, id, key, identity) },
	}
	for name, use := range actions {
		for _, whom := range []string{ben.Seat.ID, ada.Seat.ID} {
			assertError(t, use(guest(4).SeatKey, whom), fault.Forbidden, "not_host", notHost)
			assertError(t, use(guest(6).SeatKey, whom), fault.Forbidden, "not_in_room", "you are not in this room")
		}
		if name == "locks" {
			continue
		}
		assertError(t, use(co.SeatKey, ada.Seat.ID), fault.Forbidden, "not_host", "a co-host may not do this to a host")
		for _, whom := range []string{"nobody", hidden.Seat.ID} { // who is hidden is not given away
			assertError(t, use(guest(1).SeatKey, whom), fault.NotFound, "seat_not_found",
				"no participant in this room has this identity")
		}
	}
	for _, name := range []string{"remove", "role"} {
		assertError(t, actions[name](guest(1).SeatKey, ada.Seat.ID), fault.Invalid, "invalid_request",
			"identity must be that of another participant, not your own")
	}
	assertError(t, f.Mute(ctx, id, guest(4).SeatKey, ""), fault.Forbidden, "not_host", notHost)
	assertError(t, f.SetRole(ctx, id, guest(1).SeatKey, ben.Seat.ID, room.Host), fault.Invalid, "invalid_request",
		"role must be cohost or guest")
	if f.engine.muted != nil || f.engine.drainRemoved() != nil || len(f.engine.messages) > 0 ||
		f.room(t, id).Locks != (room.Locks{}) {
		t.Errorf("effects of refused actions: got muted %v, messages %+v, locks %+v or a removed participant, want none",
			f.engine.muted, f.engine.messages, f.room(t, id).Locks)
	}
	for name, use := range actions {
		if name != "remove" {
			if err := use(co.SeatKey, ben.Seat.ID); err != nil {
				t.Errorf("%s by a co-host: got error %v, want none", name, err)
			}
		}
	}
	if err := actions["remove"](co.SeatKey, ben.Seat.ID); err != nil {
		t.Error(err)
	}
}

// A removed participant leaves at once, even if the engine fails, and can return
// neither with the same browser nor as the same person before Readmit.
func TestRemove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.startRoom(t, room.Spec{MaxParticipants: 6})
	personal := f.invite(t, id, room.Invitation{Role: room.Guest, UserID: "ben"})
	v := guest(2)
	v.LinkToken = personal
	ben := f.enter(t, id, v, "PA_2")
	chen := f.enter(t, id, guest(3), "PA_3")

	f.engine.setError(errors.New("away"))
	for _, a := range []room.Admission{ben, chen} {
		if err := f.Remove(ctx, id, guest(1).SeatKey, a.Seat.ID); err != nil {
			t.Fatal(err)
		}
	}
	f.engine.setError(nil)
	f.engine.drainRemoved()
	kinds := f.eventTypes(t, id)
	if last := kinds[len(kinds)-2:]; !slices.Equal(last, []event.Type{event.ParticipantLeft, event.ParticipantLeft}) {
		t.Errorf("last two events: got %v, want twice %s", last, event.ParticipantLeft)
	}
	rows, err := storetest.Attendance(ctx, f.db, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range rows {
		if removed := a.SeatID != rows[0].SeatID; removed != (a.Reason == room.LeftRemoved) || removed == a.LeftAt.IsZero() {
			t.Errorf("attendance of a removed participant (%v): got %+v, want an end and reason %q only if removed", removed, a,
				room.LeftRemoved)
		}
	}
	// The next reconciliation removes them from an engine that was unavailable.
	for _, a := range []room.Admission{ben, chen} {
		f.engine.connect(a.SessionID, a.Seat.ID, "PA_again_"+a.Seat.ID, f.clock.Now())
	}
	f.Reconcile(ctx)
	if out := f.engine.drainRemoved(); len(out) != 2 {
		t.Errorf("removed by reconciliation: got %v, want two participants", out)
	}

	comes := func(n int, link string) error {
		v := guest(n)
		v.LinkToken = link
		_, err := f.ReserveSeat(ctx, id, v)
		if _, sees := f.Preview(ctx, id, v); (sees == nil) != (err == nil) {
			t.Errorf("browser %d: got preview error %v and seat error %v, want both or neither", n, sees, err)
		}
		return err
	}
	welcome := func(a room.Admission) bool {
		t.Helper()
		allowed, err := f.Authorize(ctx, a.SessionID, a.Seat.ID)
		if err != nil {
			t.Fatal(err)
		}
		return allowed.Admitted
	}
	another := f.invite(t, id, room.Invitation{Role: room.CoHost, UserID: "dora"})
	for range 2 {
		for name, err := range map[string]error{
			"the same browser":               comes(2, ""),
			"its link":                       comes(2, personal),
			"the person in another browser":  comes(4, personal),
			"the browser as another person":  comes(3, another),
			"a guest's browser with no link": comes(3, ""),
		} {
			if fault.From(err).Code != "removed" {
				t.Errorf("join with %s: got error %v, want the code removed", name, err)
			}
		}
		if welcome(ben) || welcome(chen) {
			t.Error("old access tokens of removed participants: got at least one accepted, want both refused")
		}
		f.restart() // and after a restart
	}
	people, err := f.People(ctx, id, guest(1).SeatKey)
	if err != nil || len(people.Removed) != 2 || people.Removed[0].ID != ben.Seat.ID {
		t.Errorf("removed participants: got %+v, error %v, want two, %s first", people.Removed, err, ben.Seat.ID)
	}
	if err := f.Readmit(ctx, id, guest(1).SeatKey, ben.Seat.ID); err != nil {
		t.Fatal(err)
	}
	if err := comes(2, personal); err != nil || !welcome(ben) || welcome(chen) {
		t.Errorf("after ben was readmitted: got error %v, ben admitted: %v, chen admitted: %v, want none, true, false", err,
			welcome(ben), welcome(chen))
	}
}

// Locks of a running room apply to guests at once and to those who join later, and the
// next reconciliation repeats them.
func TestUpdateLocks_RunningRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	f.project.Settings.Locks = project.Locks{Chat: true}
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 6})
	ben := f.enter(t, id, guest(2), "PA_2")
	permissions := func(a room.Admission) grantedPermissions { return f.engine.permissions[a.SessionID+" "+a.Seat.ID] }

	on, off := true, false
	if err := f.UpdateLocks(ctx, id, guest(1).SeatKey,
		room.LockChange{Microphone: &on, ScreenShare: &on, Chat: &off}); err != nil {
		t.Fatal(err)
	}
	want := room.Grants{Camera: true, Chat: true}
	if got := permissions(ben); got.grants != want || got.role != room.Guest {
		t.Errorf("permissions of ben: got %+v, want grants %+v and role %q", got, want, room.Guest)
	}
	if got := permissions(ada).grants; got != (room.Grants{Microphone: true, Camera: true, ScreenShare: true,
		Chat: true}) {
		t.Errorf("grants of ada, the host: got %+v, want all", got)
	}
	locks := room.Locks{Microphone: true, ScreenShare: true}
	if got := f.engine.metadata[ben.SessionID].Locks; got != locks || f.room(t, id).Locks != locks {
		t.Errorf("locks: got %+v in the metadata and %+v in the room, want %+v", got, f.room(t, id).Locks, locks)
	}
	if chen := f.enter(t, id, guest(3), "PA_3"); permissions(chen).grants != want {
		t.Errorf("grants of a guest who joins later: got %+v, want %+v", permissions(chen).grants, want)
	}
	assertError(t, f.AskToUnmute(ctx, id, guest(1).SeatKey, ben.Seat.ID), fault.Conflict, "microphone_locked",
		"the microphones of guests are locked in this room: unlock them first")

	f.engine.setError(errors.New("away"))
	if err := f.UpdateLocks(ctx, id, guest(1).SeatKey, room.LockChange{Camera: &on}); err != nil {
		t.Fatal(err)
	}
	f.engine.setError(nil)
	if got := permissions(ben).grants; got != want {
		t.Fatalf("grants of ben while the engine is unavailable: got %+v, want %+v", got, want)
	}
	f.Reconcile(ctx)
	if got := permissions(ben).grants; got != (room.Grants{Chat: true}) {
		t.Errorf("grants of ben after reconciliation: got %+v, want only Chat", got)
	}
}

// Mute affects connected participants, and their pages show who muted them.
func TestMute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 6})
	ben, chen := f.enter(t, id, guest(2), "PA_2"), f.enter(t, id, guest(3), "PA_3")
	gone := f.enter(t, id, guest(4), "PA_4")
	f.leave(gone, "PA_4", room.LeftByChoice)

	if err := f.Mute(ctx, id, guest(1).SeatKey, ""); err != nil {
		t.Fatal(err)
	}
	if want := []string{ben.Seat.ID, chen.Seat.ID}; !slices.Equal(f.engine.muted, want) {
		t.Errorf("muted: got %v, want the guests %v", f.engine.muted, want)
	}
	if messages := f.engine.messages; len(messages) != 1 ||
		messages[0].message != (room.Message{Kind: room.MessageMuted, From: "Guest 1"}) || len(messages[0].identities) != 2 {
		t.Errorf("messages: got %+v, want one %s from Guest 1 to two participants", messages, room.MessageMuted)
	}
	if err := errors.Join(f.Mute(ctx, id, guest(1).SeatKey, ada.Seat.ID),
		f.Mute(ctx, id, guest(1).SeatKey, gone.Seat.ID)); err != nil {
		t.Error(err)
	}
	if err := f.AskToUnmute(ctx, id, guest(1).SeatKey, ben.Seat.ID); err != nil {
		t.Error(err)
	}
	if messages := f.engine.messages[len(f.engine.messages)-1]; messages.message.Kind != room.MessageUnmute ||
		!slices.Equal(messages.identities, []string{ben.Seat.ID}) {
		t.Errorf("last message: got %+v, want %s only to %s", messages, room.MessageUnmute, ben.Seat.ID)
	}
	assertError(t, f.AskToUnmute(ctx, id, guest(1).SeatKey, gone.Seat.ID), fault.NotFound, "seat_not_found",
		"no participant in this room has this identity")
	f.engine.setError(errors.New("away"))
	for _, err := range []error{f.Mute(ctx, id, guest(1).SeatKey, ""),
		f.AskToUnmute(ctx, id, guest(1).SeatKey, ben.Seat.ID)} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("mute or unmute while the engine is unavailable: got error %v, want Unavailable", err)
		}
	}
}

// A co-host who is demoted or removed takes along those who got the role from that co-host,
// also those who have left, and those who got it from them.
func TestCoHost_LosesRoleWithGiver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture, id, identity string) error{
		"demoted": func(f *fixture, id, identity string) error {
			return f.SetRole(t.Context(), id, guest(1).SeatKey, identity, room.Guest)
		},
		"removed": func(f *fixture, id, identity string) error {
			return f.Remove(t.Context(), id, guest(1).SeatKey, identity)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ctx := t.Context()
			id, _ := f.startRoom(t, room.Spec{MaxParticipants: 9})
			people := map[int]room.Admission{}
			for n := 2; n <= 6; n++ {
				people[n] = f.enter(t, id, guest(n), fmt.Sprint("PA_", n))
			}
			promote := func(by, to int) {
				t.Helper()
				if err := f.SetRole(ctx, id, guest(by).SeatKey, people[to].Seat.ID, room.CoHost); err != nil {
					t.Fatal(err)
				}
			}
			promote(1, 2) // the host makes the first co-host
			promote(2, 3)
			promote(3, 4)
			promote(1, 5)
			promote(2, 5) // changes nothing
			promote(4, 6)
			f.leave(people[4], "PA_4", room.LeftByChoice)
			if err := end(f, id, people[2].Seat.ID); err != nil {
				t.Fatal(err)
			}
			for n, want := range map[int]room.Role{3: room.Guest, 4: room.Guest, 5: room.CoHost, 6: room.Guest} {
				a, err := f.ReserveSeat(ctx, id, guest(n))
				if err != nil || a.Seat.Role != want {
					t.Errorf("guest %d: got role %q, error %v, want role %q", n, a.Seat.Role, err, want)
				}
			}
			if got := f.engine.permissions[people[3].SessionID+" "+people[3].Seat.ID]; got.role != room.Guest {
				t.Errorf("permissions of guest 3: got %+v, want role %q", got, room.Guest)
			}
			// Only a host gives the role back.
			assertError(t, f.SetRole(ctx, id, guest(5).SeatKey, people[3].Seat.ID, room.CoHost), fault.Forbidden, "not_host",
				"only a host may make this participant a co-host again")
			promote(1, 3)
		})
	}
}

// A new co-host can moderate without reconnecting. After demotion no link grants the
// role again, and a page that still expects it is admitted as a guest.
func TestSetRole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, ada := f.startRoom(t, room.Spec{MaxParticipants: 6})
	ben := f.enter(t, id, guest(2), "PA_2")
	co := guest(3)
	co.LinkToken, co.ExpectedRole = f.invite(t, id, room.Invitation{Role: room.CoHost, ExpiresIn: 60}), room.CoHost
	chen := f.enter(t, id, co, "PA_3")

	if err := f.SetRole(ctx, id, guest(1).SeatKey, ben.Seat.ID, room.CoHost); err != nil {
		t.Fatal(err)
	}
	if got := f.engine.permissions[ben.SessionID+" "+ben.Seat.ID]; got.role != room.CoHost {
		t.Errorf("permissions of ben: got %+v, want role %q", got, room.CoHost)
	}
	if err := f.SetRole(ctx, id, guest(2).SeatKey, chen.Seat.ID, room.Guest); err != nil {
		t.Fatal(err)
	}
	assertError(t, f.SetRole(ctx, id, guest(2).SeatKey, ada.Seat.ID, room.Guest), fault.Forbidden, "not_host",
		"a co-host may not do this to a host")
	assertError(t, f.Mute(ctx, id, co.SeatKey, ""), fault.Forbidden, "not_host", notHost)
	f.clock.advance(2 * time.Minute) // the link has expired
	for _, v := range []room.JoinRequest{co, guest(3)} {
		if a, err := f.ReserveSeat(ctx, id, v); err != nil || a.Seat.Role != room.Guest {
			t.Errorf("chen returns after demotion as %+v: got role %q, error %v, want role %q", v, a.Seat.Role, err, room.Guest)
		}
	}
	again := guest(3)
	again.LinkToken = f.invite(t, id, room.Invitation{Role: room.CoHost})
	if a, err := f.ReserveSeat(ctx, id, again); err != nil || a.Seat.Role != room.Guest {
		t.Errorf("chen returns with another co-host link: got role %q, error %v, want role %q", a.Seat.Role, err, room.Guest)
	}
	if err := f.SetRole(ctx, id, guest(1).SeatKey, chen.Seat.ID, room.CoHost); err != nil {
		t.Fatal(err)
	}
	if a, err := f.ReserveSeat(ctx, id, guest(3)); err != nil || a.Seat.Role != room.CoHost {
		t.Errorf("chen returns after the second promotion: got role %q, error %v, want role %q", a.Seat.Role, err,
			room.CoHost)
	}
	// None of this ended or began a connection.
	if rows, err := storetest.Attendance(ctx, f.db, id); err != nil || len(rows) != 3 ||
		slices.ContainsFunc(rows, func(a room.Attendance) bool { return !a.LeftAt.IsZero() }) {
		t.Errorf("attendance: got %+v, error %v, want three rows without an end", rows, err)
	}
}

// If the engine fails just after attendance was recorded, the next reconciliation sets
// the permissions and admits the connection.
func TestReconcile_AdmitsAfterMediaOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	a, err := f.ReserveSeat(t.Context(), id, guest(1))
	if err != nil {
		t.Fatal(err)
	}
	f.engine.connect(a.SessionID, a.Seat.ID, "PA_1", f.clock.Now())
	f.engine.setError(errors.New("away"))
	f.ParticipantJoined(a.SessionID, a.Seat.ID, "PA_1", f.clock.Now())
	f.engine.setError(nil)
	if len(f.engine.admitted) > 0 {
		t.Fatalf("admitted before the permissions are set: got %v, want none", f.engine.admitted)
	}
	f.Reconcile(t.Context())
	if !slices.Equal(f.engine.admitted, []string{"PA_1"}) {
		t.Errorf("admitted by reconciliation: got %v, want PA_1", f.engine.admitted)
	}
}

// When the reports of a lost connection and of the next one are lost, a reconciliation long after
// them ends the first visit where the second begins.
func TestReconcile_LongAfterLostReports(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 5})
	a := f.enter(t, id, guest(1), "PA_1")
	f.clock.advance(time.Minute)
	again := f.clock.Now()
	f.engine.connect(a.SessionID, a.Seat.ID, "PA_2", again)
	f.clock.advance(5 * time.Minute)
	f.Reconcile(t.Context())
	f.engine.disconnect(a.SessionID, a.Seat.ID)
	f.ParticipantLeft(a.SessionID, a.Seat.ID, "PA_2", f.clock.Now(), room.LeftByChoice)
	rows, err := f.db.AttendanceRecords(t.Context(), id)
	if err != nil || len(rows) != 2 {
		t.Fatalf("attendance: got %+v, error %v, want two visits", rows, err)
	}
	slices.SortFunc(rows, func(a, b room.AttendanceRecord) int { return a.JoinedAt.Compare(b.JoinedAt) })
	if !rows[0].LeftAt.Equal(again) || !rows[1].JoinedAt.Equal(again) {
		t.Errorf("visits: got one until %s and one from %s, want both %s", rows[0].LeftAt, rows[1].JoinedAt, again)
	}
}

// A guest who was removed and readmitted, or who gave their seat to a host, was in the room and
// does not wait in front of it.
func TestWaitingRoom_KnownGuests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, link := f.create(t, room.Spec{MaxParticipants: 2})
	readmitted, displaced := f.enter(t, id, guest(1), "PA_1"), f.enter(t, id, guest(2), "PA_2")
	host := hostOf(9, link)
	f.enter(t, id, host, "PA_9")
	if err := f.Remove(t.Context(), id, host.SeatKey, readmitted.Seat.ID); err != nil {
		t.Fatal(err)
	}
	if err := f.Readmit(t.Context(), id, host.SeatKey, readmitted.Seat.ID); err != nil {
		t.Fatal(err)
	}
	on := true
	if err := f.UpdateLocks(t.Context(), id, host.SeatKey, room.LockChange{WaitingRoom: &on}); err != nil {
		t.Fatal(err)
	}
	for n, seat := range map[int]string{1: readmitted.Seat.ID, 2: displaced.Seat.ID} {
		a, err := f.ReserveSeat(t.Context(), id, guest(n))
		if err != nil || a.RetryAfter > 0 || a.Seat.ID != seat {
			t.Errorf("guest %d: got %+v, error %v, want the seat %s", n, a, err, seat)
		}
		f.leave(f.enter(t, id, guest(n), fmt.Sprint("PA_again_", n)), fmt.Sprint("PA_again_", n), room.LeftByChoice)
	}
}
