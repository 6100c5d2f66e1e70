package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/room"
)

func (s *suite) testRoom(t *testing.T) {
	ctx := patient()
	for i, text := range trickyTexts {
		full := &room.Room{
			ID:        NewID(),
			ProjectID: s.project.ID,
			State:     room.Active,
			EndReason: room.EndedDuration,
			Spec: room.Spec{
				Type:            room.Audio,
				ClientRoomID:    NewID(),
				StartAt:         testTime(6),
				Title:           text,
				WelcomeMessage:  text + "\n\r\n" + text,
				CreatorName:     text,
				ExternalUserID:  text,
				LogoutURL:       text,
				WebhookURL:      text,
				MaxParticipants: 1000,
				EmptyTimeout:    24 * time.Hour,
				Duration:        1440 * time.Minute,
				BreakoutRooms:   16,
			},
			CreatorLinkHash:       "hash",
			CreatorLinkRedeemedBy: "key hash",
			Session:               i + 1,
			SessionLive:           true,
			EventSequence:         1 << 40,
			CreatedAt:             testTime(1),
			OpenedAt:              testTime(2),
			StartedAt:             testTime(3),
			EmptySince:            testTime(4),
			EndedAt:               testTime(5),
			DueAt:                 testTime(1e9 + i),
		}
		s.insertRoom(t, full)
		got, err := s.db.Room(ctx, full.ID)
		requireEqual(t, got, err, full)
	}
	minimal := &room.Room{
		ID:        NewID(),
		ProjectID: s.project.ID,
		Spec:      room.Spec{Type: room.Video, MaxParticipants: 1},
		State:     room.Open,
		CreatedAt: testTime(1),
	}
	for _, fresh := range []*room.Room{minimal, Room(s.project.ID)} {
		s.write(t, func(ctx context.Context) error { return s.db.InsertRoom(ctx, fresh) })
		got, err := s.db.Room(ctx, fresh.ID)
		requireEqual(t, got, err, fresh)
	}
}

// UpdateRoom ignores the fields of the creation.
func (s *suite) testUpdateRoom(t *testing.T) {
	ctx := patient()
	r := s.insertRoom(t, Room(s.project.ID))
	want := *r
	want.State, want.EndReason, want.CreatorLinkRedeemedBy = room.Ended, room.EndedEmpty, "hash"
	want.Session, want.SessionLive = 7, true
	want.EventSequence, want.OpenedAt, want.StartedAt, want.EmptySince = 9, testTime(11), testTime(12), testTime(13)
	want.EndedAt, want.DueAt = testTime(14), time.Time{}
	update := want
	update.ClientRoomID, update.Type, update.Title, update.WelcomeMessage = "c", room.Audio, "t", "w"
	update.CreatorName, update.MaxParticipants, update.EmptyTimeout, update.Duration = "n", 1, 1, 1
	update.CreatorLinkHash, update.CreatedAt, update.StartAt = "h", testTime(15), testTime(16)
	update.ExternalUserID, update.LogoutURL, update.WebhookURL, update.BreakoutRooms = "e", "l", "w", 3
	s.write(t, func(ctx context.Context) error { return s.db.UpdateRoom(ctx, &update) })
	got, err := s.db.Room(ctx, r.ID)
	requireEqual(t, got, err, &want)
}

func (s *suite) testRoom_Refused(t *testing.T) {
	ctx := patient()
	_, err := s.db.Room(ctx, NewID())
	requireFault(t, err, fault.NotFound, "room_not_found")
	for _, work := range []func(ctx context.Context) error{
		func(ctx context.Context) error { _, err := s.db.LockRoom(ctx, NewID()); return err },
		func(ctx context.Context) error { return s.db.UpdateRoom(ctx, Room(s.project.ID)) },
	} {
		requireFault(t, s.db.Write(ctx, work), fault.NotFound, "room_not_found")
	}
	for _, change := range []func(r *room.Room){
		func(r *room.Room) { r.ProjectID = NewID() },
		func(r *room.Room) { r.State = "asleep" },
		func(r *room.Room) { r.Type = "smell" },
		func(r *room.Room) { r.MaxParticipants = 0 },
	} {
		r := Room(s.project.ID)
		change(r)
		requireConstraintError(t, s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertRoom(ctx, r) }))
		_, err := s.db.Room(ctx, r.ID)
		requireFault(t, err, fault.NotFound, "room_not_found")
	}
}

