package room

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/internal/fault"
	"parley/internal/validate"
)

// This file contains the search for rooms by operators and integrators. No index finds
// a part of a title or of a name, so a search reads rooms and compares them. It reads a
// bounded number for each page, so that its cost does not grow with the history.

const (
	// maxScannedRooms and maxScannedSeats limit the rooms and the seats that a search reads
	// for one page. It reads validate.MaxPage rooms at a time and compares the limits afterwards,
	// so it may exceed them by these rooms and their seats.
	maxScannedRooms = 1000
	maxScannedSeats = 2000

	// idTolerance is how much earlier than its ID a room may say that it was created.
	idTolerance = time.Minute
)

// SearchQuery selects rooms for a page of a list. Empty fields do not filter.
type SearchQuery struct {
	ListQuery
	Title  string    // part of the title, in upper or lower case
	Person string    // part of the name of a participant, in upper or lower case, or a user ID
	From   time.Time // the room was open or active at some time from From
	To     time.Time // until To
}

// SearchPage is a page of rooms, the newest first.
type SearchPage struct {
	Rooms []Summary
	// Next is the value of Before for the next page; empty if there is none. A page that is
	// not full may have a next one.
	Next string
}

// SeatName is the name of somebody who has or had a seat in a room.
type SeatName struct{ RoomID, Name, UserID string }

// Search returns a page of rooms. Errors: Invalid.
func (s *Bookings) Search(ctx context.Context, q SearchQuery) (SearchPage, error) {
	if err := q.validate(); err != nil {
		return SearchPage{}, err
	}
	if !q.scans() {
		rooms, more, err := s.List(ctx, q.ListQuery)
		return newSearchPage(rooms, more), err
	}
	list := q.ListQuery
	list.CreatedUntil, list.Limit = q.To, validate.MaxPage
	if list.Before == "" && list.ProjectID == "" && !q.To.IsZero() {
		list.Before = lastIDOf(q.To.Add(idTolerance))
	}
	var found []Summary
	scannedRooms, scannedSeats := 0, 0
	for {
		rooms, more, err := s.List(ctx, list)
		if err != nil {
			return SearchPage{}, err
		}
		matching, seats, err := s.matching(ctx, q, rooms)
		if err != nil {
			return SearchPage{}, err
		}
		if found = append(found, matching...); len(found) > q.Limit {
			return newSearchPage(found[:q.Limit], true), nil
		}
		if !more {
			return newSearchPage(found, false), nil
		}
		list.Before = rooms[len(rooms)-1].ID
		scannedRooms, scannedSeats = scannedRooms+len(rooms), scannedSeats+seats
		if scannedRooms >= maxScannedRooms || scannedSeats >= maxScannedSeats {
			return SearchPage{Rooms: found, Next: list.Before}, nil
		}
	}
}

func newSearchPage(rooms []Summary, more bool) SearchPage {
	page := SearchPage{Rooms: rooms}
	if more {
		page.Next = rooms[len(rooms)-1].ID
	}
	return page
}

func (q SearchQuery) validate() error {
	if err := q.ListQuery.validate(); err != nil {
		return err
	}
	for _, field := range []struct{ name, text string }{
		{"client_room_id", q.ClientRoomID}, {"title", q.Title}, {"person", q.Person},
	} {
		if err := validate.Text(field.name, field.text, 0, validate.MaxText, false); err != nil {
			return err
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		return fault.Invalidf("to must not be before from")
	}
	return nil
}

// scans reports whether the store cannot apply all filters.
func (q SearchQuery) scans() bool {
	return q.Title != "" || q.Person != "" || !q.From.IsZero() || !q.To.IsZero()
}

// matching returns the rooms that match the filters, and how many seats it has read.
func (s *Bookings) matching(ctx context.Context, q SearchQuery, rooms []Summary) ([]Summary, int, error) {
	rooms = slices.DeleteFunc(slices.Clone(rooms), func(r Summary) bool {
		return !containsFold(r.Title, q.Title) || !r.inProgress(q.From, q.To)
	})
	if q.Person == "" || len(rooms) == 0 {
		return rooms, 0, nil
	}
	ids := make([]string, len(rooms))
	for i, r := range rooms {
		ids[i] = r.ID
	}
	people, err := s.store.PeopleOfRooms(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	attended := map[string]bool{}
	for _, p := range people {
		if p.UserID == q.Person || containsFold(p.Name, q.Person) {
			attended[p.RoomID] = true
		}
	}
	return slices.DeleteFunc(rooms, func(r Summary) bool { return !attended[r.ID] }), len(people), nil
}

// inProgress reports whether the room was open or active at some time in the span. Zero
// times do not bound it.
func (r Summary) inProgress(from, to time.Time) bool {
	switch {
	case from.IsZero() && to.IsZero():
		return true
	case r.OpenedAt.IsZero() || !to.IsZero() && r.OpenedAt.After(to):
		return false
	}
	return r.EndedAt.IsZero() || r.EndedAt.After(from)
}

// containsFold reports whether text contains part, in upper or lower case.
func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// lastIDOf returns the largest ID that a room can get until a time, because IDs begin with
// the milliseconds of their creation.
func lastIDOf(at time.Time) string {
	millis := max(0, at.UnixMilli())
	return fmt.Sprintf("%08x-%04x-7fff-bfff-ffffffffffff", millis>>16&0xffffffff, millis&0xffff)
}
