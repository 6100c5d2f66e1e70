package room_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// runInBubble runs a test with a running service in a synctest bubble, whose time
// passes instantly.
func runInBubble(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := storetest.SQLite(t)
		f := &fixture{db: db, project: storetest.Project(t, db), clock: &clock{follow: true}}
		f.restart()
		ctx, stop := context.WithCancel(t.Context())
		go f.Run(ctx)
		synctest.Wait() // so that the first comparison is before what the test does
		test(t, f)
		stop()
		synctest.Wait()
	})
}

// assertStateAfter fails unless a room reaches that state after that time, at most a
// second late because of the sweep interval.
func assertStateAfter(t *testing.T, f *fixture, id string, wait time.Duration, want room.State) {
	t.Helper()
	time.Sleep(wait - time.Second)
	synctest.Wait()
	if r := f.room(t, id); r.State == want {
		t.Errorf("the room is %s a second before %s, want it later", want, wait)
	}
	time.Sleep(2*time.Second + time.Millisecond)
	synctest.Wait()
	if r := f.room(t, id); r.State != want {
		t.Errorf("the room after %s: got %s, want %s", wait, r.State, want)
	}
}

func TestRun_ExpiresUnusedRoom(t *testing.T) {
	for name, c := range map[string]struct {
		empty, wait time.Duration
	}{"a short timeout": {20 * time.Second, 300 * time.Second}, "a long one": {time.Hour, time.Hour}} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t *testing.T, f *fixture) {
				id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: c.empty})
				assertStateAfter(t, f, id, c.wait, room.Expired)
				if got := f.eventTypes(t, id); !slices.Equal(got, []event.Type{event.RoomOpened, event.RoomExpired}) {
					t.Errorf("events: got %v, want opened and expired", got)
				}
			})
		})
	}
}

func TestRun_EndsEmptyRoom(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: 20 * time.Second})
		first := f.enter(t, id, guest(1), "PA_1")
		// Longer than any timeout, and not at a tick, because a reconciliation at the
		// moment of the leave below would report a lost connection.
		time.Sleep(time.Hour + 500*time.Millisecond)
		second := f.enter(t, id, guest(2), "PA_2")
		f.leave(first, "PA_1", room.LeftByChoice)
		time.Sleep(time.Hour)
		f.leave(second, "PA_2", room.LeftByChoice)
		left := time.Now().UTC()
		assertStateAfter(t, f, id, 20*time.Second, room.Ended)
		r := f.room(t, id)
		if r.EndReason != room.EndedEmpty || !r.EmptySince.Equal(left.Truncate(time.Millisecond)) ||
			f.engine.isOpen(second.SessionID) {
			t.Errorf("got %+v, want it ended as empty since %s, and its session closed", r, left)
		}
		want := []event.Type{event.RoomOpened, event.RoomStarted, event.ParticipantJoined, event.ParticipantJoined,
			event.ParticipantLeft, event.ParticipantLeft, event.RoomEnded}
		if got := f.eventTypes(t, id); !slices.Equal(got, want) {
			t.Errorf("events: got %v, want %v", got, want)
		}
	})
}

// The seat of a lost connection is held for a while, but the empty timeout begins at
// the loss.
func TestRun_HoldsSeatOfLostConnection(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 1, EmptyTimeout: 10 * time.Second})
		a := f.enter(t, id, guest(1), "PA_1")
		f.leave(a, "PA_1", room.LeftLost)
		time.Sleep(29 * time.Second)
		_, err := f.ReserveSeat(t.Context(), id, guest(2))
		assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
		if back := f.enter(t, id, guest(1), "PA_2"); back.Seat.ID != a.Seat.ID {
			t.Errorf("after the reconnection: got seat %s, want %s", back.Seat.ID, a.Seat.ID)
		}
		f.leave(a, "PA_2", room.LeftLost)
		assertStateAfter(t, f, id, room.ReconnectTimeout, room.Ended)
	})
}

// The duration that the plan allows counts from the first join and ends the room even
// with participants in it.
func TestRun_EndsRoomAfterDuration(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		f.plan = room.Entitlements{MaxParticipants: 2, Duration: 40 * time.Minute}
		id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: 24 * time.Hour})
		time.Sleep(3 * time.Minute)
		a := f.enter(t, id, guest(1), "PA_1")
		assertStateAfter(t, f, id, 40*time.Minute, room.Ended)
		if r := f.room(t, id); r.EndReason != room.EndedDuration || f.engine.isOpen(a.SessionID) {
			t.Errorf("got %+v, want it ended by its duration, and its session closed", r)
		}
		rows, err := storetest.Attendance(t.Context(), f.db, id)
		if err != nil || len(rows) != 1 || rows[0].Reason != room.LeftRoomOver || rows[0].LeftAt.IsZero() {
			t.Errorf("got the attendance %+v, %v, want one that ended with the room", rows, err)
		}
	})
}

