package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"parley/internal/audit"
	"parley/internal/event"
	"parley/internal/fault"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/usage"
	"parley/internal/webhook"
)

// endedMeeting is a meeting that is over, with a row in every table.
type endedMeeting struct {
	room     *room.Room
	seat     room.Seat
	link     room.Link
	joined   event.Event
	delivery webhook.Delivery
}

// insertEndedMeeting stores a meeting of a project that ended at a time in seconds. A user
// has created it, sat in it and has a link.
func (s *suite) insertEndedMeeting(t *testing.T, projectID, userID string, ended int) endedMeeting {
	t.Helper()
	m := endedMeeting{room: Room(projectID)}
	m.room.State, m.room.EndedAt, m.room.DueAt = room.Ended, testTime(ended), time.Time{}
	m.room.ExternalUserID, m.room.EventSequence = userID, 2
	m.seat = newSeat(m.room.ID, room.Joined, 0)
	m.seat.UserID = userID
	m.link = room.Link{
		ID:        NewID(),
		RoomID:    m.room.ID,
		TokenHash: NewID(),
		Role:      room.Guest,
		Name:      m.seat.Name,
		UserID:    userID,
		CreatedAt: testTime(0),
	}
	opened := Event(m.room, 1)
	m.joined = Event(m.room, 2)
	m.joined.Type = event.ParticipantJoined
	m.joined.Data.Participant = &event.Participant{Identity: userID, Name: m.seat.Name, JoinedAt: testTime(0)}
	st := s.newStream(m.room.ID)
	st.ProjectID = projectID
	m.delivery = s.newDelivery(st, 1)
	m.delivery.ProjectID, m.delivery.EventID, m.delivery.CreatedAt = projectID, m.joined.ID, testTime(ended)
	s.write(t, func(ctx context.Context) error {
		for _, insert := range []func() error{
			func() error { return insertFullRoom(ctx, s.db, m.room) },
			func() error { return s.db.InsertSeat(ctx, m.seat) },
			func() error { return s.db.InsertLink(ctx, m.link) },
			func() error {
				return s.db.InsertSession(ctx, room.Session{RoomID: m.room.ID, N: 1, State: room.SessionClosed}, testTime(0))
			},
			func() error {
				return s.db.InsertBreakout(ctx, room.Breakout{RoomID: m.room.ID, N: 1, Session: 2, OpenedAt: testTime(0)})
			},
			func() error {
				return s.db.UpsertKnock(ctx, room.Knock{
					ID:        NewID(),
					RoomID:    m.room.ID,
					KeyHash:   NewID(),
					Name:      m.seat.Name,
					CreatedAt: testTime(0),
					ExpiresAt: testTime(9),
				})
			},
			func() error {
				_, err := s.db.InsertAttendance(ctx, room.Attendance{
					ID:         NewID(),
					RoomID:     m.room.ID,
					Session:    1,
					SeatID:     m.seat.ID,
					Connection: "PA_1",
					JoinedAt:   testTime(1),
					LeftAt:     testTime(2),
				}, testTime(2))
				return err
			},
			func() error { return s.db.AppendEvents(ctx, []event.Event{opened, m.joined}) },
			func() error {
				return s.db.AppendHostAction(ctx, room.HostAction{RoomID: m.room.ID, At: testTime(1)}, 9)
			},
			func() error { return s.db.InsertStream(ctx, st, testTime(1)) },
			func() error { return s.db.InsertDelivery(ctx, m.delivery) },
			func() error {
				return s.db.RecordAttempt(ctx, m.delivery, webhook.Attempt{N: 1, At: testTime(1), ResponseBody: m.seat.Name})
			},
		} {
			if err := insert(); err != nil {
				return err
			}
		}
		return nil
	})
	return m
}

