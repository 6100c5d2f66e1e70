package room_test

import (
	"fmt"
	"testing"
	"time"

	"parley/internal/fault"
	"parley/internal/room"
)

// A plan limits the rooms, links and join events of a day. What was refused or repeated does not
// count, and the next day begins anew.
func TestQuotas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.plan = room.MaxEntitlements
	scheduled, err := f.Schedule(t.Context(), f.project, room.Spec{
		Type:            room.Audio,
		CreatorName:     "Ada",
		Title:           "T",
		MaxParticipants: 5,
		StartAt:         f.clock.Now().Add(72 * time.Hour),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := scheduled.ID
	f.plan.Quotas = room.Quotas{Rooms: 2, Links: 3, JoinEvents: 4}
	events := 0
	uses := map[string]struct {
		limit int
		use   func() error
	}{
		"rooms": {2, func() error {
			_, err := f.CreateQuick(t.Context(), f.project, room.Spec{Type: room.Audio, CreatorName: "Ada", Title: "T",
				MaxParticipants: 5}, nil)
			return err
		}},
		"links": {3, func() error {
			_, err := f.Invite(t.Context(), f.project, id, room.Invitation{Role: room.Guest})
			return err
		}},
		"join events": {4, func() error {
			events++
			return f.MarkAttendance(t.Context(), f.project, id, "Ada", []byte(fmt.Sprint(events)), false)
		}},
	}
	for day := range 2 {
		for subject, q := range uses {
			for n := range q.limit {
				if err := q.use(); err != nil {
					t.Fatalf("day %d, number %d of the %s: got error %v, want none", day, n+1, subject, err)
				}
			}
			for range 2 {
				err := q.use()
				assertError(t, err, fault.Exhausted, "quota_exceeded",
					fmt.Sprintf("the plan allows %d %s a day: the next day begins at 00:00 UTC", q.limit, subject))
				if wait := fault.From(err).RetryAfter; !f.clock.Now().Add(wait).Equal(nextDay(f.clock.Now())) {
					t.Errorf("%s at %s: got RetryAfter %s, want the time until the next day", subject, f.clock.Now(), wait)
				}
			}
		}
		f.clock.advance(nextDay(f.clock.Now()).Sub(f.clock.Now()))
	}
	if err := f.MarkAttendance(t.Context(), f.project, id, "Ada", []byte(fmt.Sprint(events+1)), false); err != nil {
		t.Errorf("a join event of the next day: got error %v, want none", err)
	}
	for range 9 { // the same event again
		if err := f.MarkAttendance(t.Context(), f.project, id, "Ada", []byte(fmt.Sprint(events+1)), false); err != nil {
			t.Errorf("a repeated join event: got error %v, want none", err)
		}
	}
}

func nextDay(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }
