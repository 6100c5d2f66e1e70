package room_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

// These tests check the transitions caused by time alone, to the second. Those of
// quick rooms are in run_test.go.

// host returns a visitor with the creator's link.
func host(n int, link string) room.JoinRequest {
	v := guest(n)
	v.LinkToken, v.ExpectedRole = link, room.Host
	return v
}

// sleepUntil sleeps until a time and waits for all goroutines to block.
func sleepUntil(at time.Time) {
	time.Sleep(time.Until(at))
	synctest.Wait()
}

// A room with a local start time opens at that time, before and after both changes of
// daylight saving time.
func TestScheduledRoom_OpensAroundDSTChange(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	for _, c := range []struct{ local, instant string }{
		{"2027-03-28T01:59", "2027-03-28T00:59:00Z"}, // the last minute of winter
		{"2027-03-28T03:00", "2027-03-28T01:00:00Z"}, // the first of summer
		{"2027-10-31T02:30", "2027-10-31T00:30:00Z"}, // twice on that night: the first
		{"2027-10-31T03:00", "2027-10-31T02:00:00Z"}, // winter again
	} {
		want, err := time.Parse(time.RFC3339, c.instant)
		if err != nil {
			t.Fatal(err)
		}
		f.clock.advance(want.Add(-time.Hour).Sub(f.clock.Now()))
		start := want.In(zone)
		if got := start.Format("2006-01-02T15:04"); got != c.local {
			t.Fatalf("%s in %s: got %s, want %s", c.instant, zone, got, c.local)
		}
		visited, _ := f.create(t, room.Spec{MaxParticipants: 2, StartAt: start})
		swept, _ := f.create(t, room.Spec{MaxParticipants: 2, StartAt: start})
		f.clock.advance(time.Hour - time.Millisecond)
		f.Sweep(t.Context())
		_, err = f.ReserveSeat(t.Context(), visited, guest(1))
		assertError(t, err, fault.Conflict, "room_not_open", "this room is not open yet: it opens at "+c.instant)
		f.clock.advance(time.Millisecond)
		// The room is open for visitors and previews even before a sweep.
		if _, err := f.ReserveSeat(t.Context(), visited, guest(1)); err != nil {
			t.Errorf("%s: join after the start: got error %v, want none", c.local, err)
		}
		if p, err := f.Preview(t.Context(), swept, guest(1)); err != nil || p.Room.State != room.Open || !p.OpensAt.IsZero() {
			t.Errorf("%s: got the preview %+v, %v, want an open room without OpensAt", c.local, p, err)
		}
		if r := f.room(t, swept); r.State != room.Scheduled {
			t.Errorf("%s: after a preview: got the state %s, want scheduled", c.local, r.State)
		}
		f.Sweep(t.Context())
		for _, id := range []string{visited, swept} {
			if r := f.room(t, id); r.State != room.Open || !r.OpenedAt.Equal(want) {
				t.Errorf("%s: got %+v, want it open since %s", c.local, r, want)
			}
		}
	}
}

// From ten minutes before the start, to the second, a host can open the room by
// joining. Guests and co-hosts wait for the start or for a host.
func TestScheduledRoom_HostOpensTenMinutesEarly(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		start := time.Now().Add(12 * time.Minute).Truncate(time.Second)
		id, link := f.create(t, room.Spec{MaxParticipants: 5, StartAt: start})
		cohost := guest(2)
		cohost.LinkToken = f.invite(t, id, room.Invitation{Role: room.CoHost})
		early := func(v room.JoinRequest) {
			t.Helper()
			_, err := f.ReserveSeat(ctx, id, v)
			assertError(t, err, fault.Conflict, "room_not_open",
				"this room is not open yet: it opens at "+start.UTC().Format(time.RFC3339))
		}
		opensAt := func(v room.JoinRequest, want time.Time) {
			t.Helper()
			if p, err := f.Preview(ctx, id, v); err != nil || !p.OpensAt.Equal(want) {
				t.Errorf("opens at: got %s, %v, want %s", p.OpensAt, err, want)
			}
		}
		opensAt(host(1, link), start.Add(-10*time.Minute))
		opensAt(cohost, start)
		opensAt(guest(3), start)
		sleepUntil(start.Add(-10*time.Minute - time.Millisecond))
		early(host(1, link))
		sleepUntil(start.Add(-10 * time.Minute))
		early(cohost)
		early(guest(3))
		if r := f.room(t, id); r.State != room.Scheduled {
			t.Errorf("after refused visitors: got the state %s, want scheduled", r.State)
		}
		if _, err := f.ReserveSeat(ctx, id, host(1, link)); err != nil {
			t.Fatal(err)
		}
		opensAt(guest(3), time.Time{})
		for _, v := range []room.JoinRequest{cohost, guest(3)} { // it is open for everybody now
			if _, err := f.ReserveSeat(ctx, id, v); err != nil {
				t.Errorf("join the open room: got error %v, want none", err)
			}
		}
		// The start does not open the room a second time.
		sleepUntil(start.Add(2 * time.Second))
		if got := f.eventTypes(t, id); !slices.Equal(got, []event.Type{event.RoomScheduled, event.RoomOpened}) {
			t.Errorf("events: got %v, want scheduled and opened", got)
		}
	})
}

