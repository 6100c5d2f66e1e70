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
	h := newFixture(t)
	h.plan = room.MaxEntitlements
	scheduled, err := h.Schedule(t.Context(), h.project, room.Spec{
		Type:            room.Audio,
		CreatorName:     "Ada",
		Title:           "T",
		MaxParticipants: 5,
		StartAt:         h.clock.Now().Add(72 * time.Hour),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := scheduled.ID
	h.plan.Quotas = room.Quotas{Rooms: 2, Links: 3, JoinEvents: 4}
	events := 0
	uses := map[string]struct {
		limit int
		use   func() error
	}{
		"rooms": {2, func() error {
			_, err := h.CreateQuick(t.Context(), h.project, room.Spec{Type: room.Audio, CreatorName: "Ada", Title: "T",
				MaxParticipants: 5}, nil)
			return err
		}},
		"links": {3, func() error {
			_, err := h.Invite(t.Context(), h.project, id, room.Invitation{Role: room.Guest})
			return err
		}},
		"join events": {4, func() error {
			events++
			return h.MarkAttendance(t.Context(), h.project, id, "Ada", []byte(fmt.Sprint(events)), false)
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
				if wait := fault.From(err).RetryAfter; !h.clock.Now().Add(wait).Equal(nextDay(h.clock.Now())) {
					t.Errorf("%s at %s: got RetryAfter %s, want the time until the next day", subject, h.clock.Now(), wait)
				}
			}
		}
		h.clock.advance(nextDay(h.clock.Now()).Sub(h.clock.Now()))
	}
	if err := h.MarkAttendance(t.Context(), h.project, id, "Ada", []byte(fmt.Sprint(events+1)), false); err != nil {
		t.Errorf("a join event of the next day: got error %v, want none", err)
	}
	for range 9 { // the same event again
		if err := h.MarkAttendance(t.Context(), h.project, id, "Ada", []byte(fmt.Sprint(events+1)), false); err != nil {
			t.Errorf("a repeated join event: got error %v, want none", err)
		}
	}
}

func nextDay(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }
