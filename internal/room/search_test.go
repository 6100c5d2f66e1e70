package room_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
	"parley/internal/store/storetest"
)

func TestSearch_Filters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	start := f.clock.Now()
	names := map[string]string{}
	create := func(name string, q room.Spec) string {
		t.Helper()
		q.MaxParticipants = 5
		id, _ := f.create(t, q)
		names[id] = name
		return id
	}
	morning := create("morning", room.Spec{ClientRoomID: "lesson-7"})
	ada := guest(1)
	ada.Name = "Ada Lovelace"
	f.enter(t, morning, ada, "PA_1")
	f.clock.advance(time.Hour)
	if _, err := f.End(t.Context(), morning, room.EndedAPI); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Hour)
	noon := create("noon", room.Spec{})
	member := guest(2)
	member.LinkToken = f.invite(t, noon, room.Invitation{Role: room.Guest, UserID: "user-7", Name: "Ben"})
	f.enter(t, noon, member, "PA_2")
	create("later", room.Spec{StartAt: f.clock.Now().Add(24 * time.Hour)})
	other := storetest.Project(t, f.db)

	hour := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
	for name, c := range map[string]struct {
		q    room.SearchQuery
		want []string
	}{
		"nothing":             {room.SearchQuery{}, []string{"later", "noon", "morning"}},
		"title":               {room.SearchQuery{Title: "iTL"}, []string{"later", "noon", "morning"}},
		"another title":       {room.SearchQuery{Title: "Titles"}, nil},
		"ID":                  {room.SearchQuery{ListQuery: room.ListQuery{ID: noon}}, []string{"noon"}},
		"ID and title":        {room.SearchQuery{ListQuery: room.ListQuery{ID: noon}, Title: "title"}, []string{"noon"}},
		"client_room_id":      {room.SearchQuery{ListQuery: room.ListQuery{ClientRoomID: "lesson-7"}}, []string{"morning"}},
		"part of that":        {room.SearchQuery{ListQuery: room.ListQuery{ClientRoomID: "lesson"}}, nil},
		"name":                {room.SearchQuery{Person: "LOVE"}, []string{"morning"}},
		"user ID":             {room.SearchQuery{Person: "user-7"}, []string{"noon"}},
		"part of the user ID": {room.SearchQuery{Person: "user"}, nil},
		"person and state":    {room.SearchQuery{Person: "love", ListQuery: room.ListQuery{State: room.Active}}, nil},
		"person and client_room_id": {room.SearchQuery{Person: "love",
			ListQuery: room.ListQuery{ClientRoomID: "lesson-7"}}, []string{"morning"}},
		"at the start":     {room.SearchQuery{From: hour(0), To: hour(0)}, []string{"morning"}},
		"at the end":       {room.SearchQuery{From: hour(1), To: hour(1)}, nil},
		"between":          {room.SearchQuery{From: hour(0), To: hour(2)}, []string{"noon", "morning"}},
		"from":             {room.SearchQuery{From: hour(1)}, []string{"noon"}},
		"to":               {room.SearchQuery{To: hour(1)}, []string{"morning"}},
		"time and person":  {room.SearchQuery{From: hour(2), Person: "ada"}, nil},
		"another project":  {room.SearchQuery{Person: "user-7", ListQuery: room.ListQuery{ProjectID: other.ID}}, nil},
		"its client ID":    {room.SearchQuery{ListQuery: room.ListQuery{ProjectID: other.ID, ClientRoomID: "lesson-7"}}, nil},
		"its room by ID":   {room.SearchQuery{ListQuery: room.ListQuery{ProjectID: other.ID, ID: noon}}, nil},
		"cursor of a room": {room.SearchQuery{Title: "t", ListQuery: room.ListQuery{ProjectID: other.ID, Before: noon}}, nil},
	} {
		if c.q.ProjectID == "" && c.q.ID == "" {
			c.q.ProjectID = f.project.ID
		}
		c.q.Limit = 10
		page, err := f.Search(t.Context(), c.q)
		var got []string
		for _, r := range page.Rooms {
			got = append(got, names[r.ID])
		}
		if err != nil || !slices.Equal(got, c.want) || page.Next != "" {
			t.Errorf("%s: got %q with the cursor %q, %v, want %q without a cursor", name, got, page.Next, err, c.want)
		}
	}
	for message, q := range map[string]room.SearchQuery{
		"to must not be before from":                               {From: hour(1), To: hour(0)},
		"title must not contain control characters such as U+0000": {Title: "a\x00"},
		"person must have at most 255 characters, not 300":         {Person: fmt.Sprintf("%300s", "a")},
		"client_room_id must be UTF-8":                             {ListQuery: room.ListQuery{ClientRoomID: "\xff"}},
		`state must be scheduled, open, active, ended, cancelled or expired, not "over"`: {
			ListQuery: room.ListQuery{State: "over"}},
	} {
		q.Limit = 10
		_, err := f.Search(t.Context(), q)
		assertError(t, err, fault.Invalid, "invalid_request", message)
	}
}

// A page reads a bounded number of rooms, and the cursor continues after them.
func TestSearch_PagesOfManyRooms(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	end := time.Now()
	storetest.Fill(t, f.db, f.project.ID, 1100, end.Add(-24*time.Hour), end, 1)
	for _, projectID := range []string{f.project.ID, ""} {
		q := room.SearchQuery{Title: "weekly", ListQuery: room.ListQuery{ProjectID: projectID, Limit: 100}}
		seen := map[string]bool{}
		for pages := 1; ; pages++ {
			page, err := f.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Rooms {
				seen[r.ID] = true
			}
			if q.Before = page.Next; q.Before == "" {
				break
			}
			if pages > 11 {
				t.Fatalf("got page %d, want at most 12", pages+1)
			}
		}
		if len(seen) != 1100 {
			t.Errorf("project %q: got %d rooms, want 1100", projectID, len(seen))
		}

		q = room.SearchQuery{Title: "nowhere", ListQuery: room.ListQuery{ProjectID: projectID, Limit: 100}}
		page, err := f.Search(t.Context(), q)
		if err != nil || len(page.Rooms) != 0 || page.Next == "" {
			t.Errorf("a title of no room: got %+v, %v, want no rooms and a cursor", page, err)
		}
		q.Before = page.Next
		if page, err = f.Search(t.Context(), q); err != nil || len(page.Rooms) != 0 || page.Next != "" {
			t.Errorf("its second page: got %+v, %v, want no rooms and no cursor", page, err)
		}

		// The seats of these rooms are about 4400, of which a page reads about 2000.
		q = room.SearchQuery{Person: "nobody", ListQuery: room.ListQuery{ProjectID: projectID, Limit: 100}}
		for pages := 1; ; pages++ {
			if page, err = f.Search(t.Context(), q); err != nil || len(page.Rooms) != 0 {
				t.Fatalf("a person in no room: got %+v, %v, want no rooms", page, err)
			}
			if q.Before = page.Next; q.Before == "" {
				if pages != 3 {
					t.Errorf("a person in no room: got %d pages, want 3", pages)
				}
				break
			}
		}

		at := end.Add(-12 * time.Hour)
		q = room.SearchQuery{From: at, To: at, ListQuery: room.ListQuery{ProjectID: projectID, Limit: 100}}
		if page, err = f.Search(t.Context(), q); err != nil || len(page.Rooms) == 0 || len(page.Rooms) > 99 {
			t.Errorf("rooms of 12 hours ago: got %d, %v, want those of an hour", len(page.Rooms), err)
		}
	}
}