// testRetention_Rooms finds the rooms of a project that ended before a time, and deletes
// one with all its rows.
func (s *suite) testRetention_Rooms(t *testing.T) {
	ctx := patient()
	p, other := Project(t, s.db), Project(t, s.db)
	second := s.insertEndedMeeting(t, p.ID, "u2", 200)
	first := s.insertEndedMeeting(t, p.ID, "u1", 100)
	s.insertEndedMeeting(t, other.ID, "u1", 100)
	find := func(withPeople bool, before, limit int, want ...string) {
		t.Helper()
		var ids []string
		s.write(t, func(ctx context.Context) error {
			found, err := s.db.RoomsToDelete(ctx, p.ID, testTime(before), limit)
			if withPeople {
				found, err = s.db.RoomsWithPeople(ctx, p.ID, testTime(before), nil, limit)
			}
			ids = found
			return err
		})
		requireEqual(t, ids, nil, want)
	}
	find(false, 100, 10)
	find(false, 101, 10, first.room.ID)
	find(false, 201, 10, first.room.ID, second.room.ID)
	find(false, 201, 1, first.room.ID)
	s.write(t, func(ctx context.Context) error {
		return s.db.MarkPeopleErased(ctx, first.room.ID, testTime(300))
	})
	find(true, 201, 10, second.room.ID)

	firstEvent := func(want int64) {
		t.Helper()
		got, err := s.db.FirstEvent(ctx, first.room.ID)
		requireEqual(t, got, err, want)
	}
	firstEvent(1)
	type step struct {
		deleted retention.Deleted
		rows    int
	}
	var steps []step
	remove := func(limit int) {
		t.Helper()
		s.write(t, func(ctx context.Context) error {
			deleted, rows, err := s.db.DeleteRoom(ctx, first.room.ID, limit)
			steps = append(steps, step{deleted, rows})
			return err
		})
	}
	remove(1)
	firstEvent(2)
	remove(1)
	firstEvent(3)
	for range 3 {
		remove(3)
	}
	requireEqual(t, steps, nil, []step{
		{retention.Deleted{Events: 1}, 1}, {retention.Deleted{Events: 1}, 1},
		{retention.Deleted{Connections: 1}, 3},     // and an action of a host and a session
		{retention.Deleted{Seats: 1, Links: 1}, 3}, // and a knock
		{retention.Deleted{Rooms: 1}, 3},           // and a breakout room and a stream
	})
	_, err := s.db.FirstEvent(ctx, first.room.ID)
	requireFault(t, err, fault.NotFound, "room_not_found")
	find(false, 201, 10, second.room.ID)
	_, err = s.db.Room(ctx, first.room.ID)
	requireFault(t, err, fault.NotFound, "room_not_found")
	streams, err := s.db.Streams(ctx, p.ID, first.room.ID)
	requireEqual(t, streams, err, nil)
	has, err := s.db.HasRooms(ctx, p.ID)
	requireEqual(t, has, err, true)
}