func TestRun_OpensScheduledRoom(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 2, StartAt: time.Now().Add(time.Hour)})
		_, err := f.ReserveSeat(t.Context(), id, guest(1))
		assertError(t, err, fault.Conflict, "room_not_open", "this room is not open yet: it opens at 2000-01-01T01:00:00Z")
		assertStateAfter(t, f, id, time.Hour, room.Open)
	})
}

// A session that is over is closed at once, before the next sweep.
func TestEnd_ClosesSessionAtOnce(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 2})
		a := f.enter(t, id, guest(1), "PA_1")
		synctest.Wait()
		before := time.Now()
		if _, err := f.End(t.Context(), id, "api"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f.engine.isOpen(a.SessionID) || time.Since(before) > 0 {
			t.Errorf("got open %v after %s, want closed at once", f.engine.isOpen(a.SessionID), time.Since(before))
		}
	})
}

// Unreported joins are found within ten seconds, and leaves at the second look.
func TestRun_FindsMissedReports(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 2})
		stays, goes := f.enter(t, id, guest(1), "PA_1"), f.enter(t, id, guest(2), "PA_2")
		f.engine.disconnect(goes.SessionID, goes.Seat.ID)
		f.engine.connect(stays.SessionID, stays.Seat.ID, "PA_3", time.Now())
		time.Sleep(11*time.Second + room.RecheckDelay)
		synctest.Wait()
		present, err := f.db.CurrentAttendance(t.Context(), id)
		if err != nil || len(present) != 1 || present[0].Connection != "PA_3" {
			t.Errorf("got the current attendance %+v, %v, want PA_3 only", present, err)
		}
		// The last heartbeat is at most a few seconds old.
		nodes, err := f.db.Nodes(t.Context())
		if err != nil || len(nodes) != 1 || nodes[0].ID != f.NodeID() || time.Since(nodes[0].LastAlive) > 6*time.Second {
			t.Errorf("got the nodes %v, %v, want only %s, alive in the last 6 s", nodes, err, f.NodeID())
		}
	})
}

// A process that stood still compares its connections as soon as it goes on, and looks again
// three seconds later at the differences.
func TestRun_ReconcilesAfterStandingStill(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: time.Hour})
		stays, goes := f.enter(t, id, guest(1), "PA_1"), f.enter(t, id, guest(2), "PA_2")
		f.ParticipantLeft(stays.SessionID, stays.Seat.ID, "PA_1", f.clock.Now(), room.LeftServer)
		f.engine.disconnect(goes.SessionID, goes.Seat.ID)
		expect := func(after time.Duration, want ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			present, err := f.db.CurrentAttendance(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range present {
				got = append(got, engineConnectionID(a.Connection))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got the connections %v in the current attendance, want %v", got, want)
			}
		}
		expect(2*time.Second, "PA_2")
		f.clock.advance(5 * time.Second)
		expect(1100*time.Millisecond, "PA_2")
		expect(4*time.Second, "PA_1")
	})
}

// A session that ended while the engine was unavailable is closed when the engine is
// available again.
func TestRun_RetriesCloseUntilMediaReturns(t *testing.T) {
	runInBubble(t, func(t *testing.T, f *fixture) {
		id, _ := f.create(t, room.Spec{MaxParticipants: 2})
		a := f.enter(t, id, guest(1), "PA_1")
		f.engine.setError(errors.New("away"))
		if _, err := f.End(t.Context(), id, "api"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		f.engine.setError(nil)
		if !f.engine.isOpen(a.SessionID) {
			t.Error("got the session closed while the engine was unavailable, want it open")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f.engine.isOpen(a.SessionID) {
			t.Error("the session is open 2 s after the engine is available, want it closed")
		}
	})
}

// brokenRoomStore is a store in which one room cannot be locked.
type brokenRoomStore struct {
	*store.DB
	id  string
	err error
}

func (f brokenRoomStore) LockRoom(ctx context.Context, id string) (*room.Room, error) {
	if id == f.id {
		return nil, f.err
	}
	return f.DB.LockRoom(ctx, id)
}

var errBrokenRoom = errors.New("this room is broken")

// A room that cannot be updated, also because its update takes too long, does not prevent the update of other due
// rooms.
func TestSweep_BrokenRoomDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]error{
		"broken":   errBrokenRoom,
		"too slow": fault.New(fault.Unavailable, "unavailable", "the work took too long"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkSweepOfOthers(t, broken)
		})
	}
}

