package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/internal/event"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/store/filltest"
	"parley/internal/webhook"
)

// Pack is filltest.Pack for a test.
func Pack(t testing.TB, db *store.DB, before time.Time) {
	t.Helper()
	if err := filltest.Pack(patient(), db, before); err != nil {
		t.Fatal(err)
	}
}

// longRoom is a room that is over, with the events that its store must return.
type longRoom struct {
	db   *store.DB
	room *room.Room
	all  []event.Event
}

// longRoomEvents is the number of events of a longRoom. They need more than one pack.
const longRoomEvents = 450

// newLongRoom stores a room with events of all types. Two come after the one that ends the room.
func newLongRoom(t *testing.T, db *store.DB, projectID string) *longRoom {
	t.Helper()
	l := &longRoom{db: db, room: Room(projectID)}
	kinds := []event.Type{event.AttendanceMarked, event.AttendanceMarked, event.ParticipantReported, event.RoomOpened,
		event.ParticipantJoined, event.RoomStarted, event.ParticipantLeft, event.FeedbackGiven, event.ParticipantJoinFailed}
	l.room.EventSequence = longRoomEvents
	for n := 1; n <= longRoomEvents; n++ {
		kind := kinds[n%len(kinds)]
		if n == longRoomEvents-2 {
			kind = event.RoomEnded
		}
		l.add(kind)
	}
	err := db.Write(patient(), func(ctx context.Context) error {
		return errors.Join(db.InsertRoom(ctx, l.room), db.AppendEvents(ctx, l.all))
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// add adds an event to those that the store must return, and returns it.
func (l *longRoom) add(kind event.Type) event.Event {
	n := len(l.all) + 1
	e := Event(l.room, n)
	e.Type, e.At = kind, testTime(n%97) // not always later than the one before
	switch kind {
	case event.ParticipantJoined, event.ParticipantLeft:
		e.Data.Participant = &event.Participant{
			Identity:   NewID(),
			Name:       trickyTexts[n%len(trickyTexts)],
			Connection: fmt.Sprint("PA_", n),
			JoinedAt:   testTime(1),
		}
	case event.AttendanceMarked, event.ParticipantReported:
		e.Data.Mark = &event.AttendanceMark{Name: fmt.Sprint("Ada ", n), Source: event.SourceExternal}
	case event.FeedbackGiven:
		e.Data.Feedback = &event.Feedback{Identity: NewID(), Name: "Ada", Role: "guest", Rating: "good"}
	case event.ParticipantJoinFailed:
		e.Data.FailedJoin = &event.FailedJoin{Name: "Ada", Code: "room_full"}
	}
	l.all = append(l.all, e)
	return e
}

// eventsOf returns the events of some types.
func (l *longRoom) eventsOf(wanted func(t event.Type) bool) (events []event.Event) {
	for _, e := range l.all {
		if wanted(e.Type) {
			events = append(events, e)
		}
	}
	return events
}

// requireEvents fails unless all methods of the store return the events of the room, in pages of any size.
func (l *longRoom) requireEvents(t *testing.T) {
	t.Helper()
	ctx := patient()
	delivered := l.eventsOf(func(t event.Type) bool { return t != event.AttendanceMarked })
	people := l.eventsOf(func(t event.Type) bool {
		return t != event.RoomOpened && t != event.RoomStarted && t != event.RoomEnded
	})
	page := func(of []event.Event, after int64, limit int) []event.Event {
		first := slices.IndexFunc(of, func(e event.Event) bool { return e.Sequence > after })
		if first < 0 {
			return nil
		}
		return of[first:min(first+limit, len(of))]
	}
	n := int64(len(l.all))
	for _, after := range []int64{0, 1, 2, 150, 199, 200, 201, 399, 400, 401, n - 2, n - 1, n, 1 << 52} {
		for _, limit := range []int{1, 3, 201, 1000} {
			got, err := l.db.RoomEvents(ctx, l.room.ID, after, limit)
			requireEqual(t, got, err, page(l.all, after, limit))
			got, err = l.db.EventsAboutPeople(ctx, l.room.ID, after, limit)
			requireEqual(t, got, err, page(people, after, max(len(got), limit)))
			var want []webhook.DeliveredEvent
			for _, e := range page(delivered, after, limit) {
				d := webhook.DeliveredEvent{Event: e}
				if before := page(delivered, 0, len(delivered)); before[0].Sequence < e.Sequence {
					i := slices.IndexFunc(before, func(b event.Event) bool { return b.Sequence == e.Sequence })
					d.Previous = before[i-1].Sequence
				}
				want = append(want, d)
			}
			gotDelivered, err := l.db.DeliveredEvents(ctx, l.room.ID, after, limit)
			requireEqual(t, gotDelivered, err, want)
		}
	}
	var reported []room.ReportedAttendee
	for _, e := range l.all {
		if m := e.Data.Mark; m != nil {
			reported = append(reported, room.ReportedAttendee{Name: m.Name, Source: m.Source, At: e.At})
		}
	}
	for _, limit := range []int{1, 70, 1000} {
		got, err := l.db.ReportedAttendance(ctx, l.room.ID, limit)
		requireEqual(t, got, err, reported[:min(limit, len(reported))])
	}
	last, err := l.db.LastEventTime(ctx, l.room.ID)
	requireEqual(t, last, err, l.all[len(l.all)-1].At)
	first, err := l.db.FirstEvent(ctx, l.room.ID)
	requireEqual(t, first, err, 1)
}

// requireRows fails unless the room has these numbers of packs and of events that are not packed.
func (l *longRoom) requireRows(t *testing.T, packs, events int) {
	t.Helper()
	for table, want := range map[string]int{"packed_events": packs, "events": events} {
		var got int
		err := l.db.QueryRow(patient(), nil, `SELECT count(*) FROM `+table+` WHERE room_id = $1`, []any{l.room.ID}, &got)
		if err != nil || got != want {
			t.Fatalf("rows in %s: got %d, %v, want %d", table, got, err, want)
		}
	}
}

// testPackedEvents checks that reading, changing and deleting the events of a room does not depend on whether they
// are packed.
func (s *suite) testPackedEvents(t *testing.T) {
	db := s.open(t)
	p := Project(t, db)
	l := newLongRoom(t, db, p.ID)
	running := newLongRoom(t, db, p.ID)
	write := func(work func(ctx context.Context) error) {
		t.Helper()
		if err := db.Write(patient(), work); err != nil {
			t.Fatal(err)
		}
	}
	write(func(ctx context.Context) error {
		return db.Exec(ctx, `UPDATE events SET type = 'room.started' WHERE type = 'room.ended' AND room_id = $1`,
			running.room.ID)
	})
	l.requireRows(t, 0, longRoomEvents)
	l.requireEvents(t)
	Pack(t, db, time.Now())
	running.requireRows(t, 0, longRoomEvents)
	l.requireRows(t, 3, 0)
	l.requireEvents(t)

	for range 3 {
		late := l.add(event.AttendanceMarked)
		write(func(ctx context.Context) error { return db.AppendEvents(ctx, []event.Event{late}) })
	}
	l.requireRows(t, 3, 3)
	l.requireEvents(t)

	var changed []event.Event
	for _, n := range []int{0, 9, 199, 200, 449, 450} {
		e := &l.all[n]
		e.Data.EndReason = "changed"
		if e.Data.Mark != nil {
			e.Data.Mark = &event.AttendanceMark{Name: "changed", Source: e.Data.Mark.Source}
		}
		changed = append(changed, *e)
	}
	write(func(ctx context.Context) error { return db.UpdateEvents(ctx, changed) })
	l.requireRows(t, 3, 3)
	l.requireEvents(t)
	running.requireRows(t, 0, longRoomEvents)

	var steps []int
	for _, limit := range []int{1, 3, 1} {
		write(func(ctx context.Context) error {
			deleted, rows, err := db.DeleteRoom(ctx, l.room.ID, limit)
			steps = append(steps, deleted.Events, rows)
			return err
		})
		first, err := db.FirstEvent(patient(), l.room.ID)
		requireEqual(t, first, err, []int64{201, 452, 453}[len(steps)/2-1])
	}
	requireEqual(t, steps, nil, []int{200, 1, 251, 3, 1, 1})
	write(func(ctx context.Context) error {
		deleted, rows, err := db.DeleteRoom(ctx, l.room.ID, 10)
		requireEqual(t, deleted, err, retention.Deleted{Events: 1, Rooms: 1})
		requireEqual(t, rows, nil, 2)
		return nil
	})
}

// testPreparePacking checks that no event is packed as long as an earlier program may need it, and that no such program
// can start after that.
func (s *suite) testPreparePacking(t *testing.T) {
	db := s.open(t)
	ctx := patient()
	l := newLongRoom(t, db, Project(t, db).ID)
	prepare := func(when string, now, before time.Time, want retention.Packing) {
		t.Helper()
		var got retention.Packing
		var closed bool
		err := db.Write(ctx, func(ctx context.Context) (err error) {
			got, err = db.PreparePacking(ctx, now, before)
			return err
		})
		if err == nil {
			err = db.QueryRow(ctx, nil, `SELECT EXISTS (SELECT 1 FROM schema_contractions WHERE version = 50)`, nil, &closed)
		}
		got.From, want.From = got.From.UTC(), want.From.UTC()
		if err != nil || got != want || closed != want.Closed {
			t.Fatalf("%s: got %+v, a contraction: %t, %v, want %+v", when, got, closed, err, want)
		}
	}
	heartbeat := func(schema int, at time.Time) {
		t.Helper()
		err := db.Write(ctx, func(ctx context.Context) error {
			return errors.Join(db.RecordHeartbeat(ctx, room.Node{ID: "other", LastAlive: at}),
				db.Exec(ctx, `UPDATE nodes SET schema_version = $1`, schema))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	beforeEnd, afterEnd := testTime(0), testTime(97)
	const day = 24 * time.Hour
	now := testTime(100)
	prepare("before a room is over", now, beforeEnd, retention.Packing{})
	prepare("at the first room that is over", now, afterEnd, retention.Packing{From: now.Add(day)})
	prepare("within a day", now.Add(day-time.Millisecond), afterEnd, retention.Packing{From: now.Add(day)})
	now = now.Add(3*day + time.Second)
	from := now.Add(day)
	prepare("after a pause, in which an earlier program may have run", now, afterEnd, retention.Packing{From: from})
	prepare("the clock is set back", from.Add(-9*day), afterEnd, retention.Packing{From: from.Add(-8 * day)})
	prepare("the clock is right again", from.Add(-day), afterEnd, retention.Packing{From: from})
	heartbeat(49, from)
	prepare("while an earlier program runs", from, afterEnd, retention.Packing{From: from, OlderNode: "other"})
	heartbeat(50, from)
	settled := from.Add(time.Minute)
	prepare("after it was upgraded", from, afterEnd, retention.Packing{Closed: true, Closing: true, From: settled})
	prepare("soon after that", settled.Add(-time.Millisecond), afterEnd, retention.Packing{Closed: true, From: settled})
	heartbeat(49, settled)
	prepare("an earlier program was paused", settled, afterEnd,
		retention.Packing{Closed: true, From: settled, OlderNode: "other"})
	prepare("its heartbeat is old, because its clock is behind", settled.Add(time.Hour), afterEnd,
		retention.Packing{Closed: true, From: settled, OlderNode: "other"})
	err := db.Write(ctx, func(ctx context.Context) error {
		_, err := db.RemoveNode(ctx, "other")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	prepare("it has stopped", settled, afterEnd, retention.Packing{Closed: true, Allowed: true, From: settled})
	ahead := settled.Add(-time.Hour)
	prepare("the clock was ahead", ahead, afterEnd, retention.Packing{Closed: true, From: ahead.Add(time.Minute)})
	requireEqual(t, l.pack(t, afterEnd, 150), nil, []int{200, 200, 50})
}

// pack calls PackEvents until nothing is left to pack, and returns the number of events of each call that has packed
// any.
func (l *longRoom) pack(t *testing.T, before time.Time, limit int) (packed []int) {
	t.Helper()
	var from, next time.Time
	for ; ; from = next {
		n := 0
		err := l.db.Write(patient(), func(ctx context.Context) (err error) {
			n, next, err = l.db.PackEvents(ctx, from, before, limit)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			packed = append(packed, n)
		}
		if next.IsZero() {
			return packed
		}
	}
}

// testPackEvents_Concurrent checks that nothing is lost or doubled while two nodes pack, and others read, append to and
// change the same rooms.
func (s *suite) testPackEvents_Concurrent(t *testing.T) {
	db := s.open(t)
	p := Project(t, db)
	Pack(t, db, time.Now())
	var all []*longRoom
	for range 20 {
		all = append(all, newLongRoom(t, db, p.ID))
	}
	packed := make(chan struct{})
	var packers, others errgroup.Group
	for range 2 {
		packers.Go(func() error { return filltest.Pack(patient(), db, time.Now()) })
	}
	for range 2 {
		others.Go(func() error {
			for {
				for _, l := range all {
					events, err := db.RoomEvents(patient(), l.room.ID, 0, longRoomEvents)
					if err != nil || len(events) != longRoomEvents || events[longRoomEvents-1].Sequence != longRoomEvents {
						return fmt.Errorf("got %d events, %w", len(events), err)
					}
				}
				select {
				case <-packed:
					return nil
				default:
				}
			}
		})
	}
	others.Go(func() error {
		for _, l := range all {
			late := l.add(event.AttendanceMarked)
			changed := &l.all[len(l.all)%200+100]
			changed.Data.EndReason = "changed"
			err := db.Write(patient(), func(ctx context.Context) error {
				return errors.Join(db.LockRooms(ctx, []string{l.room.ID}), db.AppendEvents(ctx, []event.Event{late}),
					db.UpdateEvents(ctx, []event.Event{*changed}))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	err := packers.Wait()
	close(packed)
	if err = errors.Join(err, others.Wait()); err != nil {
		t.Fatal(err)
	}
	Pack(t, db, time.Now())
	for _, l := range all {
		events, err := db.RoomEvents(patient(), l.room.ID, 0, 1000)
		requireEqual(t, events, err, l.all)
		var rows int
		err = db.QueryRow(patient(), nil, `SELECT count(*) FROM packed_events WHERE room_id = $1`, []any{l.room.ID}, &rows)
		requireEqual(t, rows, err, 3)
	}
}
