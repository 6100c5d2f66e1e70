package room

import (
	"context"
	"time"
)

// CalendarEntry is what a calendar shows of a room.
type CalendarEntry struct {
	RoomID    string
	Title     string
	URL       string // of the room, for guests
	Start     time.Time
	End       time.Time
	ChangedAt time.Time // when the room was created, changed or canceled last
	Cancelled bool
}

// plannedDuration is the duration that a calendar shows, as in the file that the page of the room makes.
// Rooms have no planned end, and many calendars hide an entry without a duration.
const plannedDuration = time.Hour

// Calendar returns the entry of a room for calendars. It returns NotFound if the room does not
// exist, or if not every visitor with the address of the room may read its title.
func (s *Joining) Calendar(ctx context.Context, roomID string) (CalendarEntry, error) {
	r, p, err := s.roomWithProject(ctx, roomID)
	if err != nil {
		return CalendarEntry{}, err
	}
	if r.publicTitle(p) == "" {
		return CalendarEntry{}, ErrNotFound
	}
	out := CalendarEntry{
		RoomID:    r.ID,
		Title:     r.Title,
		URL:       s.publicURL() + "/r/" + r.ID,
		Start:     r.plannedStart(),
		ChangedAt: r.OpenedAt,
		Cancelled: r.State == Cancelled,
	}
	out.End = out.Start.Add(plannedDuration)
	switch r.State {
	case Scheduled:
		out.ChangedAt, err = s.store.LastEventTime(ctx, r.ID)
	case Cancelled, Expired:
		out.ChangedAt = r.EndedAt
	}
	return out, err
}

// plannedStart returns when a scheduled room starts, and when a quick room was opened.
func (r *Room) plannedStart() time.Time {
	if r.StartAt.IsZero() {
		return r.CreatedAt
	}
	return r.StartAt
}