// If a host joins and leaves before the start, the empty timeout begins at the start.
func TestScheduledRoom_EarlyHostLeavingDoesNotEndIt(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		start := time.Now().Add(8 * time.Minute).Truncate(time.Second)
		id, link := f.create(t, room.Spec{MaxParticipants: 5, StartAt: start, EmptyTimeout: time.Minute})
		a := f.enter(t, id, host(1, link), "PA_1")
		time.Sleep(time.Second)
		f.leave(a, "PA_1", room.LeftByChoice)
		sleepUntil(start.Add(60*time.Second - time.Millisecond))
		if r := f.room(t, id); r.State != room.Active {
			t.Fatalf("a minute after the start: got the state %s, want active", r.State)
		}
		sleepUntil(start.Add(62 * time.Second))
		if r := f.room(t, id); r.State != room.Ended || r.EndReason != room.EndedEmpty {
			t.Errorf("then: got %s %s, want it ended as empty", r.State, r.EndReason)
		}
	})
}

// A scheduled room that no participant joins expires a day after its start.
func TestScheduledRoom_ExpiresOneDayAfterStart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	start := f.clock.Now().Add(time.Hour)
	id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: 20 * time.Second, StartAt: start})
	for _, c := range []struct {
		wait  time.Duration
		state room.State
	}{{time.Hour, room.Open}, {24*time.Hour - time.Millisecond, room.Open}, {time.Millisecond, room.Expired}} {
		f.clock.advance(c.wait)
		f.Sweep(t.Context())
		if r := f.room(t, id); r.State != c.state {
			t.Errorf("got %s after %s more, want %s", r.State, c.wait, c.state)
		}
	}
	if got := f.eventTypes(t, id); !slices.Equal(got,
		[]event.Type{event.RoomScheduled, event.RoomOpened, event.RoomExpired}) {
		t.Errorf("events: got %v, want scheduled, opened and expired", got)
	}
}

func TestEnd_BeforeOpeningCancels(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		start := time.Now().Add(time.Minute)
		id, link := f.create(t, room.Spec{MaxParticipants: 2, StartAt: start})
		sleepUntil(start.Add(-time.Second))
		if _, err := f.End(t.Context(), id, room.EndedAPI); err != nil {
			t.Fatal(err)
		}
		sleepUntil(start.Add(time.Minute))
		if r := f.room(t, id); r.State != room.Cancelled || !r.OpenedAt.IsZero() || r.EndReason != "" {
			t.Errorf("got %+v, want it canceled without having opened", r)
		}
		_, err := f.ReserveSeat(t.Context(), id, host(1, link))
		assertError(t, err, fault.Gone, "room_ended", "this room has ended")
		if got := f.eventTypes(t, id); !slices.Equal(got, []event.Type{event.RoomScheduled, event.RoomCancelled}) {
			t.Errorf("events: got %v, want scheduled and canceled", got)
		}
	})
}

