package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
)

func (s *suite) testProjects_List(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	first, second := Project(t, db), Project(t, db)
	organizations, err := db.Organizations(ctx, "", 0)
	if err != nil || len(organizations) != 2 || organizations[0].ID != first.OrganizationID {
		t.Fatalf("got %+v, %v, want 2 organizations, %s first", organizations, err, first.OrganizationID)
	}
	o := organizations[1]
	o.Name, o.Plan = "O'Brien", "gold"
	if err := db.Write(ctx, func(ctx context.Context) error { return db.UpdateOrganization(ctx, o) }); err != nil {
		t.Fatal(err)
	}
	organizations, err = db.Organizations(ctx, "", 0)
	requireEqual(t, organizations[1], err, o)

	first.Settings = project.Settings{DefaultEmptyTimeout: 7}
	first.SuspendedAt = testTime(3)
	if err := db.Write(ctx, func(ctx context.Context) error { return db.UpdateProject(ctx, first) }); err != nil {
		t.Fatal(err)
	}
	want, err := db.Project(ctx, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	for organization, number := range map[string]int{"": 2, first.OrganizationID: 1, "none": 0} {
		projects, err := db.Projects(ctx, project.ListQuery{OrganizationID: organization})
		if err != nil || len(projects) != number {
			t.Fatalf("Projects(%q): got %+v, %v, want %d", organization, projects, err, number)
		}
		ids, err := db.ProjectIDs(ctx, organization)
		if organization != "" && (err != nil || len(ids) != number || number > 0 && ids[0] != projects[0].ID) {
			t.Fatalf("ProjectIDs(%q): got %v, %v, want the ids of %+v", organization, ids, err, projects)
		}
		if tests, err := db.TestProjectIDs(ctx, organization); err != nil || len(tests) != 0 {
			t.Fatalf("TestProjectIDs(%q): got %v, %v, want none", organization, tests, err)
		}
		if number > 0 {
			requireEqual(t, projects[0], nil, want)
		}
	}
	if all, err := db.Projects(ctx, project.ListQuery{}); err != nil || all[1].ID != second.ID {
		t.Errorf("got %+v, %v, want %s second", all, err, second.ID)
	}

	third := first
	third.ID = NewID()
	if err := db.Write(ctx, func(ctx context.Context) error { return db.InsertProject(ctx, third) }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    project.ListQuery
		want []string
	}{
		{project.ListQuery{Limit: 2}, []string{first.ID, second.ID}},
		{project.ListQuery{After: second.ID, Limit: 2}, []string{third.ID}},
		{project.ListQuery{After: third.ID}, nil},
		{project.ListQuery{OrganizationID: first.OrganizationID, Limit: 1}, []string{first.ID}},
		{project.ListQuery{OrganizationID: first.OrganizationID, After: first.ID, Limit: 1}, []string{third.ID}},
		{project.ListQuery{OrganizationID: first.OrganizationID, After: second.ID}, []string{third.ID}},
		{project.ListQuery{OrganizationID: second.OrganizationID, After: second.ID, Limit: 5}, nil},
	} {
		page, err := db.Projects(ctx, c.q)
		var ids []string
		for _, p := range page {
			ids = append(ids, p.ID)
		}
		requireEqual(t, ids, err, c.want)
		var names []string
		found, err := db.ProjectNames(ctx, c.q)
		for i, n := range found {
			names = append(names, n.ID)
			if n.Name != page[i].Name {
				t.Errorf("ProjectNames: got the name %q, want %q", n.Name, page[i].Name)
			}
		}
		requireEqual(t, names, err, c.want)
	}
	for _, c := range []struct{ ids, want []string }{
		{[]string{third.ID, NewID(), first.ID}, []string{first.ID, third.ID}},
		{nil, nil},
	} {
		var ids []string
		found, err := db.ProjectsByID(ctx, c.ids)
		for _, p := range found {
			ids = append(ids, p.ID)
		}
		requireEqual(t, ids, err, c.want)
	}
	both := []string{organizations[1].ID, organizations[0].ID, NewID()}
	if found, err := db.OrganizationsByID(ctx, both); err != nil || !slices.Equal(found, organizations) {
		t.Errorf("OrganizationsByID: got %+v, %v, want %+v", found, err, organizations)
	}
	for after, want := range map[string]string{"": organizations[0].ID, organizations[0].ID: organizations[1].ID} {
		page, err := db.Organizations(ctx, after, 1)
		if err != nil || len(page) != 1 || page[0].ID != want {
			t.Errorf("Organizations(%q, 1): got %+v, %v, want %s", after, page, err, want)
		}
		names, err := db.OrganizationNames(ctx, after, 1)
		if err != nil || len(names) != 1 || names[0] != (project.Name{ID: page[0].ID, Name: page[0].Name}) {
			t.Errorf("OrganizationNames(%q, 1): got %+v, %v, want those of %+v", after, names, err, page)
		}
	}
}

func (s *suite) testTokens(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	if none, err := db.Tokens(ctx); err != nil || len(none) != 0 {
		t.Fatalf("got %+v, %v, want no tokens", none, err)
	}
	tokens := []operator.Token{
		{ID: NewID(), Name: "a", Hash: "1", Role: operator.Owner, CreatedAt: testTime(0)},
		{ID: NewID(), Name: "b", Hash: "2", Role: operator.Integrator, ProjectIDs: operator.ProjectIDs{NewID(), NewID()},
			CreatedAt: testTime(1), ExpiresAt: testTime(9)},
	}
	err := db.Write(ctx, func(ctx context.Context) error {
		for _, token := range tokens {
			if err := db.InsertToken(ctx, token); err != nil {
				return err
			}
		}
		if err := db.RecordTokenUse(ctx, tokens[1].ID, testTime(1)); err != nil {
			return err
		}
		return db.RevokeToken(ctx, tokens[1].ID, testTime(2))
	})
	tokens[1].LastUsedAt, tokens[1].RevokedAt = testTime(1), testTime(2)
	all, listErr := db.Tokens(ctx)
	requireEqual(t, all, listErr, tokens)
	one, oneErr := db.Token(ctx, tokens[1].ID)
	requireEqual(t, one, oneErr, tokens[1])
	if err != nil {
		t.Error(err)
	}
	_, err = db.Token(ctx, NewID())
	requireFault(t, err, fault.NotFound, "token_not_found")
	err = db.Write(ctx, func(ctx context.Context) error { return db.RevokeToken(ctx, NewID(), testTime(2)) })
	requireFault(t, err, fault.NotFound, "token_not_found")
}

// A room that is deleted between two pages does not end the list.
func (s *suite) testRooms_ListDeletedCursor(t *testing.T) {
	ctx := patient()
	p := Project(t, s.db)
	var ids []string // oldest first
	for i := range 6 {
		r := Room(p.ID)
		r.CreatedAt, _ = room.IDTime(r.ID)
		if i%2 == 0 {
			r.State, r.DueAt, r.EndedAt = room.Ended, time.Time{}, testTime(9)
		}
		ids = append(ids, s.insertRoom(t, r).ID)
	}
	deleted := ids[2:4]
	for _, id := range deleted {
		s.write(t, func(ctx context.Context) error {
			_, _, err := s.db.DeleteRoom(ctx, id, 10)
			return err
		})
	}
	for _, cursor := range deleted {
		for state, want := range map[room.State][]string{
			"":         {ids[1], ids[0]},
			room.Open:  {ids[1]},
			room.Ended: {ids[0]},
		} {
			rooms, err := s.db.List(ctx, room.ListQuery{ProjectID: p.ID, State: state, Before: cursor, Limit: 10})
			var found []string
			for _, r := range rooms {
				found = append(found, r.ID)
			}
			requireEqual(t, found, err, want)
		}
	}
	none, err := s.db.List(ctx, room.ListQuery{ProjectID: p.ID, Before: "01020304-0506-4708-8900-010203040506", Limit: 10})
	if err != nil || len(none) != 0 {
		t.Errorf("rooms before an ID without a time: got %v, %v, want none", none, err)
	}
}

func (s *suite) testRooms_List(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p, other := Project(t, db), Project(t, db)
	var ids []string // newest first
	err := db.Write(ctx, func(ctx context.Context) error {
		for i, state := range []room.State{
			room.Scheduled, room.Open, room.Active, room.Ended, room.Cancelled, room.Expired,
		} {
			r := Room(p.ID)
			r.State, r.Title = state, trickyTexts[i]
			if r.Over() {
				r.DueAt, r.EndedAt = time.Time{}, testTime(9)
			}
			if state == room.Ended {
				r.EndReason, r.ClientRoomID = room.EndedAPI, "mine"
			}
			if err := insertFullRoom(ctx, db, r); err != nil {
				return err
			}
			ids = append([]string{r.ID}, ids...)
		}
		return db.InsertRoom(ctx, Room(other.ID))
	})
	if err != nil {
		t.Fatal(err)
	}
	list := func(q room.ListQuery) []string {
		t.Helper()
		rooms, err := db.List(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		found := []string{}
		for _, r := range rooms {
			found = append(found, r.ID)
		}
		return found
	}
	requireEqual(t, list(room.ListQuery{ProjectID: p.ID, Limit: 10}), nil, ids)
	requireEqual(t, list(room.ListQuery{ProjectID: p.ID, Limit: 2}), nil, ids[:2])
	requireEqual(t, list(room.ListQuery{ProjectID: p.ID, Limit: 10, Before: ids[1]}), nil, ids[2:])
	for i, state := range []room.State{
		room.Expired, room.Cancelled, room.Ended, room.Active, room.Open, room.Scheduled,
	} {
		requireEqual(t, list(room.ListQuery{ProjectID: p.ID, State: state, Limit: 10}), nil, ids[i:i+1])
	}
	if open := list(room.ListQuery{State: room.Open, Limit: 10}); len(open) != 2 {
		t.Errorf("open rooms in all projects: got %v, want 2", open)
	}
	for i, state := range []room.State{room.Expired, room.Cancelled, room.Ended} {
		requireEqual(t, list(room.ListQuery{State: state, Limit: 10}), nil, ids[i:i+1])
		requireEqual(t, list(room.ListQuery{State: state, Before: ids[i], Limit: 10}), nil, []string{})
		requireEqual(t, list(room.ListQuery{ProjectID: p.ID, State: state, Before: ids[i], Limit: 10}), nil, []string{})
	}
	if all := list(room.ListQuery{Limit: 10}); !slices.Equal(all[1:], ids) {
		t.Errorf("rooms in all projects: got %v, want %v after that of the other project", all, ids)
	}
	requireEqual(t, list(room.ListQuery{Before: ids[0], Limit: 10}), nil, ids[1:])
	requireEqual(t, list(room.ListQuery{ProjectID: p.ID, State: room.Open, Before: ids[3], Limit: 10}), nil, ids[4:5])
	if none := list(room.ListQuery{ID: NewID(), Limit: 1}); len(none) != 0 {
		t.Errorf("rooms with an unknown id: got %v, want none", none)
	}
	taken, reserved := newSeat(ids[3], room.Joined, 0), newSeat(ids[3], room.Reserved, 1)
	if err := db.Write(ctx, func(ctx context.Context) error {
		if err := db.InsertSeat(ctx, taken); err != nil {
			return err
		}
		return db.InsertSeat(ctx, reserved)
	}); err != nil {
		t.Fatal(err)
	}
	active, err := db.List(ctx, room.ListQuery{ID: ids[3], Limit: 1})
	requireEqual(t, active, err, []room.Summary{{
		ID: ids[3], ProjectID: p.ID, Type: room.Video, State: room.Active, Title: trickyTexts[2],
		Participants: 1, MaxParticipants: 10, CreatedAt: testTime(0), OpenedAt: testTime(0),
	}})
	ended, err := db.List(ctx, room.ListQuery{ID: ids[2], Limit: 1})
	requireEqual(t, ended, err, []room.Summary{{
		ID: ids[2], ProjectID: p.ID, ClientRoomID: "mine", Type: room.Video, State: room.Ended,
		EndReason: room.EndedAPI, Title: trickyTexts[3], MaxParticipants: 10,
		CreatedAt: testTime(0), OpenedAt: testTime(0), EndedAt: testTime(9),
	}})
}

func (s *suite) testRooms_ListClientRoomID(t *testing.T) {
	ctx := patient()
	db := s.open(t)
	p, other := Project(t, db), Project(t, db)
	insert := func(projectID string, created int) *room.Room {
		t.Helper()
		r := Room(projectID)
		r.ClientRoomID, r.CreatedAt = "lesson-7", testTime(created)
		err := db.Write(ctx, func(ctx context.Context) error { return db.InsertRoom(ctx, r) })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := insert(p.ID, 1), insert(other.ID, 2)
	for _, c := range []struct {
		q    room.ListQuery
		want []string
	}{
		{room.ListQuery{}, []string{second.ID, first.ID}},
		{room.ListQuery{Before: second.ID}, []string{first.ID}},
		{room.ListQuery{ProjectID: p.ID}, []string{first.ID}},
		{room.ListQuery{ProjectID: p.ID, Before: first.ID}, nil},
		{room.ListQuery{ProjectID: p.ID, ID: second.ID}, nil},
		{room.ListQuery{State: room.Open, ID: second.ID}, []string{second.ID}},
		{room.ListQuery{State: room.Ended}, nil},
	} {
		c.q.ClientRoomID, c.q.Limit = "lesson-7", 10
		rooms, err := db.List(ctx, c.q)
		var got []string
		for _, r := range rooms {
			got = append(got, r.ID)
		}
		requireEqual(t, got, err, c.want)
	}
	for until, want := range map[int]int{0: 0, 1: 1} {
		rooms, err := db.List(ctx, room.ListQuery{ProjectID: p.ID, CreatedUntil: testTime(until), Limit: 10})
		requireEqual(t, len(rooms), err, want)
	}
}

func (s *suite) testPeopleOfRooms(t *testing.T) {
	ctx := patient()
	first, second := s.insertRoom(t, Room(s.project.ID)), s.insertRoom(t, Room(s.project.ID))
	left, present := newSeat(first.ID, room.Free, 1), newSeat(second.ID, room.Joined, 2)
	left.Name, left.UserID = trickyTexts[1], "user-7"
	s.insertSeats(t, left, present, newSeat(s.insertRoom(t, Room(s.project.ID)).ID, room.Joined, 3))
	people, err := s.db.PeopleOfRooms(ctx, []string{first.ID, second.ID, NewID()})
	slices.SortFunc(people, func(a, b room.SeatName) int { return strings.Compare(a.RoomID, b.RoomID) })
	requireEqual(t, people, err, []room.SeatName{{RoomID: first.ID, Name: left.Name, UserID: "user-7"},
		{RoomID: second.ID, Name: "Ada"}})
}

func (s *suite) testUpdateOrganization(t *testing.T) {
	ctx := patient()
	o := project.Organization{ID: NewID(), Name: "Org", Billing: project.Payg, CreatedAt: testTime(1)}
	s.write(t, func(ctx context.Context) error { return s.db.InsertOrganization(ctx, o) })
	for _, text := range trickyTexts {
		o.Name, o.Plan, o.Currency, o.UnitPrice, o.SuspendedAt = text, text, text, text, testTime(len(text))
		update := o
		update.Billing, update.CreatedAt = project.Plan, testTime(9) // never change
		s.write(t, func(ctx context.Context) error { return s.db.UpdateOrganization(ctx, update) })
		got, err := s.db.Organization(ctx, o.ID)
		requireEqual(t, got, err, o)
	}
	o.ID = NewID()
	err := s.db.Write(ctx, func(ctx context.Context) error { return s.db.UpdateOrganization(ctx, o) })
	requireFault(t, err, fault.NotFound, "organization_not_found")
}

// Only one transaction at a time holds the lock of a project or organization.
func (s *suite) testLockProjectAndOrganization(t *testing.T) {
	ctx := patient()
	p := s.insertBareProject(t)
	const writers = 50
	done := make(chan error, 2*writers)
	for range writers {
		go func() {
			done <- s.db.Write(ctx, func(ctx context.Context) error {
				if err := s.db.LockProject(ctx, p); err != nil {
					return err
				}
				got, err := s.db.Project(ctx, p)
				if err != nil {
					return err
				}
				got.Settings.DefaultEmptyTimeout++
				return s.db.UpdateProject(ctx, got)
			})
		}()
		go func() {
			done <- s.db.Write(ctx, func(ctx context.Context) error {
				if err := s.db.LockOrganization(ctx, s.project.OrganizationID); err != nil {
					return err
				}
				o, err := s.db.Organization(ctx, s.project.OrganizationID)
				if err != nil {
					return err
				}
				o.Name += "+"
				return s.db.UpdateOrganization(ctx, o)
			})
		}()
	}
	for range 2 * writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	got, err := s.db.Project(ctx, p)
	requireEqual(t, got.Settings.DefaultEmptyTimeout, err, writers)
	o, err := s.db.Organization(ctx, s.project.OrganizationID)
	requireEqual(t, len(o.Name), err, len("Example")+writers)

	err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.LockProject(ctx, NewID()) })
	requireFault(t, err, fault.NotFound, "project_not_found")
	err = s.db.Write(ctx, func(ctx context.Context) error { return s.db.LockOrganization(ctx, NewID()) })
	requireFault(t, err, fault.NotFound, "organization_not_found")
	if s.db.LockProject(ctx, p) == nil || s.db.LockOrganization(ctx, s.project.OrganizationID) == nil {
		t.Error("a lock outside a transaction: got no error, want one")
	}
}