// testRetention_Person finds a person and removes the name and the ID from every table.
func (s *suite) testRetention_Person(t *testing.T) {
	ctx := patient()
	p, other := Project(t, s.db), Project(t, s.db)
	userID := NewID()
	m := s.insertEndedMeeting(t, p.ID, userID, 100)
	elsewhere := s.insertEndedMeeting(t, other.ID, userID, 100)
	ids := []string{m.room.ID}
	rooms := func() (ids []string) {
		t.Helper()
		found, err := s.db.RoomsOfUser(ctx, p.ID, userID, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			ids = append(ids, r.ID)
		}
		return ids
	}
	requireEqual(t, rooms(), nil, ids)
	after, err := s.db.RoomsOfUser(ctx, p.ID, userID, m.room.ID, 10)
	requireEqual(t, after, err, nil)
	r, err := s.db.RoomOfSeat(ctx, p.ID, m.seat.ID)
	requireEqual(t, r, err, retention.PersonRoom{
		ID:             m.room.ID,
		Title:          m.room.Title,
		CreatedAt:      m.room.CreatedAt,
		CreatorName:    m.room.CreatorName,
		ExternalUserID: userID,
		RedeemedBy:     r.RedeemedBy,
	})
	_, err = s.db.RoomOfSeat(ctx, p.ID, elsewhere.seat.ID)
	requireFault(t, err, fault.NotFound, "seat_not_found")

	seats, err := s.db.SeatsOfRoom(ctx, m.room.ID)
	requireEqual(t, seats, err, []retention.Seat{{ID: m.seat.ID, RoomID: m.room.ID, Name: m.seat.Name, UserID: userID,
		Role: string(m.seat.Role), Taken: true, CreatedAt: m.seat.CreatedAt, KeyHash: m.seat.KeyHash}})
	links, err := s.db.LinksOfRoom(ctx, m.room.ID)
	requireEqual(t, links, err, []retention.Link{{ID: m.link.ID, RoomID: m.room.ID, Name: m.link.Name, UserID: userID,
		Role: string(m.link.Role)}})
	connections, err := s.db.ConnectionsOfSeats(ctx, []string{m.seat.ID})
	requireEqual(t, connections, err, []retention.Connection{{SeatID: m.seat.ID, Session: 1, JoinedAt: testTime(1),
		LeftAt: testTime(2)}})
	events, err := s.db.EventsAboutPeople(ctx, m.room.ID, 1, 10)
	want := m.joined
	requireEqual(t, events, err, []event.Event{want})
	deliveries, err := s.db.DeliveriesOfEvents(ctx, []string{m.joined.ID, NewID(), NewID()})
	requireEqual(t, deliveries, err, []webhook.Delivery{m.delivery})

	want.Data.Participant = nil
	s.write(t, func(ctx context.Context) error {
		for _, work := range []func() error{
			func() error { return s.db.EraseSeats(ctx, []string{m.seat.ID}) },
			func() error { return s.db.EraseLinks(ctx, []string{m.link.ID}) },
			func() error { return s.db.EraseCreator(ctx, m.room.ID) },
			func() error { return s.db.UpdateEvents(ctx, []event.Event{want}) },
			func() error { return s.db.EraseDelivery(ctx, m.delivery.ID, "{}") },
		} {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	})
	knocks, err := s.db.Knocks(ctx, m.room.ID)
	if err != nil || len(knocks) != 1 {
		t.Fatalf("knocks of the room: got %d, %v, want 1", len(knocks), err)
	}
	s.write(t, func(ctx context.Context) error {
		for keyHash, want := range map[string]int{"other key": 0, knocks[0].KeyHash: 1} {
			if n, err := s.db.DeleteKnocksByKey(ctx, m.room.ID, keyHash); err != nil || n != want {
				return fmt.Errorf("delete the knocks with the key %q: got %d, %w, want %d", keyHash, n, err, want)
			}
		}
		return nil
	})
	knocks, err = s.db.Knocks(ctx, m.room.ID)
	requireEqual(t, knocks, err, nil)
	knocks, err = s.db.Knocks(ctx, elsewhere.room.ID)
	if err != nil || len(knocks) != 1 {
		t.Errorf("knocks of another room: got %d, %v, want 1", len(knocks), err)
	}
	err = s.db.WriteInBackground(ctx, func(ctx context.Context) error {
		n, err := s.db.DeleteKnocks(ctx, elsewhere.room.ID, 5)
		requireEqual(t, n, err, 1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	knocks, err = s.db.Knocks(ctx, elsewhere.room.ID)
	requireEqual(t, knocks, err, nil)
	requireEqual(t, rooms(), nil, nil)
	links, err = s.db.LinksOfRoom(ctx, m.room.ID)
	requireEqual(t, links, err, nil)
	later, err := s.db.EventsAboutPeople(ctx, m.room.ID, 2, 10)
	requireEqual(t, later, err, nil)
	events, err = s.db.EventsAboutPeople(ctx, m.room.ID, 0, 1)
	requireEqual(t, events, err, []event.Event{want})
	stored, err := s.db.Delivery(ctx, m.delivery.ID)
	requireEqual(t, stored.Body, err, "{}")
	attempts, err := s.db.Attempts(ctx, m.delivery.ID)
	if err != nil || len(attempts) != 1 || attempts[0].ResponseBody != "" {
		t.Errorf("attempts: got %+v, %v, want one without an answer", attempts, err)
	}
}

// testRetention_Projects deletes a project, and then its organization.
func (s *suite) testRetention_Projects(t *testing.T) {
	ctx := patient()
	p := Project(t, s.db)
	all, err := s.db.Projects(ctx, project.ListQuery{})
	if err != nil || !slices.ContainsFunc(all, func(q project.Project) bool { return q.ID == p.ID }) {
		t.Errorf("Projects: got %d projects, %v, want %s among them", len(all), err, p.ID)
	}
	none, err := s.db.Projects(ctx, project.ListQuery{After: "z", Limit: 10})
	requireEqual(t, none, err, nil)
	s.write(t, func(ctx context.Context) error { return s.db.MarkProjectDeleted(ctx, p.ID, testTime(5)) })
	marked, err := s.db.Project(ctx, p.ID)
	requireEqual(t, marked.DeletedAt, err, testTime(5))
	settled, err := s.db.UsageSettledUntil(ctx, p.OrganizationID)
	requireEqual(t, settled, err, time.Time{})
	has, err := s.db.HasRooms(ctx, p.ID)
	requireEqual(t, has, err, false)
	r := Room(p.ID)
	r.ClientRoomID = "client " + r.ID
	st := s.newStream(r.ID)
	st.ProjectID = p.ID
	var deleted []int
	s.write(t, func(ctx context.Context) error {
		if err := errors.Join(s.db.InsertRoom(ctx, r), s.db.InsertStream(ctx, st, testTime(1))); err != nil {
			return err
		}
		deleted = nil
		for range 2 {
			n, err := s.db.DeleteProjectRows(ctx, p.ID, 5)
			if err != nil {
				return err
			}
			deleted = append(deleted, n)
		}
		_, _, err := s.db.DeleteRoom(ctx, r.ID, 5)
		return err
	})
	requireEqual(t, deleted, nil, []int{4, 0}) // the client_room_id, the stream, the key and the secret
	counts := retention.Deleted{
		Rooms:       1,
		Seats:       2,
		Connections: 3,
		Links:       4,
		Events:      5,
		Deliveries:  6,
	}
	s.write(t, func(ctx context.Context) error { return s.db.AddDeleted(ctx, p.ID, counts, testTime(6)) })
	s.write(t, func(ctx context.Context) error {
		return s.db.AddDeleted(ctx, p.ID, retention.Deleted{Seats: 1}, testTime(7))
	})
	counts.Seats++
	sum, err := s.db.Deleted(ctx, p.ID)
	requireEqual(t, sum, err, counts)
	storeCalls := func() {
		err := errors.Join(s.db.InsertCalls(ctx, []requestlog.Block{newBlock(p.ID, "v5", 1)}),
			s.db.SetKeyCallers(ctx, []requestlog.KeyCaller{{ProjectID: p.ID, KeySlot: "current", At: testTime(1)}}))
		if err != nil {
			t.Fatal(err)
		}
	}
	storeCalls()
	s.write(t, func(ctx context.Context) error { return s.db.DeleteProject(ctx, p.ID) })
	storeCalls() // calls from before the deletion, which are stored late
	sum, err = s.db.Deleted(ctx, p.ID)
	requireEqual(t, sum, err, retention.Deleted{})
	blocks, err := s.readBlocks(requestlog.BlockQuery{ProjectID: p.ID, FirstBelow: math.MaxInt64,
		LastBelow: math.MaxInt64, Limit: 9})
	requireEqual(t, blocks, err, nil)
	callers, err := s.db.KeyCallers(ctx, p.ID)
	requireEqual(t, callers, err, nil)
	_, err = s.db.Project(ctx, p.ID)
	requireFault(t, err, fault.NotFound, "project_not_found")
	addHours := func(hours, want int) {
		t.Helper()
		s.write(t, func(ctx context.Context) error {
			sum, err := s.db.AddDeletedHours(ctx, p.OrganizationID, hours, testTime(0))
			requireEqual(t, sum, err, want)
			return err
		})
	}
	addHours(3, 3)
	addHours(4, 7)
	s.write(t, func(ctx context.Context) error {
		hours, rows, err := s.db.DeleteOrganizationRows(ctx, p.OrganizationID, 5)
		requireEqual(t, []int{hours, rows}, err, []int{0, 0})
		return err
	})
	addHours(0, 7)
	s.write(t, func(ctx context.Context) error { return s.db.DeleteOrganization(ctx, p.OrganizationID) })
	addHours(0, 0)
	_, err = s.db.Organization(ctx, p.OrganizationID)
	requireFault(t, err, fault.NotFound, "organization_not_found")
	// A rollup that was computed before the deletion leaves nothing behind.
	late := usage.Interval{Start: testTime(0).Truncate(time.Hour), Length: time.Hour, Rooms: 1}
	err = s.db.SaveUsageRollup(ctx, usage.Rollup{OrganizationID: p.OrganizationID, Until: late.Start.Add(time.Hour),
		Hours: []usage.Interval{late}})
	if err != nil {
		t.Fatal(err)
	}
	scope := usage.Scope{OrganizationID: p.OrganizationID}
	hours, err := s.db.UsageHours(ctx, scope, late.Start, late.Start.Add(time.Hour))
	requireEqual(t, hours, err, nil)
}

// The oldest data is that of each project alone, and that of a room with erased people is no data
// of people.
func (s *suite) testRetention_OldestData(t *testing.T) {
	ctx, p, empty := patient(), Project(t, s.db), Project(t, s.db)
	first, second := s.insertEndedMeeting(t, p.ID, "u1", 100), s.insertEndedMeeting(t, p.ID, "u2", 200)
	s.insertEndedMeeting(t, Project(t, s.db).ID, "u1", 50)
	s.write(t, func(ctx context.Context) error {
		call := requestlog.NumberedCall{N: testTime(150).UnixNano(), Call: requestlog.Call{Method: "GET"}}
		return errors.Join(s.db.MarkPeopleErased(ctx, first.room.ID, testTime(300)),
			s.db.InsertCalls(ctx, []requestlog.Block{{ProjectID: p.ID, API: "v5", Calls: []requestlog.NumberedCall{call}}}))
	})
	check := func(want retention.Oldest) {
		t.Helper()
		got, err := s.db.OldestData(ctx, []string{p.ID, empty.ID})
		requireEqual(t, got, err, map[string]retention.Oldest{p.ID: want, empty.ID: {}})
	}
	want := retention.Oldest{Delivery: testTime(100), Call: testTime(150), People: testTime(200), Room: testTime(100)}
	check(want)
	caller := requestlog.KeyCaller{ProjectID: p.ID, KeySlot: "current", At: testTime(140)}
	if err := s.db.SetKeyCallers(ctx, []requestlog.KeyCaller{caller}); err != nil {
		t.Fatal(err)
	}
	s.write(t, func(ctx context.Context) error {
		return errors.Join(s.db.MarkPeopleErased(ctx, second.room.ID, testTime(300)),
			s.db.AddSwept(ctx, p.ID, retention.Swept{Action: audit.RoomsDeleted, N: 2, Before: testTime(2)}))
	})
	want.Call, want.People, want.Unrecorded = caller.At, time.Time{}, true
	check(want)
	s.write(t, func(ctx context.Context) error {
		return s.db.AddErased(ctx, retention.Erasure{ProjectID: p.ID, Person: "a", Erased: retention.Erased{Seats: 1},
			At: testTime(130)})
	})
	want.Erasure = testTime(130)
	check(want)
}

// The counts of the erasures of two persons are apart from each other, and what the audit log shows is apart from the
// rest.
func (s *suite) testRetention_UnfinishedErasures(t *testing.T) {
	ctx, p := context.Background(), Project(t, s.db)
	first := retention.Erased{
		Rooms:       1,
		Seats:       2,
		Links:       3,
		Events:      4,
		Deliveries:  5,
		HostActions: 6,
		Knocks:      7,
	}
	add := func(person string, recorded bool, done retention.Erased, at int) {
		t.Helper()
		s.write(t, func(ctx context.Context) error {
			return s.db.AddErased(ctx, retention.Erasure{
				ProjectID: p.ID,
				Person:    person,
				Erased:    done,
				Recorded:  recorded,
				At:        testTime(at),
			})
		})
	}
	add("a", true, first, 1)
	add("a", false, retention.Erased{Seats: 1}, 2)
	add("a", false, retention.Erased{Seats: 2, Events: 3}, 3)
	add("b", false, retention.Erased{Rooms: 9}, 2)
	for before, want := range map[int][]string{2: nil, 3: {"b"}, 4: {"a", "b"}} {
		got, err := s.db.UnfinishedErasures(ctx, p.ID, testTime(before))
		requireEqual(t, got, err, want)
	}
	take := func(person string, wantRecorded, wantRest retention.Erased) {
		t.Helper()
		var recorded, rest retention.Erased
		s.write(t, func(ctx context.Context) (err error) {
			recorded, rest, err = s.db.TakeErased(ctx, p.ID, person)
			return err
		})
		requireEqual(t, recorded, nil, wantRecorded)
		requireEqual(t, rest, nil, wantRest)
	}
	take("a", first, retention.Erased{Seats: 3, Events: 3})
	take("a", retention.Erased{}, retention.Erased{})
	take("b", retention.Erased{}, retention.Erased{Rooms: 9})
}

// The sums of two actions are apart from each other and from the counts of a deletion.
func (s *suite) testRetention_UnrecordedSweeps(t *testing.T) {
	ctx, p := context.Background(), Project(t, s.db)
	s.write(t, func(ctx context.Context) error {
		return errors.Join(
			s.db.AddDeleted(ctx, p.ID, retention.Deleted{Rooms: 9}, testTime(9)),
			s.db.AddSwept(ctx, p.ID, retention.Swept{Action: audit.RoomsDeleted, N: 2, Before: testTime(2)}),
			s.db.AddSwept(ctx, p.ID, retention.Swept{Action: audit.PeopleErased, N: 3, Before: testTime(3)}),
			s.db.AddSwept(ctx, p.ID, retention.Swept{Action: audit.RoomsDeleted, N: 4, Before: testTime(1)}))
	})
	want := []retention.Swept{
		{Action: audit.PeopleErased, N: 3, Before: testTime(3)},
		{Action: audit.RoomsDeleted, N: 6, Before: testTime(2)},
	}
	sums, err := s.db.UnrecordedSweeps(ctx, p.ID)
	requireEqual(t, sums, err, want)
	s.write(t, func(ctx context.Context) error {
		sums, err = s.db.TakeUnrecordedSweeps(ctx, p.ID)
		return err
	})
	requireEqual(t, sums, nil, want)
	sums, err = s.db.UnrecordedSweeps(ctx, p.ID)
	requireEqual(t, sums, err, nil)
	deleted, err := s.db.Deleted(ctx, p.ID)
	requireEqual(t, deleted, err, retention.Deleted{Rooms: 9})
}