// A seat without a connection is released after twenty seconds, one with a lost
// connection after thirty. The room does not end before.
func TestSeat_ReleasedAfterTimeout(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		id, _ := f.create(t, room.Spec{MaxParticipants: 1, EmptyTimeout: time.Second})
		full := func() {
			t.Helper()
			_, err := f.ReserveSeat(ctx, id, guest(2))
			assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
		}
		taken := time.Now()
		if _, err := f.ReserveSeat(ctx, id, guest(1)); err != nil {
			t.Fatal(err)
		}
		sleepUntil(taken.Add(20*time.Second - time.Millisecond))
		full()
		sleepUntil(taken.Add(20 * time.Second))
		a := f.enter(t, id, guest(3), "PA_3")
		lost := time.Now()
		f.leave(a, "PA_3", room.LeftLost)
		sleepUntil(lost.Add(30*time.Second - time.Millisecond))
		full()
		if r := f.room(t, id); r.State != room.Active {
			t.Errorf("while a seat is held: got the state %s, want active", r.State)
		}
		sleepUntil(lost.Add(31 * time.Second))
		if r := f.room(t, id); r.State != room.Ended || r.EndReason != room.EndedEmpty ||
			!r.EmptySince.Equal(lost.Truncate(time.Millisecond)) {
			t.Errorf("got %+v, want it ended as empty since %s", r, lost)
		}
	})
}

// A hidden participant does not keep a room alive.
func TestEmptyTimeout_IgnoresHiddenParticipants(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		f.configureProject(t, project.Settings{HiddenParticipants: true})
		for name, visited := range map[string]bool{"nobody else ever came": false, "everybody else left": true} {
			id, _ := f.create(t, room.Spec{MaxParticipants: 1, EmptyTimeout: 5 * time.Minute})
			watcher := guest(1)
			watcher.LinkToken = f.invite(t, id, room.Invitation{Role: room.Guest, Hidden: true})
			a := f.enter(t, id, watcher, "PA_"+name)
			if r := f.room(t, id); r.State != room.Open {
				t.Errorf("%s: got the state %s, want open", name, r.State)
			}
			want, kinds := room.Expired, []event.Type{event.RoomOpened, event.RoomExpired}
			if visited {
				f.leave(f.enter(t, id, guest(2), "PA_2 "+name), "PA_2 "+name, room.LeftByChoice)
				want, kinds = room.Ended, []event.Type{event.RoomOpened, event.RoomStarted, event.ParticipantJoined,
					event.ParticipantLeft, event.RoomEnded}
			}
			assertStateAfter(t, f, id, 300*time.Second, want)
			rows, err := storetest.Attendance(t.Context(), f.db, id)
			if err != nil || rows[0].LeftAt.IsZero() || rows[0].Reason != room.LeftRoomOver || f.engine.isOpen(a.SessionID) {
				t.Errorf("%s: got the attendance %+v, %v, want it ended with the room", name, rows, err)
			}
			if got := f.eventTypes(t, id); !slices.Equal(got, kinds) {
				t.Errorf("%s: got the events %v, want %v", name, got, kinds)
			}
		}
	})
}

// A room whose participants are all in breakout rooms is not empty, and its duration
// applies to them.
func TestEmptyTimeout_CountsBreakoutParticipants(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.plan = room.Entitlements{MaxParticipants: 2, Duration: 20 * time.Minute, BreakoutRooms: 2}
		id, link := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: time.Second})
		began := time.Now()
		a, b := f.enter(t, id, host(1, link), "PA_1"), f.enter(t, id, guest(2), "PA_2")
		f.openBreakout(t, id, a, b)
		for n, old := range map[int]room.Admission{1: a, 2: b} {
			moved := f.enter(t, id, guest(n), old.Seat.ID)
			if moved.Breakout.N != 1 || moved.SessionID == old.SessionID {
				t.Errorf("got %+v, want another session in breakout room 1", moved)
			}
			f.leave(old, map[int]string{1: "PA_1", 2: "PA_2"}[n], room.LeftByChoice)
		}
		sleepUntil(began.Add(10 * time.Minute))
		if r := f.room(t, id); r.State != room.Active || !r.EmptySince.IsZero() {
			t.Errorf("got %+v, want it active and never empty", r)
		}
		assertStateAfter(t, f, id, 10*time.Minute, room.Ended)
		rows, err := storetest.Attendance(ctx, f.db, id)
		if err != nil || len(rows) != 4 || rows[0].Reason != room.LeftMoved || rows[1].Reason != room.LeftMoved ||
			rows[2].Reason != room.LeftRoomOver || rows[3].Reason != room.LeftRoomOver {
			t.Errorf("got the attendance %+v, %v, want two that moved and two that ended with the room", rows, err)
		}
		if r := f.room(t, id); r.EndReason != room.EndedDuration {
			t.Errorf("got %+v, want it ended by its duration", r)
		}
	})
}

// Transitions that came due while no process was running are applied once by the next
// process.
func TestRecover_AppliesOverdueTransitions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start   time.Duration
		visited bool
		down    time.Duration
		want    []event.Type
		reason  room.EndReason
	}{
		"before the opening":  {time.Hour, false, 59 * time.Minute, []event.Type{event.RoomScheduled}, ""},
		"after the opening":   {time.Hour, false, 2 * time.Hour, []event.Type{event.RoomScheduled, event.RoomOpened}, ""},
		"after the expiry":    {time.Hour, false, 48 * time.Hour, []event.Type{event.RoomScheduled, event.RoomOpened, event.RoomExpired}, ""},
		"before the duration": {0, true, time.Hour, []event.Type{event.RoomOpened, event.RoomStarted, event.ParticipantJoined, event.ParticipantLeft}, ""},
		"after the duration": {0, true, 25 * time.Hour,
			[]event.Type{event.RoomOpened, event.RoomStarted, event.ParticipantJoined, event.ParticipantLeft, event.RoomEnded},
			room.EndedDuration},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			q := room.Spec{MaxParticipants: 2, EmptyTimeout: time.Minute}
			if c.start > 0 {
				q.StartAt = f.clock.Now().Add(c.start)
			}
			id, _ := f.create(t, q)
			if c.visited {
				f.enter(t, id, guest(1), "PA_1")
			}
			for range 2 { // the second time there is nothing to do
				f.restart()
				if c.down > 0 {
					f.clock.advance(c.down)
				}
				c.down = 0
				if err := f.Recover(context.Background()); err != nil {
					t.Fatal(err)
				}
				f.Sweep(context.Background())
				if got := f.eventTypes(t, id); !slices.Equal(got, c.want) {
					t.Errorf("events: got %v, want %v", got, c.want)
				}
			}
			if r := f.room(t, id); r.EndReason != c.reason {
				t.Errorf("got %+v, want the end reason %s", r, c.reason)
			}
		})
	}
}

// From the first join on, the metadata contain the end of the room, also in breakout
// rooms and after a restart.
func TestMetadata_EndsAtFromFirstJoin(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	f.plan = room.Entitlements{MaxParticipants: 5, Duration: time.Hour, BreakoutRooms: 1}
	id, link := f.create(t, room.Spec{MaxParticipants: 5})
	a, err := f.ReserveSeat(ctx, id, host(1, link))
	if err != nil {
		t.Fatal(err)
	}
	if i := f.engine.metadata[a.SessionID]; i.EndsAt != nil {
		t.Errorf("before the first join: got EndsAt %s, want none", i.EndsAt)
	}
	f.clock.advance(10 * time.Second)
	f.enter(t, id, host(1, link), "PA_1")
	ends := f.clock.Now().Add(time.Hour)
	f.clock.advance(10 * time.Second)
	f.enter(t, id, guest(2), "PA_2") // moves no end
	assertEndsAt := func(session string) {
		t.Helper()
		if i := f.engine.metadata[session]; i.EndsAt == nil || !i.EndsAt.Equal(ends) {
			t.Errorf("%s ends: got %v, want %s", session, i.EndsAt, ends)
		}
	}
	assertEndsAt(a.SessionID)
	f.openBreakout(t, id)
	b := f.enter(t, id, guest(2), "PA_3")
	assertEndsAt(b.SessionID)
	f.restart()
	if err := f.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	assertEndsAt(a.SessionID)
	assertEndsAt(b.SessionID)
}
