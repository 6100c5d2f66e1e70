package retention_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"parley/internal/retention"
	"parley/internal/store"
	"parley/internal/usage"
)

// A rebuild of the usage, at any moment of the deletion of a room, does not take the deleted part for a correction.
func TestDeleteRoom_UsageRebuiltMeanwhile(t *testing.T) {
	onEachEngine(t, defaults, func(t *testing.T, f *fixture) {
		m := f.meeting(f.project.ID, f.now.Add(-3*day), guest{"Amina", ""}, guest{"Bo", ""})
		if err := f.usage.RollUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := f.totals()
		for rows := 1; rows > 0; {
			f.write(func(ctx context.Context) (err error) {
				_, rows, err = f.db.DeleteRoom(ctx, m.ID, 1)
				return err
			})
			done, err := f.usage.Rebuild(t.Context(), f.project.OrganizationID, f.now.Add(-5*day), f.now)
			if err != nil || len(done.Changes) > 0 {
				t.Fatalf("rebuild during the deletion: got the changes %+v, %v, want none", done.Changes, err)
			}
		}
		if after := f.totals(); after != before || after.VideoMillis == 0 {
			t.Errorf("usage after the deletion: got %+v, want %+v", after, before)
		}
	})
}

// interruptedLedger runs something after the comparison of the usage, before and after it records which hours are
// wrong.
type interruptedLedger struct {
	*store.DB
	before, after func()
}

func (l interruptedLedger) MarkUsageLate(
	ctx context.Context, r usage.Rebuilt, now time.Time, choose usage.HourChoice,
) error {
	l.before()
	defer l.after()
	return l.DB.MarkUsageLate(ctx, r, now, choose)
}

// settledStore runs something after a read of the time until which the usage is settled.
type settledStore struct {
	*store.DB
	meanwhile func()
}

func (s settledStore) UsageSettledUntil(ctx context.Context, organizationID string) (time.Time, error) {
	settled, err := s.DB.UsageSettledUntil(ctx, organizationID)
	s.meanwhile()
	return settled, err
}

// wrongMeeting stores an old meeting whose usage is wrong, and returns that usage and the right one.
func (f *fixture) wrongMeeting() (wrong, right usage.Totals) {
	f.t.Helper()
	f.meeting(f.project.ID, f.now.Add(-30*day), guest{"Amina", ""}, guest{"Bo", ""})
	if err := f.usage.RollUp(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	right = f.totals()
	for _, table := range []string{"usage_hours", "usage_days"} {
		if _, err := f.Raw(f.t).Exec(`UPDATE ` + table + ` SET video_millis = video_millis + 60000`); err != nil {
			f.t.Fatal(err)
		}
	}
	if wrong = f.totals(); wrong == right {
		f.t.Fatalf("usage after it was changed: got %+v, want another one", wrong)
	}
	return wrong, right
}

// If a room is deleted after a rebuild has compared its hours, they stay as they are.
func TestRebuild_RoomDeletedMeanwhile(t *testing.T) {
	onEachEngine(t, retention.Periods{Rooms: 20 * day}, func(t *testing.T, f *fixture) {
		wrong, _ := f.wrongMeeting()
		ledger := interruptedLedger{f.db, func() { f.sweep() }, func() {}}
		service := usage.NewService(ledger, usage.NoProvider{}, func() time.Time { return f.now })
		got, err := service.Rebuild(t.Context(), f.project.OrganizationID, f.now.Add(-32*day), f.now.Add(-29*day))
		if err != nil || len(got.Changes) > 0 || got.KeptUntil.IsZero() {
			t.Errorf("rebuild: got %+v, %v, want no change and the end of the hours that stay", got, err)
		}
		if hasRooms, err := f.db.HasRooms(t.Context(), f.project.ID); err != nil || hasRooms {
			t.Errorf("rooms after the sweep: got %t, %v, want none", hasRooms, err)
		}
		if after := f.totals(); after != wrong {
			t.Errorf("usage: got %+v, want %+v as before", after, wrong)
		}
	})
}

// A sweep that has read until when the usage is settled deletes no room whose hours a rebuild has marked since then.
func TestDeleteRoom_UsageMarkedMeanwhile(t *testing.T) {
	onEachEngine(t, retention.Periods{Rooms: 20 * day}, func(t *testing.T, f *fixture) {
		wrong, right := f.wrongMeeting()
		clock := func() time.Time { return f.now }
		rebuilt := make(chan error, 1)
		swept := make(chan struct{})
		begun := false
		// The rebuild compares the usage before the sweep goes on, and computes it again after the sweep.
		s := settledStore{f.db, func() {
			if begun {
				return
			}
			begun = true
			marking := make(chan struct{})
			ledger := interruptedLedger{f.db, func() { close(marking) }, func() { <-swept }}
			go func() {
				_, err := usage.NewService(ledger, usage.NoProvider{}, clock).
					Rebuild(t.Context(), f.project.OrganizationID, f.now.Add(-32*day), f.now.Add(-29*day))
				rebuilt <- err
			}()
			<-marking
		}}
		service := retention.NewService(s, f.periods, f, func(string) {}, clock, slog.New(slog.DiscardHandler))
		_, err := service.Sweep(t.Context())
		close(swept)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-rebuilt; err != nil {
			t.Fatal(err)
		}
		if after := f.totals(); after != wrong && after != right {
			t.Errorf("usage: got %+v, want %+v or, if the rebuild came first, %+v", after, wrong, right)
		}
	})
}
