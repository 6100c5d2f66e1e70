package room_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/storetest"
)

// stallingStore is a database whose writes fail for a while.
type stallingStore struct {
	*store.DB
	active *atomic.Bool
}

func (s stallingStore) Write(ctx context.Context, work func(context.Context) error) error {
	if s.active.Load() {
		return fault.New(fault.Unavailable, "unavailable", "the disk is slow")
	}
	return s.DB.Write(ctx, work)
}

// newStallingFixture returns a fixture in the time of a synctest bubble, whose database is unavailable while stall is
// set.
func newStallingFixture(t testing.TB) (f *fixture, stall *atomic.Bool) {
	t.Helper()
	db := storetest.SQLite(t)
	f, stall = &fixture{db: db, project: storetest.Project(t, db), clock: &clock{follow: true}}, new(atomic.Bool)
	f.restart()
	f.Service = room.NewService(stallingStore{db, stall}, f.engine, func() string { return "https://meet.example.org" },
		f.clock.Now, storetest.NewID, discardLogger, room.Options{})
	return f, stall
}

// Reports that arrive while the database is unavailable are stored afterwards, with
// their times and reasons.
func TestReportQueue_WrittenAfterStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, stall := newStallingFixture(t)
		ctx, stop := context.WithCancel(t.Context())
		go f.Run(ctx)
		id, _ := f.create(t, room.Spec{MaxParticipants: 3, EmptyTimeout: time.Hour})
		stayed := f.enter(t, id, guest(1), "PA_1")
		came, err := f.ReserveSeat(ctx, id, guest(2))
		if err != nil {
			t.Fatal(err)
		}
		removed := f.enter(t, id, guest(3), "PA_3")
		time.Sleep(time.Second)

		stall.Store(true)
		began := f.clock.Now()
		f.leave(stayed, "PA_1", room.LeftByChoice)
		// what is said twice counts once
		f.ParticipantLeft(stayed.SessionID, stayed.Seat.ID, "PA_1", f.clock.Now(), room.LeftLost)
		time.Sleep(2 * time.Second)
		f.engine.connect(came.SessionID, came.Seat.ID, "PA_2", f.clock.Now())
		f.ParticipantJoined(came.SessionID, came.Seat.ID, "PA_2", f.clock.Now())
		time.Sleep(3 * time.Second)
		f.leave(came, "PA_2", room.LeftByChoice)
		f.leave(removed, "PA_3", room.LeftRemoved)
		time.Sleep(15 * time.Second) // includes a reconciliation
		stall.Store(false)
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()

		want := map[string]struct {
			joined, left time.Duration
			reason       room.LeaveReason
		}{
			"PA_1": {-time.Second, 0, room.LeftByChoice},
			"PA_2": {2 * time.Second, 5 * time.Second, room.LeftByChoice},
			"PA_3": {-time.Second, 5 * time.Second, room.LeftRemoved},
		}
		rows, err := storetest.Attendance(ctx, f.db, id)
		if err != nil || len(rows) != len(want) {
			t.Errorf("attendance rows: got %d, error %v, want %d", len(rows), err, len(want))
		}
		for _, a := range rows {
			w := want[a.Connection]
			if a.JoinedAt.Sub(began) != w.joined || a.LeftAt.Sub(began) != w.left || a.Reason != w.reason {
				t.Errorf("%s: got from %s to %s, %q, want %s to %s, %q", a.Connection, a.JoinedAt.Sub(began),
					a.LeftAt.Sub(began), a.Reason, w.joined, w.left, w.reason)
			}
		}
		stop()
		synctest.Wait()
	})
}

// A node that stops while the database is unavailable stores its last reports and deletes itself as soon as it can.
func TestDeregister_DatabaseStalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		stall    time.Duration
		recorded bool
	}{
		{"for a while", 2 * time.Second, true},
		{"until the node has to end", time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, stall := newStallingFixture(t)
				if err := f.Recover(t.Context()); err != nil {
					t.Fatal(err)
				}
				id, _ := f.create(t, room.Spec{MaxParticipants: 3, EmptyTimeout: time.Hour})
				seat := f.enter(t, id, guest(1), "PA_1")
				time.Sleep(time.Second)
				stall.Store(true)
				leftAt := f.clock.Now()
				f.leave(seat, "PA_1", room.LeftServer)
				time.AfterFunc(c.stall, func() { stall.Store(false) })
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				if err := f.Deregister(ctx); (err == nil) != c.recorded || f.clock.Now().Sub(leftAt) > 3*time.Second {
					t.Errorf("deregister: got error %v after %s, want success: %v", err, f.clock.Now().Sub(leftAt), c.recorded)
				}
				rows, err := storetest.Attendance(t.Context(), f.db, id)
				if err != nil || len(rows) != 1 || rows[0].LeftAt.Equal(leftAt) != c.recorded ||
					(rows[0].Reason == room.LeftServer) != c.recorded {
					t.Errorf("got attendance %+v, error %v, want one with an end at %s: %v", rows, err, leftAt, c.recorded)
				}
				nodes, err := f.db.Nodes(t.Context())
				if err != nil || (len(nodes) == 0) != c.recorded {
					t.Errorf("got nodes %+v, error %v, want none: %v", nodes, err, c.recorded)
				}
			})
		})
	}
}

// A reconciliation that finds a connection gone leaves it to the report of the engine to say when and why it ended.
// Only if none comes by the second look, the connection was lost at the first one.
func TestReconcile_AwaitsReportOfLeave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reportAt time.Duration // after the first look; 0 if the report is lost
		reason   room.LeaveReason
		seat     room.SeatState
	}{
		"before the second look": {time.Second, room.LeftByChoice, room.Free},
		"minutes later":          {2 * time.Minute, room.LeftByChoice, room.Free},
		"never":                  {0, room.LeftLost, room.Reserved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ctx := t.Context()
			id, _ := f.create(t, room.Spec{MaxParticipants: 2, EmptyTimeout: time.Hour})
			a := f.enter(t, id, guest(1), "PA_1")
			f.clock.advance(time.Minute)
			left := f.clock.Now()
			f.engine.disconnect(a.SessionID, a.Seat.ID)
			f.engine.setReporting("PA_1", c.reportAt > 0)
			f.clock.advance(time.Second)
			first := f.clock.Now()
			f.Reconcile(ctx)
			for second := time.Second; second <= max(c.reportAt, room.RecheckDelay); second += time.Second {
				f.clock.advance(time.Second)
				if second == c.reportAt {
					f.ParticipantLeft(a.SessionID, a.Seat.ID, "PA_1", left, room.LeftByChoice)
					f.engine.setReporting("PA_1", false)
				}
				f.Recheck(ctx)
				if second%(10*time.Second) == 0 {
					f.Reconcile(ctx)
				}
			}
			want := left
			if c.reportAt == 0 {
				want = first
			}
			rows, err := storetest.Attendance(ctx, f.db, id)
			if err != nil || len(rows) != 1 || !rows[0].LeftAt.Equal(want) || rows[0].Reason != c.reason {
				t.Errorf("got attendance %+v, error %v, want the end at %s, %q", rows, err, want, c.reason)
			}
			if seat, err := f.db.Seat(ctx, id, a.Seat.ID); err != nil || seat.State != c.seat {
				t.Errorf("got seat %+v, error %v, want it %s", seat, err, c.seat)
			}
		})
	}
}

// Reconciliation may run before earlier reports arrive. A connected participant keeps
// the seat then, and a full room admits no other.
func TestReportQueue_ReportsAfterReconcile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := context.Background()
	id, _ := f.create(t, room.Spec{MaxParticipants: 1})
	a := f.enter(t, id, guest(1), "PA_1")
	f.engine.connect(a.SessionID, a.Seat.ID, "PA_3", f.clock.Now())
	f.Reconcile(ctx)
	f.ParticipantLeft(a.SessionID, a.Seat.ID, "PA_1", f.clock.Now(), room.LeftReplaced)
	f.ParticipantJoined(a.SessionID, a.Seat.ID, "PA_2", f.clock.Now())
	f.ParticipantLeft(a.SessionID, a.Seat.ID, "PA_2", f.clock.Now(), room.LeftByChoice)
	f.ParticipantJoined(a.SessionID, a.Seat.ID, "PA_3", f.clock.Now())
	if seat, err := f.db.Seat(ctx, id, a.Seat.ID); err != nil || seat.State != room.Joined || seat.Connection != "PA_3" {
		t.Errorf("seat of the connected participant: got %+v, error %v, want state %s and connection PA_3", seat, err,
			room.Joined)
	}
	_, err := f.ReserveSeat(ctx, id, guest(2))
	assertError(t, err, fault.Conflict, "room_full", "this room is full: all 1 seats are taken")
	f.leave(a, "PA_3", room.LeftByChoice)
	if _, err := f.ReserveSeat(ctx, id, guest(2)); err != nil {
		t.Error(err)
	}
}