func checkSweepOfOthers(t *testing.T, broken error) {
	f := newFixture(t)
	var ids []string
	for range 150 { // more than a sweep looks at in one go
		id, _ := f.create(t, room.Spec{MaxParticipants: 2})
		ids = append(ids, id)
	}
	f.clock.advance(time.Hour)
	s := room.NewService(brokenRoomStore{f.db, ids[0], broken}, f.engine, func() string { return "" }, f.clock.Now,
		storetest.NewID, discardLogger, room.Options{})
	s.Sweep(t.Context())
	for i, id := range ids {
		if r := f.room(t, id); (r.State == room.Expired) != (i > 0) {
			t.Errorf("room %d: got the state %s, want expired %v", i, r.State, i > 0)
		}
	}
}

// After a crash, live sessions are opened again. Attendance ends at the last heartbeat,
// and participants have time to return.
func TestRecover(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	id, link := f.create(t, room.Spec{MaxParticipants: 1, EmptyTimeout: time.Hour})
	host := guest(1)
	host.LinkToken = link
	a := f.enter(t, id, host, "PA_1")
	alive := f.clock.Now()
	if err := f.Recover(ctx); err != nil { // the same process: writes down that it is alive
		t.Fatal(err)
	}
	f.enter(t, id, host, "PA_2")
	f.clock.advance(10 * time.Second)
	f.restart()
	if err := f.Recover(ctx); err != nil {
		t.Fatal(err)
	}
	if !f.engine.isOpen(a.SessionID) {
		t.Error("got the session closed, want it live again")
	}
	rows, err := storetest.Attendance(ctx, f.db, id)
	if err != nil || len(rows) != 2 || rows[0].LeftAt != alive || rows[1].LeftAt != alive ||
		rows[1].Reason != room.LeftServer {
		t.Errorf("got the attendance %+v, %v, want two that ended at %s, the second by the server", rows, err, alive)
	}
	f.clock.advance(room.RejoinTimeout - time.Second)
	_, err = f.ReserveSeat(ctx, id, guest(2))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
	if back := f.enter(t, id, host, "PA_3"); back.SessionID != a.SessionID || back.Seat.ID != a.Seat.ID ||
		back.Seat.Role != room.Host {
		t.Errorf("got %+v, want the session, the seat and the role of %+v", back, a)
	}
}

// An expired reservation goes to the next visitor, even before a sweep. Its former
// holder is removed if the room is full.
func TestParticipantJoined_SeatReassigned(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.create(t, room.Spec{MaxParticipants: 1})
	late, err := f.ReserveSeat(t.Context(), id, guest(1))
	if err != nil {
		t.Fatal(err)
	}
	f.clock.advance(room.RejoinTimeout)
	f.enter(t, id, guest(2), "PA_2")
	f.engine.connect(late.SessionID, late.Seat.ID, "PA_1", f.clock.Now())
	f.ParticipantJoined(late.SessionID, late.Seat.ID, "PA_1", f.clock.Now())
	if out := f.engine.drainRemoved(); !slices.Equal(out, []string{late.Seat.ID}) {
		t.Errorf("got removed %v, want %s", out, late.Seat.ID)
	}
	if rows, err := storetest.Attendance(t.Context(), f.db, id); err != nil || len(rows) != 1 {
		t.Errorf("got the attendance %+v, %v, want one", rows, err)
	}
}

// Reports about unknown rooms only remove the participant.
func TestReports_UnknownRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ParticipantJoined(room.SessionID(storetest.NewID(), 1), "somebody", "PA_1", f.clock.Now())
	if out := f.engine.drainRemoved(); !slices.Equal(out, []string{"somebody"}) {
		t.Errorf("got removed %v, want somebody", out)
	}
	f.ParticipantLeft(room.SessionID(storetest.NewID(), 1), "somebody", "PA_1", f.clock.Now(), room.LeftByChoice)
	f.ParticipantJoined("no session of ours", "somebody", "PA_1", f.clock.Now())
	f.ParticipantLeft("no session of ours", "somebody", "PA_1", f.clock.Now(), room.LeftByChoice)
	if out := f.engine.drainRemoved(); len(out) > 0 {
		t.Errorf("got removed %v, want nobody", out)
	}
}