func (s *suite) testClientRoomID(t *testing.T) {
	ctx := patient()
	id := NewID()
	named := func(projectID, id string) *room.Room {
		r := Room(projectID)
		r.ClientRoomID = id
		return r
	}
	insert := func(r *room.Room) error {
		return s.db.Write(ctx, func(ctx context.Context) error { return s.db.InsertRoom(ctx, r) })
	}
	s.insertRoom(t, named(s.project.ID, id))
	requireFault(t, insert(named(s.project.ID, id)), fault.Conflict, "client_room_id_taken")
	s.insertRoom(t, named(s.insertBareProject(t), id)) // another project
	s.insertRoom(t, named(s.project.ID, id+"x"))       // another id
	s.insertRoom(t, named(s.project.ID, ""))
	s.insertRoom(t, named(s.project.ID, "")) // rooms without client_room_id do not conflict

	// Only one of many concurrent inserts succeeds. Others in the same
	// transaction are not affected.
	var wg sync.WaitGroup
	errs := make([]error, 64)
	bystanders := make([]*room.Room, len(errs))
	fresh := NewID()
	for i := range errs {
		bystanders[i] = Room(s.project.ID)
		wg.Go(func() { errs[i] = insert(named(s.project.ID, fresh)) })
		wg.Go(func() {
			if err := insert(bystanders[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
		} else {
			requireFault(t, err, fault.Conflict, "client_room_id_taken")
		}
		got, err := s.db.Room(ctx, bystanders[i].ID)
		requireEqual(t, got, err, bystanders[i])
	}
	if won != 1 {
		t.Fatalf("got %d rooms with the same client_room_id, want 1", won)
	}
}

// A text that PostgreSQL cannot store is an unknown ID, and the transaction that asked for it goes on.
func (s *suite) testUnstorableText(t *testing.T) {
	r := s.insertRoom(t, Room(s.project.ID))
	for _, id := range []string{"\x00", "\xff", r.ID + "\x00"} {
		lookups := func(ctx context.Context) {
			_, err := s.db.Room(ctx, id)
			requireFault(t, err, fault.NotFound, "room_not_found")
			_, err = s.db.Project(ctx, id)
			requireFault(t, err, fault.NotFound, "project_not_found")
			_, err = s.db.Organization(ctx, id)
			requireFault(t, err, fault.NotFound, "organization_not_found")
			_, err = s.db.APIKeyByHash(ctx, id)
			requireFault(t, err, fault.NotFound, "api_key_not_found")
			_, err = s.db.IdempotencyRecord(ctx, id, testTime(0))
			requireFault(t, err, fault.NotFound, "idempotency_record_not_found")
			found, err := s.db.ProjectsByID(ctx, []string{id, s.project.ID})
			if err != nil || len(found) != 1 {
				t.Errorf("ProjectsByID of %q and a project: got %v, %v, want the project", id, found, err)
			}
		}
		lookups(patient())
		s.write(t, func(ctx context.Context) error {
			_, err := s.db.LockRoom(ctx, id)
			requireFault(t, err, fault.NotFound, "room_not_found")
			requireFault(t, s.db.LockProject(ctx, id), fault.NotFound, "project_not_found")
			lookups(ctx)
			return s.db.UpdateRoom(ctx, r)
		})
	}
}

// Without the lock, one of two concurrent read-modify-write transactions would
// overwrite the change of the other. Some lock one room, some all, in any order.
func (s *suite) testLockRoom(t *testing.T) {
	ctx := patient()
	rooms := make([]*room.Room, 3)
	for i := range rooms {
		rooms[i] = s.insertRoom(t, Room(s.project.ID))
	}
	lockAll := func(ctx context.Context) error {
		ids := []string{NewID()}
		for _, i := range rand.Perm(len(rooms)) {
			ids = append(ids, rooms[i].ID)
		}
		return s.db.LockRooms(ctx, ids)
	}
	const each = 100
	var wg sync.WaitGroup
	for i := range each * len(rooms) {
		wg.Go(func() {
			err := s.db.Write(ctx, func(ctx context.Context) (err error) {
				lock := s.db.LockRoom
				if i%2 == 0 {
					if err := lockAll(ctx); err != nil {
						return err
					}
					lock = s.db.Room
				}
				r, err := lock(ctx, rooms[i%len(rooms)].ID)
				if err != nil {
					return err
				}
				r.EventSequence++
				return s.db.UpdateRoom(ctx, r)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range rooms {
		got, err := s.db.Room(ctx, r.ID)
		want := *r
		want.EventSequence += each
		requireEqual(t, got, err, &want)
	}
	if _, err := s.db.LockRoom(ctx, rooms[0].ID); err == nil {
		t.Fatal("LockRoom outside Write: got no error, want one")
	}
	if err := s.db.LockRooms(ctx, nil); err != nil {
		t.Errorf("LockRooms of no room: got %v, want no error", err)
	}
	if err := lockAll(ctx); err == nil {
		t.Error("LockRooms outside Write: got no error, want one")
	}
}

func (s *suite) testDueRooms(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p := Project(t, db)
	due := func(at time.Time) string {
		r := Room(p.ID)
		r.DueAt = at
		if err := db.Write(ctx, func(ctx context.Context) error { return db.InsertRoom(ctx, r) }); err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	third, first, second := due(testTime(3)), due(testTime(1)), due(testTime(2))
	due(testTime(4))
	due(time.Time{})
	for limit, want := range [][]string{nil, {first}, {first, second}, {first, second, third}, {first, second, third}} {
		got, err := db.DueRooms(ctx, testTime(3), limit)
		requireEqual(t, got, err, want)
	}
	got, err := db.DueRooms(ctx, testTime(3).Add(-time.Millisecond), 10)
	requireEqual(t, got, err, []string{first, second})
}

func (s *suite) testEvents(t *testing.T) {
	ctx := patient()
	r := s.insertRoom(t, Room(s.project.ID))
	var events []event.Event
	for i, text := range trickyTexts {
		e := event.Event{
			ID:        NewID(),
			Type:      event.ParticipantLeft,
			ProjectID: s.project.ID,
			RoomID:    r.ID,
			Sequence:  int64(i + 1),
			At:        testTime(i),
			Data: event.Data{
				RoomID:       r.ID,
				ClientRoomID: text,
				SessionID:    room.SessionID(r.ID, i),
				RoomType:     "video",
				EndReason:    "duration",
			},
		}
		if i > 0 {
			e.Data.Participant = &event.Participant{
				Identity:   NewID(),
				Name:       text,
				Role:       "host",
				Connection: "PA_1",
				JoinedAt:   testTime(i),
				Reason:     "left",
			}
		}
		events = append(events, e)
	}
	reversed := slices.Clone(events)
	slices.Reverse(reversed)
	s.write(t, func(ctx context.Context) error { return s.db.AppendEvents(ctx, reversed) })
	got, err := Events(ctx, s.db, r.ID)
	requireEqual(t, got, err, events)

	again := events[0]
	again.ID = NewID()
	unknown := again
	unknown.RoomID = NewID()
	more := unknown
	more.ID, more.Sequence = NewID(), unknown.Sequence+1
	for _, refused := range [][]event.Event{{again}, {unknown}, {unknown, more}} {
		err := s.db.Write(ctx, func(ctx context.Context) error { return s.db.AppendEvents(ctx, refused) })
		requireConstraintError(t, err)
	}
}

func (s *suite) testSessions(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p := Project(t, db)
	r := Room(p.ID)
	session := func(n int, state room.SessionState) room.Session {
		return room.Session{RoomID: r.ID, N: n, State: state}
	}
	checkSessions := func(want ...room.Session) {
		t.Helper()
		var found []room.Session
		for _, state := range []room.SessionState{room.SessionLive, room.SessionClosing} {
			sessions, err := db.Sessions(ctx, state)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, sessions...)
		}
		byNumber := func(a, b room.Session) int { return a.N - b.N }
		slices.SortFunc(found, byNumber)
		requireEqual(t, fmt.Sprint(found), nil, fmt.Sprint(want))
	}
	err := db.Write(ctx, func(ctx context.Context) error {
		if err := db.InsertRoom(ctx, r); err != nil {
			return err
		}
		for n := 1; n <= 3; n++ {
			if err := db.InsertSession(ctx, session(n, room.SessionLive), testTime(n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSessions(session(1, room.SessionLive), session(2, room.SessionLive), session(3, room.SessionLive))
	write := func(work func(ctx context.Context) error) {
		t.Helper()
		if err := db.Write(ctx, work); err != nil {
			t.Fatal(err)
		}
	}
	write(func(ctx context.Context) error { return db.CloseSessions(ctx, r.ID, false, testTime(4)) })
	checkSessions(session(1, room.SessionClosing), session(2, room.SessionClosing), session(3, room.SessionClosing))
	write(func(ctx context.Context) error { return db.MarkSessionClosed(ctx, session(1, "")) })
	checkSessions(session(2, room.SessionClosing), session(3, room.SessionClosing))
	requireConstraintError(t, db.Write(ctx, func(ctx context.Context) error {
		return db.InsertSession(ctx, session(3, room.SessionLive), testTime(9))
	}))
}
